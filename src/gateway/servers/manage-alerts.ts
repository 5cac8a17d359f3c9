// The operator's rules of alerts for a server, and which servers have raised ones. Every change is validated and noted in the
// audit log.
import { hasRaised } from "../../core/alerts/alert-states.ts";
import { type AlertRules, findRuleProblems } from "../../core/alerts/rules.ts";
import { NOT_FOUND, type Refusal, refuseFields } from "../../core/errors.ts";
import type { NoticeFacts } from "../../core/notices.ts";
import type { AlertRuleStore } from "../../core/ports/archive.ts";
import type { Actor, AuditStore } from "../../core/ports/audit.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import { listNoticeServers, type NameServers } from "./name-servers.ts";

/** How often the archive is read for the notice about raised alerts. */
const READ_RAISED_MS = 30_000;

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

/** Which servers have raised alerts, for a notice: read now and then, and not waited for, because the archive may hang. */
export class RaisedAlerts {
  #readAt = Number.NEGATIVE_INFINITY;
  #serverIds: readonly string[] = [];

  constructor(
    private readonly archive: Pick<AlertRuleStore, "listAlertStates">,
    private readonly servers: Pick<ServerStore, "find">,
  ) {}

  /** Without a beginning: what is remembered of an alert does not tell when it was raised. */
  listNotices(now: number, nameServers: NameServers): NoticeFacts[] {
    if (Math.abs(now - this.#readAt) >= READ_RAISED_MS) {
      this.#readAt = now;
      void this.#read();
    }
    const raised = this.#serverIds.filter((serverId) => this.servers.find(serverId));
    return raised.length === 0 ? [] : [{ code: "alerts_raised", ...listNoticeServers(raised, nameServers) }];
  }

  /** What was known stays while the archive is away, which has a notice of its own. */
  async #read(): Promise<void> {
    const states = await this.archive.listAlertStates().catch(() => undefined);
    if (states) this.#serverIds = states.filter((one) => hasRaised(one.states)).map(({ serverId }) => serverId);
  }
}
