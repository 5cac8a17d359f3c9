// What operators are told about webhooks: in /readyz, and in the audit log.
import type { NoticeFacts } from "../../core/notices.ts";
import { type AuditStore, GATEHOUSE } from "../../core/ports/audit.ts";
import { describeDisabled, type Webhook } from "../../core/webhooks/webhook.ts";
import type { NameServers } from "../servers/name-servers.ts";

const LABELS_MAX = 5;

/** About webhooks that were disabled because of their receivers: the last failure of each did it. */
export function listDisabledNotices(webhooks: readonly Webhook[], nameServers: NameServers): NoticeFacts[] {
  const disabled = webhooks.filter(({ isEnabled, disabledReason }) => !isEnabled && disabledReason !== null);
  if (disabled.length === 0) return [];
  const serverIds = Array.from(new Set(disabled.map(({ serverId }) => serverId)));
  const begins = disabled.map(({ lastFailureAt }) => lastFailureAt).filter((at) => at !== null);
  return [
    {
      code: "webhooks_disabled",
      count: disabled.length,
      names: disabled.slice(0, LABELS_MAX).map(({ label }) => label),
      servers: nameServers(serverIds),
      ...(begins.length > 0 && { since: Math.min(...begins) }),
    },
  ];
}

/** `pauseMs`: for how long Discord wants nothing from this instance. */
export function listPauseNotices(pauseMs: number): NoticeFacts[] {
  return pauseMs <= 0 ? [] : [{ code: "discord_paused", retry_after: Math.ceil(pauseMs / 1000) }];
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
