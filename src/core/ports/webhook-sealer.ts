// Encrypts what of a webhook is secret, before it reaches the archive.

/** `secret`: what signs, also the old one during a rotation. `answer`: what a receiver said. */
export type SealedPart = "url" | "secret" | "answer";

/** A text that was sealed for one webhook, or for one part of it, cannot be opened as another. */
export interface WebhookSealer {
  seal(text: string, webhookId: string, part: SealedPart): string;
  /** Throws when it was sealed with another secret of Gatehouse, or for something else. */
  open(sealed: string, webhookId: string, part: SealedPart): string;
}
