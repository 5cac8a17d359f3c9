// Undoes the encodings under which a secret could hide in a text: HTML entities, percent-encoding, escapes, and look-alike
// characters such as full-width letters.

/** An encoding may be inside another one, such as &amp;#45; */
const ROUNDS_MAX = 4;
const ENTITY = /&(?:amp;)*(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(hyphen|dash|minus));?/gi;
const PERCENT = /%(?:25)*([2-7][0-9a-f])/gi;
/** From the first backslash of a run only: trying each of them would take quadratic time. */
const ESCAPE = /(?<!\\)\\+(?:u\{?0{0,4}([0-9a-f]{2})\}?|x([0-9a-f]{2}))/gi;
/** Hyphens and dashes that NFKC does not turn into the one of ASCII. */
const HYPHENS = /[\u2010-\u2015\u2212\u207b\u208b\u02d7\u06d4\u2043\u2796]/g;
const CODE_POINT_MAX = 0x10ffff;

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
