// Parses JSON without losing digits: whole numbers that a double cannot hold, such as long ids, become strings.

/** An id of the game: a number, or its digits when a double cannot hold it. */
export type Id = number | string;

type Context = { readonly source?: string };
const parseWithSource = JSON.parse as (
  text: string,
  revive: (key: string, value: unknown, context?: Context) => unknown,
) => unknown;
const WHOLE = /^-?\d+$/;

export function parseExactJson(text: string): unknown {
  return parseWithSource(text, (_key, value, context) => {
    if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
    const source = context?.source;
    return source !== undefined && WHOLE.test(source) ? source : value;
  });
}
