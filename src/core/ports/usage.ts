// How much each key is used: requests and refusals by hour, and the time of the last use.

/** The use of one key in one hour that is not written yet. Code 0 counts answers without an error. */
export type HourlyUsage = {
  readonly keyId: string;
  /** The beginning of the hour. */
  readonly hour: number;
  readonly lastUsedAt: number;
  readonly counts: ReadonlyMap<number, number>;
};

export type UsageCount = { readonly hour: number; readonly code: number; readonly count: number };

export interface UsageStore {
  /**
   * Adds to the stored counts, and ignores keys that do not exist. Resolves with the entries that could not be added
   * while others were: one node of a cluster may be down. Until it resolves, reads may or may not include the entries.
   */
  add(entries: readonly HourlyUsage[]): Promise<readonly HourlyUsage[]>;
  /** From the hour that begins at `since` on, oldest first. */
  read(keyId: string, since: number): Promise<readonly UsageCount[]>;
}
