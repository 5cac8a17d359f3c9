// A migration that was interrupted leaves a store that looks whole and is not: it is marked until the last item has arrived.
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
      "a migration into this store was not finished, so a part is missing — empty the store and run gatehouse migrate again",
    );
}
