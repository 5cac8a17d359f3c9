// Checks what an operator sent: bodies against their schema, queries against what lists understand. Every field that is
// wrong is named at once.
import type Type from "typebox";
import type { Refusal } from "../core/errors.ts";
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from "../core/page-size.ts";
import type { Page, PageRequest } from "../core/ports/pages.ts";
import { refuseField, refuseFields } from "../core/refuse-field.ts";
import type { PageOf } from "../core/wire/page.ts";
import { openCursor, sealCursor } from "./cursor.ts";

/** What could be the name of a field. Anything else is not repeated: it may be a secret in the wrong place. */
const FIELD_SHAPE = /^(?!gth_)[A-Za-z_]\w{0,31}$/;

/** The value, known to be of the schema's kind, or the fields that are not. */
export async function parseBody<S extends Type.TObject>(
  schema: S,
  json: unknown,
): Promise<{ readonly value: Type.Static<S> } | Refusal> {
  // Loaded with the first write: whoever only reads does not pay for it.
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

/** `limit` and `cursor` of a list, which has a name so that its cursors fit no other. */
export function parsePage(list: string, query: URLSearchParams): PageRequest | Refusal {
  const limit = findOnly(query, "limit");
  const sealed = findOnly(query, "cursor");
  if (limit === null || (limit !== undefined && !/^\d{1,3}$/.test(limit))) return refuseLimit();
  const size = limit === undefined ? PAGE_SIZE_DEFAULT : Number(limit);
  if (size < 1 || size > PAGE_SIZE_MAX) return refuseLimit();
  if (sealed === undefined) return { limit: size };
  const cursor = sealed === null ? undefined : openCursor(list, sealed);
  if (cursor === undefined) return refuseField("cursor", "must be the `next` of an earlier answer");
  return { limit: size, cursor };
}

/** A page as its reader sees it. */
export function describePage<T, R>(
  list: string,
  { items, next }: Page<T>,
  describe: (item: T) => R,
): PageOf<R> {
  return { items: items.map(describe), next: next === null ? null : sealCursor(list, next) };
}

/** An id with its prefix; undefined when the query has none. */
export function parseId(query: URLSearchParams, name: string, prefix: string): string | undefined | Refusal {
  const id = findOnly(query, name);
  if (id === undefined) return undefined;
  const isId = id?.startsWith(prefix) === true && /^[0-9A-Za-z_]{1,80}$/.test(id);
  return isId ? id : refuseField(name, `must be an id like ${prefix}…`);
}

/** Undefined when it is not there; null when it is there more than once. */
export function findOnly(query: URLSearchParams, name: string): string | null | undefined {
  const values = query.getAll(name);
  return values.length > 1 ? null : values[0];
}

function refuseLimit(): Refusal {
  return refuseField("limit", `must be a whole number from 1 to ${PAGE_SIZE_MAX}`);
}
