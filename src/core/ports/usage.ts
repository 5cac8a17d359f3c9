// How much each key is used: requests and refusals by hour, and the time of the last use.

/** What one key did in one hour since it was last reported. Code 0 stands for answers without an error. */
export type UsageCell = {
  readonly keyId: string;
  /** The beginning of the hour. */
  readonly hour: number;
  readonly lastUsedAt: number;
  readonly counts: ReadonlyMap<number, number>;
};

export type UsageCount = { readonly hour: number; readonly code: number; readonly count: number };

export interface UsageStore {
  /**
   * Adds the cells to the stored counts and ignores cells of keys that no longer exist. Resolves with the cells that
   * could not be added now, while others were: one node of a cluster may be down.
   */
  add(cells: readonly UsageCell[]): Promise<readonly UsageCell[]>;
  /** From the hour that begins at `since` on, oldest first. */
  read(keyId: string, since: number): Promise<readonly UsageCount[]>;
}
