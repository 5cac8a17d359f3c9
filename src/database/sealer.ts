// Encrypts the secrets in the store with AES-256-GCM and signs records with HMAC-SHA-256, each under its own key derived from
// the operator's secret.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import type { SealedPart, WebhookSealer } from "../core/ports/webhooks.ts";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export class Sealer {
  readonly #key: Uint8Array;
  readonly #signingKey: Uint8Array;

  constructor(secret: string) {
    this.#key = new Uint8Array(hkdfSync("sha256", secret, "gatehouse", "upstream-keys.v1", 32));
    this.#signingKey = new Uint8Array(hkdfSync("sha256", secret, "gatehouse", "records.v1", 32));
  }

  /** `purpose` is authenticated too: a text sealed for one row cannot be opened for another. */
  seal(text: string, purpose: string): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce).setAAD(Buffer.from(purpose));
    return Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  }

  /** Throws when the secret or the purpose differs, or the bytes were changed. */
  open(sealed: Uint8Array, purpose: string): string {
    const nonce = sealed.subarray(0, NONCE_BYTES);
    const body = sealed.subarray(NONCE_BYTES, -TAG_BYTES);
    const decipher = createDecipheriv("aes-256-gcm", this.#key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(purpose)).setAuthTag(sealed.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(body), decipher.final()]).toString("utf8");
  }

  /** The signature of a text, 43 characters of base64url. `purpose` is signed too and must not contain a line break. */
  sign(text: string, purpose: string): string {
    return this.#hash(text, purpose).toString("base64url");
  }

  isSigned(text: string, purpose: string, signature: string): boolean {
    const [given, expected] = [Buffer.from(signature, "base64url"), this.#hash(text, purpose)];
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  #hash(text: string, purpose: string): Buffer {
    return createHmac("sha256", this.#signingKey).update(`${purpose}\n${text}`).digest();
  }
}

/** For the addresses and secrets of webhooks. */
export function createWebhookSealer(sealer: Sealer): WebhookSealer {
  return {
    seal: (text, webhookId, part) => Buffer.from(sealer.seal(text, nameOf(webhookId, part))).toString("base64url"),
    open: (sealed, webhookId, part) => sealer.open(Buffer.from(sealed, "base64url"), nameOf(webhookId, part)),
  };
}

function nameOf(webhookId: string, part: SealedPart): string {
  return `webhook ${part} ${webhookId}`;
}

/** The setting with a known text, sealed, which tells later whether the secret is still the same. */
export const SECRET_CHECK = "secret-check";

/** `stored` is the setting's value. */
export function isRightSecret(stored: string, sealer: Sealer): boolean {
  try {
    sealer.open(Buffer.from(stored, "base64"), SECRET_CHECK);
    return true;
  } catch {
    return false;
  }
}

export function sealSecretCheck(sealer: Sealer): string {
  return Buffer.from(sealer.seal(SECRET_CHECK, SECRET_CHECK)).toString("base64");
}
