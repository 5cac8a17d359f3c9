// The operator's rules of alerts for a server. Every change is validated and noted in the audit log.
import { type AlertRules, findRuleProblems } from "../../core/alerts/rules.ts";
import type { Refusal } from "../../core/errors.ts";
import type { AlertRuleStore } from "../../core/ports/alert-rules.ts";
import type { Actor } from "../../core/ports/audit.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import type { SettingStore } from "../../core/ports/settings.ts";
import { NOT_FOUND, refuseFields } from "../../core/refuse-field.ts";

const LAST_CHANGE_AT = "last-alerts-set-at";

export type ManagedAlerts = {
  readonly archive: AlertRuleStore;
  readonly servers: Pick<ServerStore, "find">;
  readonly settings: Pick<SettingStore, "saveAudited">;
};

export async function readAlertRules(
  { archive, servers }: ManagedAlerts,
  serverId: string,
): Promise<{ readonly rules: AlertRules } | Refusal> {
  return servers.find(serverId) ? { rules: await archive.readAlertRules(serverId) } : NOT_FOUND;
}

/**
 * Replaces all rules. The archive and the audit log are two databases, so the two are not written together. The entry comes
 * first: a change that is not in the log would be worse than an entry for a change that failed.
 */
export async function setAlertRules(
  { archive, servers, settings }: ManagedAlerts,
  serverId: string,
  rules: AlertRules,
  actor: Actor,
  at: number,
): Promise<{ readonly rules: AlertRules } | Refusal> {
  if (!servers.find(serverId)) return NOT_FOUND;
  const problems = findRuleProblems(rules);
  if (Object.keys(problems).length > 0) return refuseFields(problems);
  const details = { before: await archive.readAlertRules(serverId), after: rules };
  const note = { at, action: "server.alerts_set", actor, details };
  await settings.saveAudited(LAST_CHANGE_AT, String(at), serverId, note);
  await archive.setAlertRules(serverId, rules);
  return { rules };
}
