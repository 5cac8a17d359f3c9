// Texts that Gatehouse gives out and takes back, such as the challenge of a passkey: signed, with an end, and not stored.
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

const SHAPE = /^([0-9A-Za-z_-]{1,100})\.([0-9a-z]{1,11})\.([A-Za-z0-9_-]{43})$/;

/** `value` is unique when it has random characters enough. */
export type SignedValue = { readonly value: string; readonly expiresAt: number };

export class SignedTexts {
  readonly #key: Uint8Array;

  constructor(secret: string) {
    this.#key = new Uint8Array(hkdfSync("sha256", secret, "gatehouse", "signed-texts.v1", 32));
  }

  /** A text of one purpose is none of another. */
  seal(purpose: string, { value, expiresAt }: SignedValue): string {
    const time = expiresAt.toString(36);
    return `${value}.${time}.${this.derive(purpose, `${value}.${time}`)}`;
  }

  /** Undefined when the text was altered, was never made for this, or has expired. */
  open(purpose: string, text: string, now: number): SignedValue | undefined {
    const [, value = "", time = "", signature = ""] = SHAPE.exec(text) ?? [];
    if (signature === "") return undefined;
    const expected = this.derive(purpose, `${value}.${time}`);
    if (!timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) return undefined;
    const expiresAt = Number.parseInt(time, 36);
    return now < expiresAt ? { value, expiresAt } : undefined;
  }

  /** 43 characters that nobody else can make of `text`. */
  derive(purpose: string, text: string): string {
    return createHmac("sha256", this.#key).update(`${purpose}\n${text}`).digest("base64url");
  }
}
