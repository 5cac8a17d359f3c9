// Parses requests: bodies against their schema, and ids in the path. A refusal names every wrong field at once.
import type Type from "typebox";
import {
  ERRORS,
  type FieldReason,
  isRefusal,
  type Refusal,
  refuse,
  refuseField,
  refuseFields,
} from "../../core/errors.ts";
import type { Call } from "../call.ts";
import { BODY_DEADLINE_MS, type BodyLimits, readBody } from "./body-bytes.ts";

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
  if (type === null || !JSON_TYPE.test(type) || encoding.trim().toLowerCase() !== "identity") return WRONG_TYPE;
  try {
    return { json: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown };
  } catch {
    return INVALID_JSON;
  }
}

/** What can be a field's name. Any other name is not repeated in the answer: it may be a secret in the wrong place. */
const FIELD_SHAPE = /^(?!gt[hsdi]_)[A-Za-z_]\w{0,31}$/;
const EMPTY_BODY = refuse(ERRORS.invalidJson);

type Parsed<S extends Type.TObject> = { readonly value: Type.Static<S> };

/** The body as the schema describes it. One that is not required may be absent, which is the same as empty. */
export async function parseBody<S extends Type.TObject>(
  call: Call,
  schema: S,
  isRequired = true,
): Promise<Parsed<S> | Refusal> {
  const body = await readJsonBody(call);
  if (body === undefined) return isRequired ? EMPTY_BODY : checkBody(schema, {});
  return isRefusal(body) ? body : checkBody(schema, body.json);
}

async function checkBody<S extends Type.TObject>(schema: S, json: unknown): Promise<Parsed<S> | Refusal> {
  // Loaded with the first write, so that instances that only read do not pay for it.
  const { default: Value } = await import("typebox/value");
  if (Value.Check(schema, json)) return { value: json };
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    return refuseField("body", "must be a JSON object");
  }
  const known: Record<string, Type.TSchema & { description?: string }> = schema.properties;
  const details = new Map<string, string | FieldReason>();
  for (const name of schema.required ?? [])
    if (!Object.hasOwn(json, name)) details.set(name, { code: "required", text: "is required" });
  for (const [name, value] of Object.entries(json)) {
    const field = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!field) details.set(FIELD_SHAPE.test(name) ? name : "body", describeUnknown(known));
    else if (!Value.Check(field, value))
      details.set(name, { code: "invalid", text: field.description ?? "is not valid" });
  }
  return refuseFields(Object.fromEntries(details));
}

function describeUnknown(known: object): string {
  return `is unknown; known are ${Object.keys(known).join(", ")}`;
}

/** The id in the path. */
export function pathIdOf(call: Call): string {
  return call.target.params.id ?? "";
}
