// Reads the JSON body of a write, with a deadline and a maximum of 8 KiB.
import { ERRORS, type Refusal, refuse } from "../core/errors.ts";
import { CUT_OFF, isCutOff, readBytes } from "./body-bytes.ts";
import type { Call } from "./call.ts";

export const BODY_BYTES_MAX = 8_192;
const WRONG_TYPE = refuse(ERRORS.unsupportedMediaType);
const INVALID_JSON = refuse(ERRORS.invalidJson);
const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i;

export type JsonBody = { readonly json: unknown };

/** Undefined for a request without a body. */
export async function readJsonBody(call: Call): Promise<JsonBody | Refusal | undefined> {
  const { headers } = call.request;
  const bytes = await readBytes(call.request, BODY_BYTES_MAX);
  if ("refused" in bytes) return bytes;
  if (await isCutOff(call.request)) return CUT_OFF;
  const type = headers.get("content-type");
  const encoding = headers.get("content-encoding") ?? "identity";
  if (bytes.length === 0 && type === null) return undefined;
  if (type === null || !JSON_TYPE.test(type) || encoding.trim().toLowerCase() !== "identity")
    return WRONG_TYPE;
  try {
    return { json: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown };
  } catch {
    return INVALID_JSON;
  }
}
