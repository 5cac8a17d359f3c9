// Makes a message of the game API safe to show: no secrets, no control characters, no endless text.

export const MESSAGE_MAX_CHARACTERS = 500;
const REDACTED = "[redacted]";
/** Blanks, and characters that nobody sees or that change how others are seen. */
const BLANKS = /[\s\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;
/** Far more than is shown, so that no secret can be half inside it and half beyond. */
const LOOKED_AT_MAX = 16_384;

/** Blanks shrink before anything is cut, and secrets go before the cap: neither can then leave half of a secret. */
export function cleanMessage(message: string, secrets: readonly string[]): string {
  let text = message.replace(BLANKS, " ").trim().slice(0, LOOKED_AT_MAX);
  for (const secret of secrets) {
    if (secret !== "") text = text.replace(spellingsOf(secret), REDACTED);
  }
  return Array.from(text).slice(0, MESSAGE_MAX_CHARACTERS).join("");
}

/** Finds the secret in either case, with its hyphen escaped, and with blanks between its characters. */
function spellingsOf(secret: string): RegExp {
  const letters = Array.from(secret, (letter) => (letter === "-" ? "(?:-|%2d)" : RegExp.escape(letter)));
  return new RegExp(letters.join(" ?"), "giu");
}
