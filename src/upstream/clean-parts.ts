// Removes server keys from a server's state, once for each reading. A game API that echoes our key in a name would otherwise
// give it to every caller.
import type { ServerParts } from "../core/ports/upstream.ts";
import { KEY_CANDIDATES, REDACTED, wordPatternOf } from "./secret-patterns.ts";

/** An escape in JSON: its last letter would look like the first one of a key. */
const ESCAPE = /\\(?:u[0-9a-fA-F]{4}|.)/g;
const JSON_TEXT = /"[^"\\]*(?:\\.[^"\\]*)*"/g;
/** Other ways to write the hyphen of a key, and the letters that match K and S in either case. */
const UNUSUAL = /[%&\\\u2010-\u2015\u2212\uff0d\ufe63\u212a\u017f]/;
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
  const patterns = used.map(wordPatternOf);
  const cleaned = texts.map((text) => cleanJson(text, patterns, isKnownKey));
  if (cleaned.some((text) => hasSecret(text, used, isKnownKey))) return undefined;
  const [base = "", ...sections] = cleaned;
  return { ...parts, base, sections };
}

function hasSecret(json: string, secrets: readonly string[], isKnownKey: (text: string) => boolean): boolean {
  if (secrets.some((secret) => mayContain(json, secret) && wordPatternOf(secret).test(json))) return true;
  // A line break is part of no key, and no pattern skips it as it skips a space.
  if (json.includes("\\")) return hasSecret(json.replace(ESCAPE, "\n"), secrets, isKnownKey);
  return hasKnownKey(json, isKnownKey);
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
  const [last, first] = [before.toLowerCase(), after.toLowerCase()];
  for (let at = json.indexOf("-"); at >= 0; at = json.indexOf("-", at + 1)) {
    const left = json.charAt(json.charAt(at - 1) === " " ? at - 2 : at - 1);
    const right = json.charAt(json.charAt(at + 1) === " " ? at + 2 : at + 1);
    if (left.toLowerCase() === last && right.toLowerCase() === first) return true;
  }
  return false;
}

/** Checks what KEY_CANDIDATES finds with a hyphen. Looking for hyphens is faster than the pattern. */
function hasKnownKey(json: string, isKnownKey: (text: string) => boolean): boolean {
  let begin = 0;
  for (let at = json.indexOf("-"); at >= 0; at = json.indexOf("-", Math.max(at + 1, begin))) {
    let start = at;
    while (start > begin && isLetterOrDigit(json.charCodeAt(start - 1))) start--;
    let end = at + 1;
    while (isLetterOrDigit(json.charCodeAt(end))) end++;
    if (start === at || end === at + 1) continue;
    if (isKnownKey(json.slice(start, end))) return true;
    // A candidate begins after the one before it.
    begin = end;
  }
  return false;
}

function isLetterOrDigit(code: number): boolean {
  const lower = code | 0x20;
  return (code >= 0x30 && code <= 0x39) || (lower >= 0x61 && lower <= 0x7a);
}

/** Replaces inside each text of the JSON, because an escape such as \n could look like the beginning of a key. */
function cleanJson(json: string, patterns: readonly RegExp[], isKnownKey: (text: string) => boolean): string {
  return json.replace(JSON_TEXT, (quoted) => {
    const text = String(JSON.parse(quoted));
    let safe = text;
    for (const pattern of patterns) safe = safe.replace(pattern, REDACTED);
    safe = safe.replace(KEY_CANDIDATES, (found) => {
      return found.includes("-") && isKnownKey(found) ? REDACTED : found;
    });
    return safe === text ? quoted : JSON.stringify(safe);
  });
}
