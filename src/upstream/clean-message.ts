// Makes a message of the game API safe to show: no secrets, no control characters, no endless text.

export const MESSAGE_MAX_CHARACTERS = 500;
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;
const REDACTED = "[redacted]";

/** Secrets go first: the cap could otherwise leave half of one. */
export function cleanMessage(message: string, secrets: readonly string[]): string {
  let text = message;
  for (const secret of secrets) {
    // Control characters inside an echoed secret would hide it from the first pass.
    if (secret !== "") text = text.replaceAll(secret, REDACTED);
  }
  text = text.replace(UNSAFE, " ");
  for (const secret of secrets) {
    if (secret !== "") text = text.replaceAll(secret, REDACTED);
  }
  return Array.from(text.trim()).slice(0, MESSAGE_MAX_CHARACTERS).join("");
}
