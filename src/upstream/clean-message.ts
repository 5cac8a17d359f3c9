// Makes a message of the game API safe to show: no secrets, no control characters, no endless text.

export const MESSAGE_MAX_CHARACTERS = 500;
const UNSAFE = "[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]";
const REDACTED = "[redacted]";

/** More than this is not even looked at: it is far beyond what is shown, and longer than any secret. */
const LOOKED_AT_MAX = 16_384;

/** Secrets go first: the cap could otherwise leave half of one. */
export function cleanMessage(message: string, secrets: readonly string[]): string {
  let text = message.slice(0, LOOKED_AT_MAX);
  for (const secret of secrets) {
    if (secret !== "") text = text.replace(spellingsOf(secret), REDACTED);
  }
  text = text.replace(new RegExp(`${UNSAFE}+`, "gu"), " ");
  return Array.from(text.trim()).slice(0, MESSAGE_MAX_CHARACTERS).join("");
}

/** Finds the secret in either case, with its hyphen escaped, and with characters in between that nobody would see. */
function spellingsOf(secret: string): RegExp {
  const letters = Array.from(secret, (letter) => (letter === "-" ? "(?:-|%2d)" : RegExp.escape(letter)));
  return new RegExp(letters.join(`${UNSAFE}*`), "giu");
}
