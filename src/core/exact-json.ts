// JSON that keeps numbers as they were written: JSON.stringify returns 1234567890123456789, 1.0 and 1e3 unchanged.

declare global {
  interface JSON {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}

/** A number whose text a double would change. JSON.stringify writes the text. */
export type RawNumber = { readonly rawJSON: string };

/** Real answers are four levels deep. */
const DEPTH_MAX = 100;
/**
 * Finds every number that a double could change: many digits, exponents, a zero at the end, a negative zero, many zeros after
 * the point. It may find digits inside texts too, which only costs time.
 */
const CHANGEABLE_NUMBER = /(?:^|[:,[\s])-?(?:[\d.]{16}|[\d.]+[eE]|\d+\.\d*0(?!\d)|0\.0{6})|-0(?![\d.])/;
const MANY_DIGITS = /[\d.]{16}/;
const EXPONENT = /\d[eE][-+]?\d+(?:[,\]}\s]|$)/;
const ZERO = 0x30;
const NINE = 0x39;

/**
 * Throws SyntaxError for invalid JSON and RangeError for JSON that is nested too deeply, or that `isTooLarge` refuses.
 * `isTooLarge` sees the value before its numbers are read exactly, because that takes time for each value.
 */
export function parseExactJson(text: string, isTooLarge?: (value: unknown) => boolean): unknown {
  // The exact way takes seven times as long, and answers of the game API rarely need it.
  const plain = parseShallowJson(text, isTooLarge);
  if (!hasChangeableNumber(text)) return plain;
  return JSON.parse(text, (_key, value, { source }) => {
    const isChanged = typeof value === "number" && source !== undefined && String(value) !== source;
    return isChanged ? JSON.rawJSON(source) : value;
  });
}

/** The first tests take half as long as CHANGEABLE_NUMBER, and rule out nearly every answer. */
function hasChangeableNumber(text: string): boolean {
  const mayHave =
    MANY_DIGITS.test(text) || EXPONENT.test(text) || text.includes("-0") || hasChangeableFraction(text);
  return mayHave && CHANGEABLE_NUMBER.test(text);
}

/** Whether a point is followed by six zeros, or by digits of which the last is a zero. */
function hasChangeableFraction(text: string): boolean {
  for (let point = text.indexOf("."); point >= 0; point = text.indexOf(".", point + 1)) {
    let end = point + 1;
    while (isDigit(text.charCodeAt(end))) end++;
    if (text.charCodeAt(end - 1) === ZERO || text.startsWith("000000", point + 1)) return true;
  }
  return false;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** JSON.stringify takes seconds to give up on values that are nested more deeply than its stack. */
function parseShallowJson(text: string, isTooLarge?: (value: unknown) => boolean): unknown {
  const value: unknown = JSON.parse(text);
  if (isDeeperThan(value, DEPTH_MAX)) throw new RangeError("the JSON is nested too deeply");
  if (isTooLarge?.(value)) throw new RangeError("the JSON is too large");
  return value;
}

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === 0) return true;
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const each of inner) if (typeof each === "object" && isDeeperThan(each, depth - 1)) return true;
  return false;
}

export function isJsonNumber(value: unknown): value is number | RawNumber {
  return typeof value === "number" || JSON.isRawJSON(value);
}

/** 1.0 and 1e3 are integers, 1.5 and 1e-1 are not, however many digits they have. */
export function isJsonInteger(value: unknown): value is number | RawNumber {
  if (typeof value === "number") return Number.isInteger(value);
  if (!JSON.isRawJSON(value)) return false;
  const match = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(value.rawJSON);
  if (!match) return false;
  const fraction = match[2] ?? "";
  const digits = `${match[1]}${fraction}`;
  // A loop, because a pattern would take too long on a number with a million digits.
  let end = digits.length;
  while (end > 0 && digits[end - 1] === "0") end--;
  const lowestPower = Number(match[3] ?? 0) - fraction.length + (digits.length - end);
  return end === 0 || lowestPower >= 0;
}
