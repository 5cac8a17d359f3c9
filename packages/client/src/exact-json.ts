// Parses JSON without losing digits: an integer that a double cannot hold becomes a bigint. JSON.parse gives such digits only
// to newer runtimes than Node 20.

/** Answers are a few levels deep. */
const DEPTH_MAX = 100;
/** Reading longer integers takes time that grows with the square of their length; they stay doubles. */
const DIGITS_MAX = 1_000;
/** Finds every integer over 2^53, and at times other text, which only costs time. */
export const MAY_BE_LARGE = /\d{16}|(?:^|[:,[\s])-?[\d.]+[eE]/;
const BLANK = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;

/** Throws SyntaxError for what is not JSON, or is nested too deeply. */
export function parseExactJson(text: string): unknown {
  return MAY_BE_LARGE.test(text) ? new ExactParser(text).parse() : JSON.parse(text);
}

class ExactParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): unknown {
    const value = this.#readValue(0);
    if (this.#at < this.#text.length) throw this.#fault();
    return value;
  }

  #readValue(depth: number): unknown {
    if (depth > DEPTH_MAX) throw new SyntaxError("the JSON is nested too deeply");
    this.#match(BLANK);
    const value = this.#readBareValue(depth);
    this.#match(BLANK);
    return value;
  }

  #readBareValue(depth: number): unknown {
    const first = this.#text[this.#at];
    if (first === "{") return this.#readObject(depth);
    if (first === "[") return this.#readArray(depth);
    if (first === '"') return this.#readString();
    const word = this.#match(WORD);
    if (word) return JSON.parse(word[0]);
    const number = this.#match(NUMBER);
    if (!number) throw this.#fault();
    return toExactNumber(number[0], number[1] !== undefined || number[2] !== undefined);
  }

  #readObject(depth: number): unknown {
    const object: Record<string, unknown> = {};
    this.#at++;
    this.#match(BLANK);
    if (this.#skip("}")) return object;
    do {
      this.#match(BLANK);
      if (this.#text[this.#at] !== '"') throw this.#fault();
      const name = this.#readString();
      this.#match(BLANK);
      if (!this.#skip(":")) throw this.#fault();
      const value = this.#readValue(depth + 1);
      // A plain assignment would change the prototype.
      if (name === "__proto__")
        Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
      else object[name] = value;
    } while (this.#skip(","));
    if (!this.#skip("}")) throw this.#fault();
    return object;
  }

  #readArray(depth: number): unknown[] {
    const items: unknown[] = [];
    this.#at++;
    this.#match(BLANK);
    if (this.#skip("]")) return items;
    do items.push(this.#readValue(depth + 1));
    while (this.#skip(","));
    if (!this.#skip("]")) throw this.#fault();
    return items;
  }

  /** JSON.parse reads the escapes, and refuses what no string may have. */
  #readString(): string {
    const start = this.#at;
    let end = start;
    do {
      end = this.#text.indexOf('"', end + 1);
      if (end < 0) throw this.#fault();
    } while (this.#isEscaped(end));
    this.#at = end + 1;
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #isEscaped(at: number): boolean {
    let slashes = 0;
    while (this.#text[at - 1 - slashes] === "\\") slashes++;
    return slashes % 2 === 1;
  }

  #skip(character: string): boolean {
    const isNext = this.#text[this.#at] === character;
    if (isNext) this.#at++;
    return isNext;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found) this.#at = pattern.lastIndex;
    return found;
  }

  #fault(): SyntaxError {
    return new SyntaxError(`this is not JSON, at character ${this.#at}`);
  }
}

/** 1.0 and 1e3 are integers too. */
function toExactNumber(text: string, hasParts: boolean): number | bigint {
  const value = Number(text);
  if (Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))) return value;
  if (text.length > DIGITS_MAX) return value;
  return hasParts ? (toBigInt(text) ?? value) : BigInt(text);
}

/** The integer that a text with a fraction or an exponent means; undefined for none, and for one with too many digits. */
function toBigInt(text: string): bigint | undefined {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const zeros = Number(exponent) - fraction.length;
  if (zeros > DIGITS_MAX) return undefined;
  const digits = BigInt(whole + fraction);
  if (zeros >= 0) return digits * 10n ** BigInt(zeros);
  if (-zeros > DIGITS_MAX) return undefined;
  const divisor = 10n ** BigInt(-zeros);
  return digits % divisor === 0n ? digits / divisor : undefined;
}
