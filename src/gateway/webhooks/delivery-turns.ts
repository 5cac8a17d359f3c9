// One turn of a webhook: reads what it has to send, sends a few requests, judges each answer and notes it. What could not be
// noted is noted in the next turn, before anything is sent again.
import { StoreUnavailable } from "../../core/errors.ts";
import { type LedgerPosition, writeCursor } from "../../core/events/cursor.ts";
import { toRetentionGap } from "../../core/events/stream-frames.ts";
import type { Archive, LedgerEvent, LedgerPage } from "../../core/ports/archive.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { AttemptProgress, ExpectedWebhook } from "../../core/ports/webhooks.ts";
import { parseMessageId } from "../../core/webhooks/discord/message.ts";
import {
  judgeLoss,
  judgeStatus,
  type ServerReport,
  toStatusMessage,
} from "../../core/webhooks/discord/status-message.ts";
import {
  type AttemptVerdict,
  isUnknownMessage,
  judgeDelivery,
  type ProgressChange,
} from "../../core/webhooks/retry.ts";
import type { Delivery, StatusMessage, Webhook } from "../../core/webhooks/webhook.ts";
import type { WebhookMeter } from "../meters.ts";
import { isSamePosition, type KnownWebhook } from "./known-webhook.ts";
import { type SentRequest, UNREADABLE, type WebhookSender } from "./webhook-sender.ts";

/** Events of one read: as many as one message to Discord may have. */
export const TURN_EVENTS_MAX = 10;
/** After this long a turn ends, so that a slow receiver does not keep the others waiting. */
export const TURN_MS = 1_000;
/** The place is noted when it is so many events, or so long, behind what was read without anything to send. */
export const POSITION_LAG_MAX = 500;
export const POSITION_NOTE_MS = 600_000;
/** How often it is checked whether a status message has to change. */
export const STATUS_LOOK_MS = 5_000;
/** How long a new status message waits for the first reading of its server. */
export const FIRST_READING_MS = 60_000;
/** The wait before an audit entry that could not be written is tried again. */
export const AUDIT_BACKOFF_MS = 10_000;

/** Called before a webhook is disabled because of its receiver. When it rejects, it is called again. */
export type OnDisabled = (webhook: Webhook, reason: string, at: number) => Promise<void>;

export type DeliveryTurnsDeps = {
  readonly archive: Pick<Archive, "readPage" | "findWebhook" | "noteAttempt">;
  readonly sender: Pick<WebhookSender, "sendEvents" | "sendStatus" | "optionsOf" | "sealAnswer">;
  readonly readReport: (serverId: string, now: number) => Promise<ServerReport | undefined>;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
  /** GATEHOUSE_WEBHOOKS_RETRY_MS. */
  readonly scheduleMs: readonly number[];
  readonly meter: WebhookMeter;
  readonly onDisabled: OnDisabled;
  /** Discord told this webhook that it wants nothing from this instance before this time. */
  readonly pauseDiscord: (known: KnownWebhook, until: number) => void;
  /** Ends the requests under way. */
  readonly stop: AbortSignal;
  /** Whether the webhook may send another request now. */
  readonly mayGoOn: (known: KnownWebhook) => boolean;
};

/** Events to send, and the place after them. */
type Batch = { readonly events: readonly LedgerEvent[]; readonly next: LedgerPosition; readonly hasMore: boolean };

export class DeliveryTurns {
  /** Reads under way: webhooks at the same place with the same types share one. */
  readonly #reads = new Map<string, Promise<LedgerPage>>();

  constructor(private readonly deps: DeliveryTurnsDeps) {}

  /** Throws StoreUnavailable when the archive does not answer. */
  async take(known: KnownWebhook): Promise<void> {
    if (known.unnoted) await this.#note(known);
    // An audit entry is missing; the wait is set.
    if (known.unnoted) return;
    if (known.isStale) await this.#reread(known);
    if (known.isDeleted || !known.webhook.isEnabled) return;
    if (known.hasPosition) await this.#sendEvents(known);
    else await this.#showStatus(known);
  }

