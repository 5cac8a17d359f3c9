// JSON that keeps numbers as they were written: JSON.stringify returns 1234567890123456789, 1.0 and 1e3 unchanged. Comparing
// such texts needs one spelling for each integer.

declare global {
  interface JSON {
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
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
/** Finds every number of a JSON text that may be an integer in another spelling. It may find parts of strings too. */
const UNUSUAL_NUMBER = /(?:^|[:,[])-?\d+[.eE]|-0/;
/** Escapes are found so that an escaped quote is no quote. A pattern of whole strings fails on those with millions of escapes. */
const QUOTE_OR_NUMBER = /\\.|"|-?\d[\d.eE+-]*/g;
/** Ids and times have 20 digits at most. The limit keeps 1e999999999 from being written out. */
const INTEGER_DIGITS_MAX = 100;
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
  const mayHave = MANY_DIGITS.test(text) || EXPONENT.test(text) || text.includes("-0") || hasChangeableFraction(text);
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
  return JSON.isRawJSON(value) && (parseDecimal(value.rawJSON)?.power ?? -1) >= 0;
}

/** Whether two texts of JSON.stringify are the same when integers are compared by value. */
export function isSameJson(a: string, b: string): boolean {
  return a === b || writeIntegers(a) === writeIntegers(b);
}

/**
 * A text of JSON.stringify with one spelling for each integer: 7.0 becomes 7, 1e3 becomes 1000, -0 becomes 0. Integers of more
 * than INTEGER_DIGITS_MAX digits and other numbers stay as they are.
 */
export function writeIntegers(json: string): string {
  if (!UNUSUAL_NUMBER.test(json)) return json;
  let isInString = false;
  return json.replace(QUOTE_OR_NUMBER, (found) => {
    if (found === '"') isInString = !isInString;
    return isInString ? found : writeInteger(found);
  });
}

/** Returns what is no integer unchanged. */
function writeInteger(text: string): string {
  const decimal = parseDecimal(text);
  if (!decimal || decimal.power < 0) return text;
  const { sign, digits, power } = decimal;
  if (digits === "") return "0";
  return digits.length + power > INTEGER_DIGITS_MAX ? text : `${sign}${digits}${"0".repeat(power)}`;
}

/** `digits` times ten to the power of `power`. The digits neither begin nor end with a zero, so zero has none. */
type Decimal = { readonly sign: string; readonly digits: string; readonly power: number };

/** Undefined for what is no JSON number. */
function parseDecimal(text: string): Decimal | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (!match) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = `${whole}${fraction}`;
  // Loops, because a pattern would take too long on a number with a million digits.
  let end = digits.length;
  while (end > 0 && digits[end - 1] === "0") end--;
  if (end === 0) return { sign, digits: "", power: 0 };
  let start = 0;
  while (digits[start] === "0") start++;
  const power = Number(exponent) - fraction.length + (digits.length - end);
  return { sign, digits: digits.slice(start, end), power };
}
