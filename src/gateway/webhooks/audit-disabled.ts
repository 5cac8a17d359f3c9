// The audit entry about a webhook that was disabled because of its receiver. No operator did it.
import type { Actor } from "../../core/ports/audit.ts";
import type { SettingStore } from "../../core/ports/settings.ts";
import type { Webhook } from "../../core/webhooks/webhook.ts";

const LAST_DISABLED_AT = "last-webhook-disabled-at";
const GATEHOUSE: Actor = { fingerprint: "gatehouse", address: "" };

/** Throws StoreUnavailable when it cannot be written. */
export function auditDisabled(
  settings: Pick<SettingStore, "saveAudited">,
  { webhookId, label, serverId }: Webhook,
  reason: string,
  at: number,
): Promise<void> {
  const details = {
    before: { enabled: true },
    after: { enabled: false, disabled_reason: reason, label, server_id: serverId },
  };
  const note = { at, action: "webhook.disabled", actor: GATEHOUSE, details };
  return settings.saveAudited(LAST_DISABLED_AT, String(at), webhookId, note);
}
