// A webhook as the deliverer knows it: what the archive has of it, and how far its ledger was read.
import type { LedgerPosition } from "../../core/events/cursor.ts";
import type { EventFilter } from "../../core/events/event-types.ts";
import type { AttemptProgress, ExpectedWebhook } from "../../core/ports/webhooks.ts";
import { type Delivery, filterOfTypes, type Webhook } from "../../core/webhooks/webhook.ts";

/** What became of an attempt, until the archive has it. */
export type UnnotedAttempt = {
  readonly expected: ExpectedWebhook;
  readonly progress: AttemptProgress;
  readonly delivery: Delivery | undefined;
  /** Why the attempt disables the webhook; undefined when it does not, or when the audit log has it already. */
  unaudited: string | undefined;
};

export class KnownWebhook {
  readonly webhookId: string;
  #webhook: Webhook;
  #filter: EventFilter;
  #host: string;
  /** Past what the filter left out, so it may be ahead of the place that the archive has. */
  readPosition: LedgerPosition;
  /** There may be something to send. */
  hasNews = true;
  /** Increased whenever events were recorded, so that a turn notices those that come meanwhile. */
  rings = 0;
  isBusy = false;
  /** To be read again before the next turn, because an operator has changed it. */
  isStale = false;
  isDeleted = false;
  /** No turn before this time, for a reason that is not the receiver's. */
  notBefore = 0;
  /** Counts the last turn, so that those who wait longest come first. */
  lastTurn = 0;
  /** Increased whenever this instance has noted something, so that an older row is not taken for news. */
  revision = 0;
  positionNotedAt: number;
  /** Until when Discord wants nothing from any of its webhooks, as it told this one; 0 when it told nothing. */
  discordPauseUntil = 0;
  unnoted: UnnotedAttempt | undefined;
  /** The attempt that was planned before the clock was set back, and by how much it was. */
  #plannedBefore: { readonly at: number; readonly backMs: number } | undefined;

  constructor(webhook: Webhook, now: number) {
    this.webhookId = webhook.webhookId;
    this.#webhook = webhook;
    this.#filter = filterOfTypes(webhook.types);
    this.#host = hostOf(webhook);
    this.readPosition = webhook.place;
    this.positionNotedAt = now;
    const lastAttemptAt = Math.max(webhook.lastFailureAt ?? 0, webhook.lastSuccessAt ?? 0);
    if (lastAttemptAt > now) this.followClock(lastAttemptAt - now);
  }

  get webhook(): Webhook {
    return this.#webhook;
  }

  /** No request before this time, by what the receiver said or how often it failed. */
  get nextAttemptAt(): number {
    const at = this.#webhook.nextAttemptAt ?? 0;
    return this.#plannedBefore?.at === at ? at - this.#plannedBefore.backMs : at;
  }

  get filter(): EventFilter {
    return this.#filter;
  }

  get host(): string {
    return this.#host;
  }

  get isFailing(): boolean {
    return this.#webhook.failures > 0;
  }

  get isDiscord(): boolean {
    return this.#webhook.format !== "standard";
  }

  get hasPosition(): boolean {
    return this.#webhook.format !== "discord-status";
  }

  /** The webhook as the archive has it. */
  replace(webhook: Webhook): void {
    const before = this.#webhook;
    if (JSON.stringify(webhook) === JSON.stringify(before)) return;
    this.#webhook = webhook;
    const hasOtherTypes = JSON.stringify(webhook.types) !== JSON.stringify(before.types);
    // What the old types left out may be wanted now, and may be newer than the change.
    if (hasOtherTypes || !isSamePosition(webhook.place, before.place)) this.readPosition = webhook.place;
    if (hasOtherTypes) this.#filter = filterOfTypes(webhook.types);
    if (webhook.shownUrl !== before.shownUrl) this.#host = hostOf(webhook);
    if (webhook.sealedUrl !== before.sealedUrl || !webhook.isEnabled) this.discordPauseUntil = 0;
    // It may have been enabled, moved back or given other types.
    this.hasNews = true;
    this.rings++;
  }

  /** What this instance has noted. */
  apply(progress: AttemptProgress, now: number): void {
    const { place } = progress;
    this.#webhook = { ...this.#webhook, ...progress };
    if (!this.#webhook.isEnabled) this.discordPauseUntil = 0;
    if (!place) return;
    this.readPosition = place;
    this.positionNotedAt = now;
  }

  /** The clock was set back: what was planned comes as much earlier. */
  followClock(backMs: number): void {
    const at = this.#webhook.nextAttemptAt ?? 0;
    this.#plannedBefore = { at, backMs: at - this.nextAttemptAt + backMs };
    this.notBefore -= backMs;
    this.discordPauseUntil -= backMs;
    this.positionNotedAt -= backMs;
  }

  ring(): void {
    this.rings++;
    this.hasNews = true;
  }
}

export function isSamePosition(a: LedgerPosition, b: LedgerPosition): boolean {
  return a.number === b.number && a.mark === b.mark;
}

function hostOf({ shownUrl }: Webhook): string {
  return URL.parse(shownUrl)?.host ?? shownUrl;
}
