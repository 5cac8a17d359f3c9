// Reads the body of a write, with a deadline and a maximum: 8 KiB for JSON.
import { ERRORS, type Refusal, refuse } from "../core/errors.ts";
import { BODY_DEADLINE_MS, type BodyLimits, readBody } from "./body-bytes.ts";
import type { Call } from "./call.ts";

export const BODY_BYTES_MAX = 8_192;
const WRONG_TYPE = refuse(ERRORS.unsupportedMediaType);
const INVALID_JSON = refuse(ERRORS.invalidJson);
const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i;

const JSON_LIMITS: BodyLimits = { bytesMax: BODY_BYTES_MAX, deadlineMs: BODY_DEADLINE_MS };

export type JsonBody = { readonly json: unknown };

/** Undefined for a request without a body. */
export async function readJsonBody(call: Call): Promise<JsonBody | Refusal | undefined> {
  const { headers } = call.request;
  const bytes = await readBody(call, JSON_LIMITS);
  if ("refused" in bytes) return bytes;
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
