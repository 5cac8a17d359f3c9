// A webhook and a delivery for tests of archives.
import type { Delivery, Webhook } from "../../src/core/webhooks/webhook.ts";
import { NOW } from "./ledger-samples.ts";

export function makeWebhook(changes: Partial<Webhook> = {}): Omit<Webhook, "place"> {
  return {
    webhookId: "hook_a",
    serverId: "srv_a",
    createdAt: NOW,
    label: "#mod-log «☃ 😀»",
    format: "discord",
    types: null,
    language: "en",
    showJoinKey: false,
    isEnabled: true,
    sealedUrl: "sealed url",
    shownUrl: "https://discord.test/api",
    lastSuccessAt: null,
    lastFailureAt: null,
    firstFailureAt: null,
    failures: 0,
    refusals: 0,
    nextAttemptAt: null,
    disabledReason: null,
    message: null,
    sealedSecret: "sealed secret",
    sealedOldSecret: null,
    oldSecretUntil: null,
    ...changes,
  };
}

export function makeDelivery(n: number, changes: Partial<Delivery> = {}): Delivery {
  return {
    at: NOW + n,
    eventIds: [`event-${n}`],
    status: 204,
    durationMs: n,
    error: null,
    sealedAnswer: null,
    ...changes,
  };
}
