// Where the alert rules of each server are kept: in its memory, beside the ledger that they are judged on.
import type { AlertRules } from "../alerts/rules.ts";

/** Every method throws StoreUnavailable when the archive cannot answer within its deadline. */
export interface AlertRuleStore {
  /** NO_ALERTS for a server without a ledger. */
  readAlertRules(serverId: string): Promise<AlertRules>;
  /**
   * Replaces all rules, and creates the ledger when there is none. The version of the server changes with them, so that a
   * writer that knows the former rules has to load the memory again.
   */
  setAlertRules(serverId: string, rules: AlertRules): Promise<void>;
}
