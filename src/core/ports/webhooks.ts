// Where webhooks are kept: in the archive, beside the ledger that they read.
import type { LedgerPosition } from "../events/cursor.ts";
import type { EventFilter } from "../events/event-types.ts";
import type { Delivery, Webhook, WebhookProgress, WebhookSecrets, WebhookSettings } from "../webhooks/webhook.ts";

/** `full`: the server has as many webhooks as it may. */
export type WebhookCreation = "created" | "full";

/** What may change of a webhook. */
export type WebhookChange = Partial<WebhookSettings & WebhookSecrets & WebhookProgress>;

/** How the webhook was when an attempt was made. What is left out may have changed meanwhile. */
export type ExpectedWebhook = Pick<Webhook, "place"> & Partial<Pick<Webhook, "sealedUrl" | "isEnabled">>;

/** What an attempt may change. */
export type AttemptProgress = Partial<WebhookProgress> & { readonly isEnabled?: boolean };

/** Every method throws StoreUnavailable when the archive cannot answer within its deadline. */
export interface WebhookStore {
  /** All webhooks, or those of one server, oldest first. */
  listWebhooks(serverId?: string): Promise<readonly Webhook[]>;
  findWebhook(webhookId: string): Promise<Webhook | undefined>;
  /** Begins at the newest place of its server's ledger. */
  createWebhook(webhook: Omit<Webhook, "place">): Promise<WebhookCreation>;
  /** What the operator changes. False when there is no such webhook. */
  updateWebhook(webhookId: string, change: WebhookChange): Promise<boolean>;
  /** With its deliveries. False when there is no such webhook. */
  deleteWebhook(webhookId: string): Promise<boolean>;
  /**
   * Notes what became of an attempt: the progress and the delivery together, so that both are there or neither. Keeps the last
   * DELIVERIES_MAX. Nothing is noted, and false returned, when the webhook was deleted or is not as expected any more.
   */
  noteAttempt(
    webhookId: string,
    expected: ExpectedWebhook,
    progress: AttemptProgress,
    delivery: Delivery | undefined,
  ): Promise<boolean>;
  /** Newest first. */
  listDeliveries(webhookId: string): Promise<readonly Delivery[]>;
  /** How many events that pass the filter and are not backfill come after the place, counted to WAITING_MAX. */
  countWaiting(serverId: string, after: LedgerPosition, filter: EventFilter): Promise<number>;
}

/** `secret`: what signs, also the old one during a rotation. `answer`: what a receiver said. */
export type SealedPart = "url" | "secret" | "answer";

/** A text that was sealed for one webhook, or for one part of it, cannot be opened as another. */
export interface WebhookSealer {
  seal(text: string, webhookId: string, part: SealedPart): string;
  /** Throws when it was sealed with another secret of Gatehouse, or for something else. */
  open(sealed: string, webhookId: string, part: SealedPart): string;
}
