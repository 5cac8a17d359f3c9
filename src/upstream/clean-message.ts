// Makes a message of the game API safe to show: removes secrets and control characters, and caps its length.
import { KEY_CANDIDATES, looksLikeServerKey, patternOf, REDACTED, splitSecret } from "./secret-patterns.ts";

export const MESSAGE_MAX_CHARACTERS = 500;
/** White space, and characters that are invisible or change how others are displayed. */
const BLANKS = /[\s\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;
/** Far more than is shown, so that cutting here cannot leave half of a secret in what is shown. */
const SCANNED_CHARACTERS_MAX = 16_384;
/** So that a message of many megabytes is not collapsed as a whole. */
const COLLAPSED_AT_ONCE = 32_768;
/** The spaces that trimming may take away. */
const ENDS = 2;
const HIGH_SURROGATE = /^[\ud800-\udbff]$/;
/** Longer than any secret with spaces in it. Dropped where a message was cut, because half of a secret may be there. */
const CUT_END_CHARACTERS = 512;

/** An encoding may be inside another one, such as &amp;#45; */
const ROUNDS_MAX = 4;
const ENTITY = /&(?:amp;)*(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(hyphen|dash|minus));?/gi;
const PERCENT = /%(?:25)*([2-7][0-9a-f])/gi;
/** From the first backslash of a run only: trying each of them would take quadratic time. */
const ESCAPE = /(?<!\\)\\+(?:u\{?0{0,4}([0-9a-f]{2})\}?|x([0-9a-f]{2}))/gi;
/** Hyphens and dashes that NFKC does not turn into the one of ASCII. */
const HYPHENS = /[\u2010-\u2015\u2212\u207b\u208b\u02d7\u06d4\u2043\u2796]/g;
const CODE_POINT_MAX = 0x10ffff;

/**
 * Collapses white space before any cut and removes secrets before the cap, so that no half of a secret remains. `isKnownKey`
 * finds the keys of other servers, which need not have the usual shape.
 */
export function cleanMessage(
  message: string,
  secrets: readonly string[],
  isKnownKey: (text: string) => boolean = () => false,
): string {
  const whole = collapse(message);
  const isCut = whole.length > SCANNED_CHARACTERS_MAX;
  const plain = redact(whole.slice(0, SCANNED_CHARACTERS_MAX), secrets, isKnownKey);
  let decoded = decodeText(plain).replace(BLANKS, " ").trim();
  if (isCut) decoded = decoded.slice(0, -CUT_END_CHARACTERS);
  const redacted = redact(decoded, secrets, isKnownKey);
  // A message without an encoded secret is shown as it was written.
  const text = redacted === decoded ? plain : redacted;
  return Array.from(text).slice(0, MESSAGE_MAX_CHARACTERS).join("");
}

/** The message with one space for every run of white space; of a long one at least what is looked at. */
function collapse(message: string): string {
  let text = "";
  for (let at = 0; at < message.length && text.length <= SCANNED_CHARACTERS_MAX + ENDS; ) {
    const end = at + COLLAPSED_AT_ONCE;
    // Half of a pair would be taken for white space.
    const next = HIGH_SURROGATE.test(message.charAt(end - 1)) ? end + 1 : end;
    text = (text + message.slice(at, next)).replace(BLANKS, " ");
    at = next;
  }
  return text.trim();
}

function redact(message: string, secrets: readonly string[], isKnownKey: (text: string) => boolean): string {
  let text = message;
  for (const secret of secrets) {
    for (const part of splitSecret(secret)) text = text.replace(patternOf(part), REDACTED);
  }
  return text.replace(KEY_CANDIDATES, (found) => {
    return isKnownKey(found) || looksLikeServerKey(found) ? REDACTED : found;
  });
}

/**
 * Undoes the encodings under which a secret could hide in a text: HTML entities, percent-encoding, escapes, and look-alike
 * characters such as full-width letters.
 */
export function decodeText(text: string): string {
  let decoded = text;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const before = decoded;
    decoded = decoded
      .replace(ENTITY, (_all, decimal?: string, hex?: string) => {
        if (decimal !== undefined) return toCharacter(Number.parseInt(decimal, 10));
        return hex !== undefined ? toCharacter(Number.parseInt(hex, 16)) : "-";
      })
      .replace(PERCENT, (_all, hex: string) => toCharacter(Number.parseInt(hex, 16)))
      .replace(ESCAPE, (_all, u?: string, x?: string) => toCharacter(Number.parseInt(u ?? x ?? "20", 16)))
      .normalize("NFKC")
      .replace(HYPHENS, "-");
    if (decoded === before) break;
  }
  return decoded;
}

function toCharacter(codePoint: number): string {
  return codePoint <= CODE_POINT_MAX ? String.fromCodePoint(codePoint) : " ";
}