  async #sendEvents(known: KnownWebhook): Promise<void> {
    const { clock, mayGoOn } = this.deps;
    const { rings } = known;
    const beganAt = clock();
    const { events, next, hasMore } = await this.#readBatch(known);
    let left = events;
    while (left.length > 0) {
      // A success can come with a wait: Discord says when the next request would be one too many.
      if (!mayGoOn(known) || Math.abs(clock() - beganAt) >= TURN_MS) return;
      const settled = await this.#sendSome(known, left, next);
      if (settled === 0) return;
      left = left.slice(settled);
    }
    known.readPosition = next;
    known.hasNews = hasMore || known.rings !== rings;
    if (events.length === 0) await this.#notePosition(known);
  }

  /** What to send next. A place that is not kept any more: first the gap that says so. */
  async #readBatch(known: KnownWebhook): Promise<Batch> {
    const page = await this.#readPage(known);
    if ("expired" in page) {
      const { oldest } = page;
      return { events: [toRetentionGap(oldest, this.deps.clock())], next: oldest, hasMore: true };
    }
    const { events, next, hasMore } = page;
    return { events: events.filter(({ isBackfill }) => !isBackfill), next, hasMore };
  }

  #readPage({ webhook, filter, readPosition }: KnownWebhook): Promise<LedgerPage> {
    const { archive } = this.deps;
    const { serverId, types } = webhook;
    const name = `${serverId} ${readPosition.number} ${readPosition.mark} ${types?.join() ?? "*"}`;
    const shared = this.#reads.get(name);
    if (shared) return shared;
    const start = { after: readPosition };
    const read = archive
      .readPage({ serverId, start, filter, limit: TURN_EVENTS_MAX })
      .finally(() => this.#reads.delete(name));
    this.#reads.set(name, read);
    return read;
  }

  /** Sends one request. Returns how many events are settled and noted; `next` is the place after all of them. */
  async #sendSome(known: KnownWebhook, events: readonly LedgerEvent[], next: LedgerPosition): Promise<number> {
    const { sender, stop, meter, clock } = this.deps;
    const { webhook } = known;
    const [first, ...others] = events;
    if (!first) return 0;
    const sent = await sender.sendEvents(webhook, [first, ...others], stop);
    if (sent.isStopped) return 0;
    const now = clock();
    const verdict = this.#judge(webhook, sent, now);
    const settled = verdict.kind === "done" ? sent.count : Number(verdict.kind === "set-aside");
    if (verdict.kind === "done") meter.eventsDelivered += sent.count;
    const last = events[settled - 1];
    const place = settled === events.length ? next : last && { number: last.number, mark: last.mark };
    const eventIds = events.slice(0, sent.count).map((event) => writeCursor(webhook.serverId, event));
    const isNoted = await this.#settle(
      known,
      verdict,
      this.#toDelivery(webhook, sent, eventIds, now),
      place && { place },
    );
    // An operator may have moved the place: the rest of what was read is not what comes next.
    return isNoted ? settled : 0;
  }

  async #showStatus(known: KnownWebhook): Promise<void> {
    const { clock, readReport, sender, stop } = this.deps;
    const { webhook } = known;
    const { message: shown, serverId } = webhook;
    known.notBefore = clock() + STATUS_LOOK_MS;
    const report = await readReport(serverId, clock());
    const now = clock();
    // Nothing was read since the start. What the message shows is newer than that.
    const isUnread =
      report?.readAt === null &&
      report.state === "unknown" &&
      (shown?.messageId != null || now - webhook.createdAt < FIRST_READING_MS);
    if (!report || isUnread) return;
    const { message, fingerprint } = toStatusMessage(report, sender.optionsOf(webhook));
    const step = judgeStatus(shown, fingerprint, now);
    if (step.kind === "wait") return;
    const messageId = step.kind === "edit" ? (shown?.messageId ?? null) : null;
    const sent = await sender.sendStatus(webhook, message, messageId, stop);
    if (sent.isStopped) return;
    if (messageId !== null && shown && isUnknownMessage(sent.outcome)) return this.#noteLoss(known, shown, sent);
    const postedId = messageId ?? parseMessageId(sent.outcome.body);
    const isPosted = sent.error === null && postedId !== undefined;
    // Without an id it could never be edited, and a new one would come every minute.
    const judged = sent.error === null && !isPosted ? WITHOUT_ID : sent;
    const after: StatusMessage | undefined = isPosted
      ? { messageId: postedId, editedAt: clock(), fingerprint, lostAt: shown?.lostAt ?? null }
      : undefined;
    // There is no event to set aside.
    const verdict = this.#judge({ ...webhook, refusals: 0 }, judged, clock());
    await this.#settle(known, verdict, this.#toDelivery(webhook, judged, [], clock()), after && { message: after });
  }

  async #noteLoss(known: KnownWebhook, shown: StatusMessage, sent: SentRequest): Promise<void> {
    const { clock } = this.deps;
    const now = clock();
    const loss = judgeLoss(shown, now);
    const before = { ...toProgress(known.webhook), lastFailureAt: now };
    const isEnd = "disabledReason" in loss;
    const verdict: AttemptVerdict = {
      kind: isEnd ? "disable" : "retry",
      progress: isEnd ? { ...before, disabledReason: loss.disabledReason } : before,
      globalPauseUntil: null,
    };
    // Posted again at once.
    known.notBefore = now;
    await this.#settle(
      known,
      verdict,
      this.#toDelivery(known.webhook, sent, [], now),
      isEnd ? undefined : { message: loss.message },
    );
  }

  #toDelivery(
    { webhookId }: Webhook,
    { outcome, durationMs, error, answer }: SentRequest,
    eventIds: readonly string[],
    endedAt: number,
  ): Delivery {
    const { status } = outcome;
    const sealedAnswer = answer === null ? null : this.deps.sender.sealAnswer(answer, webhookId);
    return { at: endedAt - durationMs, eventIds, status, durationMs, error, sealedAnswer };
  }

  #judge(webhook: Webhook, { outcome }: SentRequest, now: number): AttemptVerdict {
    const { scheduleMs, random } = this.deps;
    const { format, shownUrl: url } = webhook;
    const before = toProgress(webhook);
    return judgeDelivery({ format, url, before, outcome, scheduleMs, now, random: random() });
  }

  async #settle(
    known: KnownWebhook,
    { kind, progress, globalPauseUntil }: AttemptVerdict,
    delivery: Delivery,
    more: AttemptProgress = {},
  ): Promise<boolean> {
    const { meter, pauseDiscord } = this.deps;
    meter.count(kind, delivery.durationMs);
    if (globalPauseUntil !== null) pauseDiscord(known, globalPauseUntil);
    const isEnd = kind === "disable";
    const { place, sealedUrl } = known.webhook;
    known.unnoted = {
      // A failure says nothing about a receiver that was changed meanwhile, and does not disable what the operator has disabled.
      expected: { place, sealedUrl, ...(kind !== "done" && { isEnabled: true }) },
      progress: { ...progress, ...more, ...(isEnd && { isEnabled: false }) },
      delivery,
      unaudited: isEnd ? (progress.disabledReason ?? undefined) : undefined,
    };
    return this.#note(known);
  }

  /** Moves the place past what the filter left out. Not for every event: an idle webhook must cost nothing. */
  async #notePosition(known: KnownWebhook): Promise<void> {
    const { clock } = this.deps;
    const { place } = known.webhook;
    const { readPosition } = known;
    if (isSamePosition(readPosition, place)) return;
    const isFar = Math.abs(readPosition.number - place.number) >= POSITION_LAG_MAX;
    if (!isFar && Math.abs(clock() - known.positionNotedAt) < POSITION_NOTE_MS) return;
    known.unnoted = {
      expected: { place },
      progress: { place: readPosition },
      delivery: undefined,
      unaudited: undefined,
    };
    await this.#note(known);
  }

  /** False when the webhook was changed or deleted meanwhile, or when it cannot be noted now. */
  async #note(known: KnownWebhook): Promise<boolean> {
    const { archive, clock } = this.deps;
    const { unnoted, webhookId } = known;
    if (!unnoted) return false;
    const { expected, progress, delivery } = unnoted;
    // An entry of the audit log cannot be taken back.
    const isOutdated = unnoted.unaudited !== undefined && (await this.#isChanged(webhookId, expected));
    if (!isOutdated && !(await this.#audit(known))) return false;
    const isNoted = !isOutdated && (await archive.noteAttempt(webhookId, expected, progress, delivery));
    known.unnoted = undefined;
    known.revision++;
    if (isNoted) known.apply(progress, clock());
    else await this.#reread(known);
    return isNoted;
  }

  async #isChanged(webhookId: string, { place, sealedUrl }: ExpectedWebhook): Promise<boolean> {
    const webhook = await this.deps.archive.findWebhook(webhookId);
    if (!webhook?.isEnabled) return true;
    return webhook.sealedUrl !== sealedUrl || !isSamePosition(webhook.place, place);
  }

  /** False when the audit log cannot be written now. The webhook is not disabled without an entry. */
  async #audit(known: KnownWebhook): Promise<boolean> {
    const { onDisabled, clock } = this.deps;
    const { unnoted, webhook } = known;
    if (unnoted?.unaudited === undefined) return true;
    try {
      await onDisabled(webhook, unnoted.unaudited, clock());
      unnoted.unaudited = undefined;
      return true;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      known.notBefore = clock() + AUDIT_BACKOFF_MS;
      return false;
    }
  }

  async #reread(known: KnownWebhook): Promise<void> {
    known.isStale = false;
    const webhook = await this.deps.archive.findWebhook(known.webhookId);
    if (webhook) known.replace(webhook);
    else known.isDeleted = true;
  }
}

const WITHOUT_ID: SentRequest = { ...UNREADABLE, error: "no_message_id" };

function toProgress(webhook: Webhook): ProgressChange {
  const { lastSuccessAt, lastFailureAt, firstFailureAt, failures, refusals } = webhook;
  const { nextAttemptAt, disabledReason } = webhook;
  return { lastSuccessAt, lastFailureAt, firstFailureAt, failures, refusals, nextAttemptAt, disabledReason };
}
