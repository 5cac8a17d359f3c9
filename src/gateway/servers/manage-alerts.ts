// The operator's rules of alerts for a server. Every change is validated and noted in the audit log.
import { type AlertRules, findRuleProblems } from "../../core/alerts/rules.ts";
import { NOT_FOUND, type Refusal, refuseFields } from "../../core/errors.ts";
import type { AlertRuleStore } from "../../core/ports/archive.ts";
import type { Actor, AuditStore } from "../../core/ports/audit.ts";
import type { ServerStore } from "../../core/ports/servers.ts";

export type ManagedAlerts = {
  readonly archive: AlertRuleStore;
  readonly servers: Pick<ServerStore, "find">;
  readonly audit: Pick<AuditStore, "add">;
};

export async function readAlertRules(
  { archive, servers }: ManagedAlerts,
  serverId: string,
): Promise<{ readonly rules: AlertRules } | Refusal> {
  return servers.find(serverId) ? { rules: await archive.readAlertRules(serverId) } : NOT_FOUND;
}

/**
 * Replaces all rules. The archive may be another database than the audit log, so the two are not written together. The entry comes
 * first: a change that is not in the log would be worse than an entry for a change that failed.
 */
export async function setAlertRules(
  { archive, servers, audit }: ManagedAlerts,
  serverId: string,
  rules: AlertRules,
  actor: Actor,
  at: number,
): Promise<{ readonly rules: AlertRules } | Refusal> {
  if (!servers.find(serverId)) return NOT_FOUND;
  const problems = findRuleProblems(rules);
  if (Object.keys(problems).length > 0) return refuseFields(problems);
  const details = { before: await archive.readAlertRules(serverId), after: rules };
  await audit.add(serverId, { at, action: "server.alerts_set", actor, details, serverId });
  await archive.setAlertRules(serverId, rules);
  return { rules };
}
