// What operators are told about webhooks: in /readyz, and in the audit log.
import { type AuditStore, GATEHOUSE } from "../../core/ports/audit.ts";
import { describeDisabled, type Webhook } from "../../core/webhooks/webhook.ts";
import type { Notice } from "../../core/wire/health.ts";
import type { NameServers } from "../servers/name-servers.ts";

const LABELS_MAX = 5;

/** About webhooks that were disabled because of their receivers. */
export function listDisabledNotices(webhooks: readonly Webhook[], nameServers: NameServers | undefined): Notice[] {
  const disabled = webhooks.filter(({ isEnabled, disabledReason }) => !isEnabled && disabledReason !== null);
  if (disabled.length === 0) return [];
  const count = disabled.length;
  const isOne = count === 1;
  const which = nameServers ? describeWebhooks(disabled, nameServers) : "";
  const what = isOne ? "1 webhook was" : `${count} webhooks were`;
  const message = `${what} disabled because of ${isOne ? "its receiver" : "their receivers"}${which}; enable ${isOne ? "it" : "them"} again when that is solved.`;
  const serverIds = Array.from(new Set(disabled.map(({ serverId }) => serverId)));
  return [{ code: "webhooks_disabled", message, count, ...(nameServers && { servers: nameServers(serverIds) }) }];
}

/** `pauseMs`: for how long Discord wants nothing from this instance. */
export function listPauseNotices(pauseMs: number): Notice[] {
  if (pauseMs <= 0) return [];
  const retryAfter = Math.ceil(pauseMs / 1000);
  const message = `Discord has limited this instance; its webhooks there send again in ${retryAfter} s.`;
  return [{ code: "discord_paused", message, retry_after: retryAfter }];
}

function describeWebhooks(webhooks: readonly Webhook[], nameServers: NameServers): string {
  const named = webhooks
    .slice(0, LABELS_MAX)
    .map(({ label, serverId }) => `"${label}" of ${nameServers([serverId])[0]}`);
  const others = webhooks.length - named.length;
  return ` (${named.join(", ")}${others === 0 ? "" : ` and ${others} more`})`;
}

/** No operator disabled it: the receiver did. Throws StoreUnavailable when it cannot be written. */
export function auditDisabled(
  audit: Pick<AuditStore, "add">,
  { webhookId, label, serverId }: Webhook,
  reason: string,
  at: number,
): Promise<void> {
  const details = {
    before: { enabled: true },
    after: { enabled: false, ...describeDisabled(reason), label, server_id: serverId },
  };
  return audit.add(webhookId, { at, action: "webhook.disabled", actor: GATEHOUSE, details, serverId });
}
