// Wires what delivers to webhooks.
import type { Config } from "../config.ts";
import type { Archive } from "../core/ports/archive.ts";
import type { SleepUntilWoken } from "../core/ports/clock.ts";
import type { Log } from "../core/ports/log.ts";
import type { Post } from "../core/ports/post.ts";
import type { EventBell } from "../gateway/events/event-bell.ts";
import type { Relay } from "../gateway/readings/relay.ts";
import type { Watcher } from "../gateway/readings/watcher.ts";
import { auditDisabled } from "../gateway/webhooks/audit-disabled.ts";
import { Deliverer } from "../gateway/webhooks/deliverer.ts";
import { readReport } from "../gateway/webhooks/server-report.ts";
import { WebhookSender } from "../gateway/webhooks/webhook-sender.ts";
import { VERSION } from "../version.ts";
import { createPinnedPost } from "../webhooks-out/pinned-post.ts";
import type { Resources } from "./open-resources.ts";

/** The sender is for operators' tests too. */
export type Webhooks = { readonly deliverer: Deliverer; readonly sender: WebhookSender };

export type WebhookWiring = {
  readonly config: Pick<Config, "allowsPrivateWebhooks" | "webhookRetryMs">;
  readonly archive: Archive;
  readonly bell: EventBell;
  readonly relay: Relay;
  readonly watcher: Watcher;
  readonly resources: Pick<Resources, "store" | "shared" | "clock" | "webhookSealer">;
  readonly log: Log;
  readonly pause: SleepUntilWoken;
  /** Replaces the network in tests. */
  readonly post: Post | undefined;
};

export function wireWebhooks({
  config,
  archive,
  bell,
  relay,
  watcher,
  resources,
  log,
  pause,
  post,
}: WebhookWiring): Webhooks {
  const { store, shared, clock, webhookSealer: sealer } = resources;
  const { servers, settings } = store;
  const sender = new WebhookSender({
    post: post ?? createPinnedPost({ allowsPrivate: config.allowsPrivateWebhooks }),
    sealer,
    clock,
    findServerName: (serverId) => servers.find(serverId)?.name,
    userAgent: `Gatehouse/${VERSION}`,
  });
  const deliverer = new Deliverer({
    archive,
    bell,
    sender,
    readReport: (serverId, now) => readReport({ relay, watcher, servers }, serverId, now),
    clock,
    random: Math.random,
    scheduleMs: config.webhookRetryMs,
    pause,
    log,
    lease: shared?.deliveryLease,
  });
  deliverer.onDisabled = (webhook, reason, at) => auditDisabled(settings, webhook, reason, at);
  return { deliverer, sender };
}
