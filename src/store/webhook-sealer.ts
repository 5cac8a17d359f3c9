// Encrypts the addresses and secrets of webhooks with the secret that encrypts the server keys.
import type { SealedPart, WebhookSealer } from "../core/ports/webhook-sealer.ts";
import type { Sealer } from "./sealer.ts";

export function createWebhookSealer(sealer: Sealer): WebhookSealer {
  return {
    seal: (text, webhookId, part) =>
      Buffer.from(sealer.seal(text, nameOf(webhookId, part))).toString("base64url"),
    open: (sealed, webhookId, part) => sealer.open(Buffer.from(sealed, "base64url"), nameOf(webhookId, part)),
  };
}

function nameOf(webhookId: string, part: SealedPart): string {
  return `webhook ${part} ${webhookId}`;
}
