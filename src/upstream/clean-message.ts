// Makes a message of the game API safe to show: removes secrets and control characters, and caps its length.

export const MESSAGE_MAX_CHARACTERS = 500;
const REDACTED = "[redacted]";
/** White space, and characters that are invisible or change how others are displayed. */
const BLANKS = /[\s\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;
/** Far more than is shown, so that cutting here cannot leave half of a secret in what is shown. */
const SCANNED_CHARACTERS_MAX = 16_384;

/** Collapses white space before any cut and removes secrets before the cap, so that no half of a secret remains. */
export function cleanMessage(message: string, secrets: readonly string[]): string {
  let text = message.replace(BLANKS, " ").trim().slice(0, SCANNED_CHARACTERS_MAX);
  for (const secret of secrets) {
    if (secret !== "") text = text.replace(patternOf(secret), REDACTED);
  }
  return Array.from(text).slice(0, MESSAGE_MAX_CHARACTERS).join("");
}

/** Matches the secret in either case, with an escaped hyphen, and with spaces between its characters. */
function patternOf(secret: string): RegExp {
  const letters = Array.from(secret, (letter) => (letter === "-" ? "(?:-|%2d)" : RegExp.escape(letter)));
  return new RegExp(letters.join(" ?"), "giu");
}
