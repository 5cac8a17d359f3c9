// Session tokens: short-lived tokens of a signed-in device. They are signed and not stored, so that every instance with the same
// secret takes them. They name their device, and count only while the device is signed in.
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

export const SESSION_TOKEN_MS = 15 * 60_000;
export const SESSION_TOKEN_PREFIX = "gts_";
const DEVICE_PREFIX = "dev_";
const TIME_LENGTH = 9;
const SHAPE = /^gts_([0-9A-Za-z]{20})([0-9a-z]{9})([A-Za-z0-9_-]{43})$/;

export type OpenedToken = { readonly deviceId: string; readonly expiresAt: number };

export class SessionTokens {
  readonly #key: Uint8Array;

  constructor(secret: string) {
    this.#key = new Uint8Array(hkdfSync("sha256", secret, "gatehouse", "session-tokens.v1", 32));
  }

  mint({ deviceId, expiresAt }: OpenedToken): string {
    const time = expiresAt.toString(36).padStart(TIME_LENGTH, "0");
    const signed = SESSION_TOKEN_PREFIX + deviceId.slice(DEVICE_PREFIX.length) + time;
    return signed + this.#sign(signed);
  }

  /** Undefined when the token was altered, was never made, or has expired. */
  open(token: string, now: number): OpenedToken | undefined {
    const [, id = "", time = "", signature = ""] = SHAPE.exec(token) ?? [];
    if (signature === "") return undefined;
    const expected = this.#sign(SESSION_TOKEN_PREFIX + id + time);
    // Compared as text: the last character of base64 has bits that decode to nothing.
    if (!timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) return undefined;
    const expiresAt = Number.parseInt(time, 36);
    return now < expiresAt ? { deviceId: DEVICE_PREFIX + id, expiresAt } : undefined;
  }

  #sign(text: string): string {
    return createHmac("sha256", this.#key).update(text).digest("base64url");
  }
}
