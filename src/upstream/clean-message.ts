// Makes a message of the game API safe to show: removes secrets and control characters, and caps its length.
import { decodeText } from "./decode-text.ts";
import { KEY_CANDIDATES, looksLikeServerKey, patternOf, REDACTED, splitSecret } from "./secret-patterns.ts";

export const MESSAGE_MAX_CHARACTERS = 500;
/** White space, and characters that are invisible or change how others are displayed. */
const BLANKS = /[\s\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;
/** Far more than is shown, so that cutting here cannot leave half of a secret in what is shown. */
const SCANNED_CHARACTERS_MAX = 16_384;
/** Longer than any secret with spaces in it. Dropped where a message was cut, because half of a secret may be there. */
const CUT_END_CHARACTERS = 512;

/**
 * Collapses white space before any cut and removes secrets before the cap, so that no half of a secret remains. `isKnownKey`
 * finds the keys of other servers, which need not have the usual shape.
 */
export function cleanMessage(
  message: string,
  secrets: readonly string[],
  isKnownKey: (text: string) => boolean = () => false,
): string {
  const whole = message.replace(BLANKS, " ").trim();
  const isCut = whole.length > SCANNED_CHARACTERS_MAX;
  const plain = redact(whole.slice(0, SCANNED_CHARACTERS_MAX), secrets, isKnownKey);
  let decoded = decodeText(plain).replace(BLANKS, " ").trim();
  if (isCut) decoded = decoded.slice(0, -CUT_END_CHARACTERS);
  const redacted = redact(decoded, secrets, isKnownKey);
  // A message without an encoded secret is shown as it was written.
  const text = redacted === decoded ? plain : redacted;
  return Array.from(text).slice(0, MESSAGE_MAX_CHARACTERS).join("");
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
