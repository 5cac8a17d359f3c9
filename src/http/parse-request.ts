// Parses requests: bodies against their schema, queries, and ids in the path. A refusal names every wrong field at once.
import type Type from "typebox";
import { ERRORS, isRefusal, type Refusal, refuse } from "../core/errors.ts";
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from "../core/page-size.ts";
import type { Page, PageRequest } from "../core/ports/pages.ts";
import { refuseField, refuseFields } from "../core/refuse-field.ts";
import type { PageOf } from "../core/wire/page.ts";
import type { Call } from "./call.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { readJsonBody } from "./json-body.ts";

/** What can be a field's name. Any other name is not repeated in the answer: it may be a secret in the wrong place. */
const FIELD_SHAPE = /^(?!gth_)[A-Za-z_]\w{0,31}$/;
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

export function queryOf(call: Call): URLSearchParams {
  return new URLSearchParams(`?${call.target.query}`);
}

/** `limit` and `cursor` of a list. The list's name is part of its cursors, so that they fit no other list. */
export function parsePage(list: string, query: URLSearchParams): PageRequest | Refusal {
  const limit = findOnly(query, "limit");
  const encoded = findOnly(query, "cursor");
  if (limit === null || (limit !== undefined && !/^\d{1,3}$/.test(limit))) return refuseLimit();
  const size = limit === undefined ? PAGE_SIZE_DEFAULT : Number(limit);
  if (size < 1 || size > PAGE_SIZE_MAX) return refuseLimit();
  if (encoded === undefined) return { limit: size };
  const cursor = encoded === null ? undefined : decodeCursor(list, encoded);
  if (cursor === undefined) return refuseField("cursor", "must be the `next` of an earlier answer");
  return { limit: size, cursor };
}

/** A page as it is answered. */
export function describePage<T, R>(
  list: string,
  { items, next }: Page<T>,
  describe: (item: T) => R,
): PageOf<R> {
  return { items: items.map(describe), next: next === null ? null : encodeCursor(list, next) };
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

function refuseLimit(): Refusal {
  return refuseField("limit", `must be a whole number from 1 to ${PAGE_SIZE_MAX}`);
}
