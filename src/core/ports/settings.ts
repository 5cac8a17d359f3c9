// Named values for internal use.
import type { AuditNote } from "./audit.ts";

export interface SettingStore {
  find(name: string): Promise<string | undefined>;
  save(name: string, value: string): Promise<void>;
  /** For a setting that is an operator's change: saves it together with the audit entry about `target`. */
  saveAudited(name: string, value: string, target: string, note: AuditNote): Promise<void>;
  /** Saves the value unless the setting exists already. Returns the value that is stored afterwards. */
  saveIfAbsent(name: string, value: string): Promise<string>;
}
