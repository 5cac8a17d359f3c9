// API tokens: `gth_`, 30 random base62 characters, 6 of checksum. The checksum lets a mistyped or invented token be
// refused without a lookup. Nothing here keeps a token.

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIX = "gth_";
const SECRET_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const CHECKED_LENGTH = PREFIX.length + SECRET_LENGTH;
/** Of every token. */
export const TOKEN_LENGTH = CHECKED_LENGTH + CHECKSUM_LENGTH;
const SHAPE = /^gth_[0-9A-Za-z]{36}$/;

export type RandomBytes = (size: number) => Uint8Array;

export function mintToken(randomBytes: RandomBytes): string {
  const checked = PREFIX + randomBase62(SECRET_LENGTH, randomBytes);
  return checked + checksumOf(checked);
}

export function isWellFormedToken(token: string): boolean {
  return SHAPE.test(token) && token.slice(CHECKED_LENGTH) === checksumOf(token.slice(0, CHECKED_LENGTH));
}

export function hashToken(token: string): string {
  return Bun.SHA256.hash(token, "base64");
}

/** Bytes of 248 and above are skipped: they would make the first characters of the alphabet likelier. */
export function randomBase62(length: number, randomBytes: RandomBytes): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62);
    }
  }
  return text;
}

function checksumOf(text: string): string {
  let rest = Bun.hash.crc32(text);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = ALPHABET.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
