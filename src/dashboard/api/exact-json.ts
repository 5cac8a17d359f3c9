// Reads JSON without losing digits: ids outgrow doubles, so whole numbers that a double cannot hold become text.

/** An id of the game: a number, or its digits where a number would be wrong. */
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
