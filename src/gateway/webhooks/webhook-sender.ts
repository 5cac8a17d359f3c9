// Writes the requests of webhooks and sends them. Nothing here decides when, or what an answer means.
import type { LedgerEvent } from "../../core/ports/archive.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Post, PostRequest } from "../../core/ports/post.ts";
import type { WebhookSealer } from "../../core/ports/webhooks.ts";
import { cleanAnswer } from "../../core/webhooks/clean-answer.ts";
import { callerIdOf, type DiscordOptions, toTestEmbed } from "../../core/webhooks/discord/event-embed.ts";
import { type DiscordMessage, toDiscordMessage, toEditUrl, toPostUrl } from "../../core/webhooks/discord/message.ts";
import { eventsPerMessage, packEvents } from "../../core/webhooks/discord/pack.ts";
import type { AttemptOutcome } from "../../core/webhooks/retry.ts";
import {
  type StandardMessage,
  signStandardMessage,
  toStandardMessage,
  toStandardTest,
} from "../../core/webhooks/standard.ts";
import type { Webhook } from "../../core/webhooks/webhook.ts";

/** `error` is null after a success. `answer`: the beginning of what the receiver said instead, cleaned; null without one. */
export type SentRequest = {
  readonly outcome: AttemptOutcome;
  readonly durationMs: number;
  readonly error: string | null;
  readonly answer: string | null;
  /** The attempt was ended by this instance, so it says nothing about the receiver. */
  readonly isStopped: boolean;
};

export type WebhookSenderDeps = {
  readonly post: Post;
  readonly sealer: WebhookSealer;
  readonly clock: Clock;
  readonly findServerName: (serverId: string) => string | undefined;
  /** Undefined for somebody who is not known. Throws StoreUnavailable when the archive does not answer. */
  readonly readPlayerName: (serverId: string, playerId: string) => Promise<string | undefined>;
  readonly userAgent: string;
};

/** Sealed with another secret. */
export const UNREADABLE: SentRequest = {
  outcome: { status: null, headers: {}, body: "" },
  durationMs: 0,
  error: "unreadable_url",
  answer: null,
  isStopped: false,
};

export class WebhookSender {
  constructor(private readonly deps: WebhookSenderDeps) {}

  /** As many of the events, from the first on, as one request of the webhook's format may have. `count`: how many. */
  async sendEvents(
    webhook: Webhook,
    events: readonly [LedgerEvent, ...LedgerEvent[]],
    stop?: AbortSignal,
  ): Promise<SentRequest & { readonly count: number }> {
    if (webhook.format === "standard") {
      const message = toStandardMessage(webhook.serverId, events[0]);
      return { ...(await this.#sendStandard(webhook, message, stop)), count: 1 };
    }
    const countMax = eventsPerMessage(webhook.refusals);
    const playerNames = await this.#nameCallers(webhook.serverId, events.slice(0, countMax));
    const { message, count } = packEvents(events, { ...this.optionsOf(webhook), playerNames }, countMax);
    return { ...(await this.#sendDiscord(webhook, message, null, stop)), count };
  }

  /** Posts the message of `discord-status`, or edits it when it has an id. */
  sendStatus(
    webhook: Webhook,
    message: DiscordMessage,
    messageId: string | null,
    stop?: AbortSignal,
  ): Promise<SentRequest> {
    return this.#sendDiscord(webhook, message, messageId, stop);
  }

  /** What an operator's test sends: it is no event. `testId` is the id of the message in the format `standard`. */
  sendTest(webhook: Webhook, testId: string): Promise<SentRequest> {
    const { webhookId, serverId, format } = webhook;
    if (format === "standard") {
      const message = toStandardTest(testId, webhookId, serverId, this.deps.clock());
      return this.#sendStandard(webhook, message, undefined);
    }
    const message = toDiscordMessage([toTestEmbed(this.optionsOf(webhook))]);
    return this.#sendDiscord(webhook, message, null, undefined);
  }

  /** For keeping it with the delivery. */
  sealAnswer(answer: string, webhookId: string): string {
    return this.deps.sealer.seal(answer, webhookId, "answer");
  }

  /** How messages to Discord are written for this webhook. */
  optionsOf({ language, showJoinKey, serverId }: Webhook): DiscordOptions {
    return { language, showJoinKey, serverName: this.deps.findServerName(serverId) ?? "" };
  }

  async #nameCallers(serverId: string, events: readonly LedgerEvent[]): Promise<ReadonlyMap<string, string>> {
    const names = new Map<string, string>();
    for (const id of new Set(events.map(callerIdOf))) {
      const name = id && (await this.deps.readPlayerName(serverId, id));
      if (id && name) names.set(id, name);
    }
    return names;
  }

  #sendStandard(webhook: Webhook, message: StandardMessage, stop: AbortSignal | undefined): Promise<SentRequest> {
    return this.#send(webhook, stop, (url) => {
      const { sealer, clock } = this.deps;
      const now = clock();
      const headers = signStandardMessage(message, openSecrets(sealer, webhook, now), now);
      return { method: "POST", url, headers, body: message.body };
    });
  }

  #sendDiscord(
    webhook: Webhook,
    message: DiscordMessage,
    messageId: string | null,
    stop: AbortSignal | undefined,
  ): Promise<SentRequest> {
    return this.#send(webhook, stop, (url) => ({
      method: messageId === null ? "POST" : "PATCH",
      url: messageId === null ? toPostUrl(url) : toEditUrl(url, messageId),
      headers: { "content-type": "application/json" },
      body: JSON.stringify(message),
    }));
  }

  async #send(webhook: Webhook, stop: AbortSignal | undefined, write: (url: URL) => PostRequest): Promise<SentRequest> {
    const { post, sealer, userAgent } = this.deps;
    let request: PostRequest;
    try {
      request = write(new URL(sealer.open(webhook.sealedUrl, webhook.webhookId, "url")));
    } catch {
      // It is an attempt that failed, so that it is tried again after a restore and seen.
      return UNREADABLE;
    }
    const headers = { "user-agent": userAgent, accept: "*/*", ...request.headers };
    const outcome = await post({ ...request, headers }, stop);
    const { durationMs } = outcome;
    const { status, body } = outcome;
    const isSuccess = status !== null && status >= 200 && status <= 299;
    const error = status === null ? outcome.error : isSuccess ? null : `status ${status}`;
    const answer = isSuccess || status === null ? null : cleanAnswer(body, request.url) || null;
    return { outcome, durationMs, error, answer, isStopped: outcome.error === "stopped" };
  }
}

/** Those that sign at this time, newest first. */
function openSecrets(sealer: WebhookSealer, webhook: Webhook, now: number): string[] {
  const { webhookId, sealedSecret, sealedOldSecret, oldSecretUntil } = webhook;
  const isRotating = sealedOldSecret !== null && oldSecretUntil !== null && now < oldSecretUntil;
  const sealed = isRotating ? [sealedSecret, sealedOldSecret] : [sealedSecret];
  return sealed.map((text) => sealer.open(text, webhookId, "secret"));
}
