// API tokens: `gth_`, 30 random base62 characters, and a checksum of 6 characters. With the checksum, mistyped and invalid
// tokens are refused without a lookup. And the secrets of sessions and invitations.

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIX = "gth_";
const SECRET_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const CHECKED_LENGTH = PREFIX.length + SECRET_LENGTH;
export const TOKEN_LENGTH = CHECKED_LENGTH + CHECKSUM_LENGTH;
const SHAPE = /^gth_[0-9A-Za-z]{36}$/;

export type RandomBytes = (size: number) => Uint8Array;

/** 43 base62 characters are 256 random bits. */
const LONG_SECRET_LENGTH = 43;
const SESSION_SECRET = /^gtd_[0-9A-Za-z]{43}$/;
const INVITATION_SECRET = /^gti_[0-9A-Za-z]{43}$/;

/** Every text of ours that gives access, wherever it stands in a line: tokens, façade keys, session tokens, secrets of sessions, invitations and webhooks. */
export const SECRET_TEXTS =
  /gth_[0-9A-Za-z]{36}|gth[0-9A-Za-z]{36}-[0-9A-Za-z]+|gts_[0-9A-Za-z]{20}\.[0-9A-Za-z]{1,40}\.[0-9a-z]{9}\.[0-9A-Za-z_-]{43}|gt[di]_[0-9A-Za-z]{43}|whsec_[0-9A-Za-z+/]{43}=?/g;

export function mintToken(randomBytes: RandomBytes): string {
  const checked = PREFIX + randomBase62(SECRET_LENGTH, randomBytes);
  return checked + checksumOf(checked);
}

/** Whether this has the form of a token; its checksum may be wrong. */
export function isTokenShaped(text: string): boolean {
  return SHAPE.test(text);
}

export function isWellFormedToken(token: string): boolean {
  return SHAPE.test(token) && token.slice(CHECKED_LENGTH) === checksumOf(token.slice(0, CHECKED_LENGTH));
}

/** The secret of a session, which its cookie holds. */
export function mintSessionSecret(randomBytes: RandomBytes): string {
  return `gtd_${randomBase62(LONG_SECRET_LENGTH, randomBytes)}`;
}

/** The secret of an invitation, which its link ends with. */
export function mintInvitationSecret(randomBytes: RandomBytes): string {
  return `gti_${randomBase62(LONG_SECRET_LENGTH, randomBytes)}`;
}

export function isSessionSecret(text: string): boolean {
  return SESSION_SECRET.test(text);
}

export function isInvitationSecret(text: string): boolean {
  return INVITATION_SECRET.test(text);
}

export function hashToken(token: string): string {
  return Bun.SHA256.hash(token, "base64");
}

/**
 * Opens the operator's form of /readyz and nothing else. Derived from the master key, so that tools on this machine can read
 * the notices without sending the master key to whatever listens on the port.
 */
export function deriveNoticesToken(masterKey: string): string {
  return Bun.SHA256.hash(`notices of ${masterKey}`, "hex");
}

/** Skips bytes from 248 on: they would make the first characters of the alphabet more likely. */
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
  let value = Bun.hash.crc32(text);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = ALPHABET.charAt(value % 62) + digits;
    value = Math.floor(value / 62);
  }
  return digits;
}
