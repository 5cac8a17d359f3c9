// Parses requests: bodies against their schema, queries, and ids in the path. A refusal names every wrong field at once.
import type Type from "typebox";
import { ERRORS, isRefusal, type Refusal, refuse } from "../core/errors.ts";
import { refuseField, refuseFields } from "../core/refuse-field.ts";
import type { Call } from "./call.ts";
import { readJsonBody } from "./json-body.ts";

/** What can be a field's name. Any other name is not repeated in the answer: it may be a secret in the wrong place. */
const FIELD_SHAPE = /^(?!gt[hsdl]_)[A-Za-z_]\w{0,31}$/;
const EMPTY_BODY = refuse(ERRORS.invalidJson);

type Parsed<S extends Type.TObject> = { readonly value: Type.Static<S> };

/** The body as the schema describes it. Without `defaultValue` an absent body is refused. */
export async function parseBody<S extends Type.TObject>(
  call: Call,
  schema: S,
  defaultValue?: Type.Static<S>,
): Promise<Parsed<S> | Refusal> {
  const body = await readJsonBody(call);
  if (body === undefined) return defaultValue ? { value: defaultValue } : EMPTY_BODY;
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
  const details = new Map<string, string>();
  for (const name of schema.required ?? []) if (!Object.hasOwn(json, name)) details.set(name, "is required");
  for (const [name, value] of Object.entries(json)) {
    const field = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!field) details.set(FIELD_SHAPE.test(name) ? name : "body", describeUnknown(known));
    else if (!Value.Check(field, value)) details.set(name, field.description ?? "is not valid");
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

/** No request needs so many. Later ones are ignored, so that they cost no time. */
export const PARAMETERS_MAX = 1_000;

export function queryOf(call: Call): URLSearchParams {
  const { query } = call.target;
  let end = -1;
  for (let count = 0; count < PARAMETERS_MAX; count++) {
    end = query.indexOf("&", end + 1);
    if (end === -1) return new URLSearchParams(`?${query}`);
  }
  return new URLSearchParams(`?${query.slice(0, end)}`);
}

/** Undefined when the query has no id of that name. */
export function parseId(query: URLSearchParams, name: string, prefix: string): string | undefined | Refusal {
  const id = findOnly(query, name);
  if (id === undefined) return undefined;
  const isId = id?.startsWith(prefix) === true && /^[0-9A-Za-z_]{1,80}$/.test(id);
  return isId ? id : refuseField(name, `must be an id like ${prefix}…`);
}

/** The value of that name, which must be one of `known`; undefined when it is absent or empty. */
export function parseChoice<T extends string>(
  query: URLSearchParams,
  name: string,
  known: readonly T[],
): T | undefined | Refusal {
  const given = findOnly(query, name);
  if (given === undefined || given === "") return undefined;
  return known.find((one) => one === given) ?? refuseField(name, `must be one of ${known.join(", ")}`);
}

/** Undefined when the query has no such name; null when it has it more than once. */
export function findOnly(query: URLSearchParams, name: string): string | null | undefined {
  const values = query.getAll(name);
  return values.length > 1 ? null : values[0];
}
