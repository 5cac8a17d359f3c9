// Encrypts the address and the secrets of webhooks for the archive, each bound to its webhook and its purpose.
import type { Webhook } from "../../core/webhooks/webhook.ts";

/** The store's Sealer. */
export type SealText = {
  seal(text: string, purpose: string): Uint8Array;
  /** Throws when the text was sealed with another secret or for another purpose. */
  open(sealed: Uint8Array, purpose: string): string;
};

type Sealed = Pick<
  Webhook,
  "webhookId" | "sealedUrl" | "sealedSecret" | "sealedOldSecret" | "oldSecretUntil"
>;

export class WebhookSeal {
  readonly #sealer: SealText;

  constructor(sealer: SealText) {
    this.#sealer = sealer;
  }

  sealUrl(webhookId: string, url: string): string {
    return this.#seal(url, urlPurpose(webhookId));
  }

  /** Throws when the instance has another secret than the one that sealed it. */
  openUrl({ webhookId, sealedUrl }: Pick<Sealed, "webhookId" | "sealedUrl">): URL {
    return new URL(this.#open(sealedUrl, urlPurpose(webhookId)));
  }

  sealSecret(webhookId: string, secret: string): string {
    return this.#seal(secret, secretPurpose(webhookId));
  }

  /** The secrets that sign at this time, newest first. Throws like `openUrl`. */
  openSecrets(
    { webhookId, sealedSecret, sealedOldSecret, oldSecretUntil }: Omit<Sealed, "sealedUrl">,
    now: number,
  ): string[] {
    const isRotating = sealedOldSecret !== null && oldSecretUntil !== null && now < oldSecretUntil;
    const sealed = isRotating ? [sealedSecret, sealedOldSecret] : [sealedSecret];
    return sealed.map((text) => this.#open(text, secretPurpose(webhookId)));
  }

  #seal(text: string, purpose: string): string {
    return Buffer.from(this.#sealer.seal(text, purpose)).toString("base64");
  }

  #open(sealed: string, purpose: string): string {
    return this.#sealer.open(Buffer.from(sealed, "base64"), purpose);
  }
}

function urlPurpose(webhookId: string): string {
  return `webhook-url ${webhookId}`;
}

function secretPurpose(webhookId: string): string {
  return `webhook-secret ${webhookId}`;
}
