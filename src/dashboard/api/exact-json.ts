// Parses JSON without losing digits: whole numbers that a double cannot hold, such as long ids, become strings, because views
// write them into JSON again. The client's own parser is for runtimes that are older than the dashboard's browsers, and larger.
import { MAY_BE_LARGE } from "../../../packages/client/src/exact-json.ts";

/** An id of the game: a number, or its digits when a double cannot hold it. */
export type Id = number | string;

type Context = { readonly source?: string };
const parseWithSource = JSON.parse as (
  text: string,
  revive: (key: string, value: unknown, context?: Context) => unknown,
) => unknown;
const WHOLE = /^-?\d+$/;

export function parseExactJson(text: string): unknown {
  // Without a function that sees every value, parsing is several times faster.
  return MAY_BE_LARGE.test(text) ? parseWithSource(text, keepDigits) : JSON.parse(text);
}

function keepDigits(_key: string, value: unknown, context?: Context): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && WHOLE.test(source) ? source : value;
}
