// Reading fields of the game's own elements. Numbers may be exact JSON (JSON.rawJSON), so values are compared as text.
import { writeIntegers } from "../exact-json.ts";

/** An element of a section, already checked against the schema. */
export type Element = Readonly<Record<string, unknown>>;

/** Epoch milliseconds beyond this are no dates. */
export const TIME_MAX_MS = 8_640_000_000_000_000;

/** What JSON must escape in a text, and lone surrogates. */
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/** The JSON text of a field; undefined when the field is missing. */
export function textOf(element: Element, field: string): string | undefined {
  const value = element[field];
  // Called for every entry of every reading, and much faster than JSON.stringify.
  if (typeof value === "string" && !ESCAPED.test(value)) return `"${value}"`;
  if (typeof value === "number" && Number.isSafeInteger(value)) return value === 0 ? "0" : `${value}`;
  return JSON.stringify(value);
}

/** The text of a field in an identity: the same for every spelling of an integer. */
export function keyTextOf(element: Element, field: string): string | undefined {
  const text = textOf(element, field);
  return text === undefined || text.startsWith('"') ? text : writeIntegers(text);
}

/** The game's seconds as epoch milliseconds; null when the field is missing or no usable time. */
export function timeOf(element: Element, field: string): number | null {
  const value = element[field];
  const seconds = typeof value === "number" ? value : Number(JSON.stringify(value));
  const ms = Math.round(seconds * 1000);
  return ms >= 0 && ms <= TIME_MAX_MS ? ms : null;
}

/** The id in `Name:id`; undefined when there is none. */
export function playerIdOf(reference: unknown): string | undefined {
  if (typeof reference !== "string") return undefined;
  const id = reference.slice(reference.lastIndexOf(":") + 1);
  return reference.includes(":") && /^[0-9]{1,32}$/.test(id) ? id : undefined;
}

/** The distinct ids in several `Name:id` fields. */
export function playersOf(element: Element, ...fields: string[]): string[] {
  const ids = fields.map((field) => playerIdOf(element[field])).filter((id) => id !== undefined);
  return [...new Set(ids)];
}
