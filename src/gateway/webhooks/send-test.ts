// Sends an operator's test of a webhook: a message that is no event, by the same rules as every other request of it.
import type { Clock } from "../../core/ports/clock.ts";
import type { Post, PostRequest } from "../../core/ports/post.ts";
import type { WebhookSealer } from "../../core/ports/webhook-sealer.ts";
import { cleanAnswer } from "../../core/webhooks/clean-answer.ts";
import { toTestEmbed } from "../../core/webhooks/discord/event-embed.ts";
import { toDiscordMessage, toPostUrl } from "../../core/webhooks/discord/message.ts";
import { signStandardMessage, toStandardTest } from "../../core/webhooks/standard.ts";
import type { Webhook } from "../../core/webhooks/webhook.ts";
import type { SendTest, TestOutcome } from "./manage-webhooks.ts";

export type TestSenderParts = {
  readonly post: Post;
  readonly sealer: WebhookSealer;
  readonly clock: Clock;
  readonly findServerName: (serverId: string) => string | undefined;
  readonly userAgent: string;
};

/** Encrypted with another secret of Gatehouse. */
const UNREADABLE: TestOutcome = { status: null, durationMs: 0, error: "unreadable_url" };

export function createTestSender(parts: TestSenderParts): SendTest {
  return async (webhook, testId) => {
    const request = writeTest(parts, webhook, testId);
    if (!request) return UNREADABLE;
    const { status, body, error, durationMs } = await parts.post(request);
    if (status === null) return { status, durationMs, error };
    const isTaken = status >= 200 && status <= 299;
    const said = cleanAnswer(body, request.url);
    return { status, durationMs, error: isTaken ? null : said || `status ${status}` };
  };
}

/** Undefined when the address or a secret cannot be decrypted. */
export function writeTest(
  { sealer, clock, findServerName, userAgent }: TestSenderParts,
  webhook: Webhook,
  testId: string,
): PostRequest | undefined {
  const { webhookId, serverId, format, language, showJoinKey } = webhook;
  const common = { "user-agent": userAgent, accept: "*/*" };
  try {
    const url = new URL(sealer.open(webhook.sealedUrl, webhookId, "url"));
    if (format === "standard") {
      const now = clock();
      const message = toStandardTest(testId, webhookId, serverId, now);
      const headers = { ...common, ...signStandardMessage(message, openSecrets(sealer, webhook, now), now) };
      return { method: "POST", url, headers, body: message.body };
    }
    const embed = toTestEmbed({ language, showJoinKey, serverName: findServerName(serverId) ?? "" });
    const headers = { ...common, "content-type": "application/json" };
    return {
      method: "POST",
      url: toPostUrl(url),
      headers,
      body: JSON.stringify(toDiscordMessage([embed])),
    };
  } catch {
    return undefined;
  }
}

/** Those that sign at this time, newest first. */
function openSecrets(sealer: WebhookSealer, webhook: Webhook, now: number): string[] {
  const { webhookId, sealedSecret, sealedOldSecret, oldSecretUntil } = webhook;
  const isRotating = sealedOldSecret !== null && oldSecretUntil !== null && now < oldSecretUntil;
  const sealed = isRotating ? [sealedSecret, sealedOldSecret] : [sealedSecret];
  return sealed.map((text) => sealer.open(text, webhookId, "secret"));
}
