// Escapes text from elsewhere (names, labels, commands, error messages) for a terminal, so that it cannot move the
// cursor, change colours, break a line or turn the reading direction.

// Joiners (U+200C, U+200D) stay: some scripts and emoji need them, and they are harmless.
const HARMFUL = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

export function escapeUnsafe(text: string): string {
  return text.replace(HARMFUL, (character) => {
    if (character === "\n") return "\\n";
    if (character === "\t") return "\\t";
    if (character === "\r") return "\\r";
    const code = character.codePointAt(0) ?? 0;
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
  });
}
