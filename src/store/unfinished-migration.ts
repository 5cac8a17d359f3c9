// Marks a store while a migration writes to it, so that Gatehouse does not start on a half-filled store.
import { StartRefused } from "../core/errors.ts";
import type { SettingStore } from "../core/ports/settings.ts";

const SETTING = "migration";
const UNFINISHED = "unfinished";

export function markMigration(settings: SettingStore, isFinished: boolean): Promise<void> {
  return settings.save(SETTING, isFinished ? "finished" : UNFINISHED);
}

export async function refuseUnfinished(settings: SettingStore): Promise<void> {
  if ((await settings.find(SETTING)) === UNFINISHED)
    throw new StartRefused(
      "a migration into this store was not finished, so data is missing — empty the store and run gatehouse migrate again",
    );
}
