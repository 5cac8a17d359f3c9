// A migration that was interrupted leaves a store that looks whole and is not: it is marked until the last item has arrived.
import { StartRefused } from "../core/errors.ts";
import type { Store } from "../core/ports.ts";

const SETTING = "migration";
const UNFINISHED = "unfinished";

export function markMigration(store: Pick<Store, "saveSetting">, isFinished: boolean): Promise<void> {
  return store.saveSetting(SETTING, isFinished ? "finished" : UNFINISHED);
}

export async function refuseUnfinished(store: Pick<Store, "findSetting">): Promise<void> {
  if ((await store.findSetting(SETTING)) === UNFINISHED)
    throw new StartRefused(
      "a migration into this store was not finished, so a part is missing — empty the store and run gatehouse migrate again",
    );
}
