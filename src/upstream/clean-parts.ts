// Removes server keys from a server's state, once for each reading. A game API that echoes our key in a name would otherwise
// give it to every caller.
import type { ServerParts } from "../core/ports/upstream.ts";
import { REDACTED, wordPatternOf } from "./secret-patterns.ts";

/** A run of escapes in JSON: the last letter of one would look like the first one of a key. */
const ESCAPES = /(?:\\(?:u[0-9a-fA-F]{4}|.))+/g;
/** Other ways to write the hyphen of a key, and the letters that match K and S in either case. */
const UNUSUAL = /[%&\\\u2010-\u2015\u2212\uff0d\ufe63\u212a\u017f]/;
const SPACE = 0x20;
const HYPHEN = 0x2d;
const QUOTATION_MARK = 0x22;
const BACKSLASH = 0x5c;
const QUOTES = 2;
const NEAR_CHARACTERS = 16;
/** The bit that makes a letter of ASCII a small one; digits have it anyway. */
const LOWER_CASE = 0x20;
const LETTER_OR_DIGIT = /^[A-Za-z0-9]$/;

/**
 * Replaces whole keys only: half of one may be an ordinary word, and the state must stay as it is. Undefined when a key
 * cannot be removed.
 */
export function cleanParts(
  parts: ServerParts,
  secrets: readonly string[],
  isKnownKey: (text: string) => boolean,
): ServerParts | undefined {
  const used = secrets.filter((secret) => secret !== "");
  const texts = [parts.base, ...parts.sections];
  if (!texts.some((text) => hasSecret(text, used, isKnownKey))) return parts;
  const cleaned = texts.map((text) => cleanJson(text, used, isKnownKey));
  if (cleaned.some((text) => hasSecret(text, used, isKnownKey))) return undefined;
  const [base = "", ...sections] = cleaned;
  return { ...parts, base, sections };
}

function hasSecret(json: string, secrets: readonly string[], isKnownKey: (text: string) => boolean): boolean {
  if (secrets.some((secret) => mayContain(json, secret) && wordPatternOf(secret).test(json))) return true;
  // A line break is part of no key, and no pattern skips it as it skips a space.
  if (json.includes("\\")) return hasSecret(json.replace(ESCAPES, "\n"), secrets, isKnownKey);
  return findKnownKey(json, 0, isKnownKey) !== undefined;
}

/**
 * False when the secret's pattern cannot match: no hyphen stands between the same two letters as in the secret. Making and
 * running the pattern takes far longer, and nearly no text needs it.
 */
function mayContain(json: string, secret: string): boolean {
  const hyphen = secret.indexOf("-");
  const before = secret.charAt(hyphen - 1);
  const after = secret.charAt(hyphen + 1);
  if (hyphen < 0 || !LETTER_OR_DIGIT.test(before) || !LETTER_OR_DIGIT.test(after)) return true;
  if (UNUSUAL.test(json)) return true;
  const [last, first] = [toLowerCode(before.charCodeAt(0)), toLowerCode(after.charCodeAt(0))];
  for (let at = findHyphen(json, 0); at >= 0; at = findHyphen(json, at + 1)) {
    const left = json.charCodeAt(json.charCodeAt(at - 1) === SPACE ? at - 2 : at - 1);
    if (toLowerCode(left) !== last) continue;
    const right = json.charCodeAt(json.charCodeAt(at + 1) === SPACE ? at + 2 : at + 1);
    if (toLowerCode(right) === first) return true;
  }
  return false;
}

/** The code of the small letter; digits and other characters stay the same. */
function toLowerCode(code: number): number {
  return isLetterOrDigit(code) ? code | LOWER_CASE : code;
}

/** In texts with very many hyphens the next one is near, and searching it by itself costs more than looking at it. */
function findHyphen(text: string, from: number): number {
  const near = Math.min(from + NEAR_CHARACTERS, text.length);
  for (let at = from; at < near; at++) if (text.charCodeAt(at) === HYPHEN) return at;
  return text.indexOf("-", near);
}

type Range = { readonly start: number; readonly end: number };

/** The next known key with a hyphen. A candidate begins after the one before it, as with KEY_CANDIDATES, which takes longer. */
function findKnownKey(text: string, from: number, isKnownKey: (text: string) => boolean): Range | undefined {
  let begin = from;
  for (let at = findHyphen(text, from); at >= 0; at = findHyphen(text, Math.max(at + 1, begin))) {
    let start = at;
    while (start > begin && isLetterOrDigit(text.charCodeAt(start - 1))) start--;
    let end = at + 1;
    while (isLetterOrDigit(text.charCodeAt(end))) end++;
    if (start === at || end === at + 1) continue;
    if (isKnownKey(text.slice(start, end))) return { start, end };
    begin = end;
  }
  return undefined;
}

function isLetterOrDigit(code: number): boolean {
  const lower = code | LOWER_CASE;
  return (code >= 0x30 && code <= 0x39) || (lower >= 0x61 && lower <= 0x7a);
}

/** Replaces inside each text of the JSON, because an escape such as \n could look like the beginning of a key. */
function cleanJson(json: string, secrets: readonly string[], isKnownKey: (text: string) => boolean): string {
  const patterns = secrets.map(wordPatternOf);
  const lengthMin = Math.min(...secrets.map((secret) => secret.length));
  let cleaned = "";
  let copied = 0;
  for (let start = json.indexOf('"'); start >= 0; ) {
    const end = findTextEnd(json, start);
    const quoted = json.slice(start, end);
    const mayHaveSecret = quoted.length - QUOTES >= lengthMin;
    if (mayHaveSecret || quoted.includes("-") || quoted.includes("\\")) {
      const text = String(JSON.parse(quoted));
      const safe = replaceKnownKeys(mayHaveSecret ? replaceAll(text, patterns) : text, isKnownKey);
      if (safe !== text) {
        cleaned += json.slice(copied, start) + JSON.stringify(safe);
        copied = end;
      }
    }
    start = json.indexOf('"', end);
  }
  return cleaned + json.slice(copied);
}

/** Behind the quotation mark that closes the text. */
function findTextEnd(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTATION_MARK) return at + 1;
    if (code === BACKSLASH) at++;
  }
  return json.length;
}

function replaceAll(text: string, patterns: readonly RegExp[]): string {
  let safe = text;
  for (const pattern of patterns) safe = safe.replace(pattern, REDACTED);
  return safe;
}

function replaceKnownKeys(text: string, isKnownKey: (text: string) => boolean): string {
  let safe = "";
  let copied = 0;
  for (let key = findKnownKey(text, 0, isKnownKey); key; key = findKnownKey(text, key.end, isKnownKey)) {
    safe += text.slice(copied, key.start) + REDACTED;
    copied = key.end;
  }
  return safe + text.slice(copied);
}
