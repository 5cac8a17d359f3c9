// A pause that the game API has ordered outlives the process: to ask sooner after a restart is what it bans for. Instances on one
// Redis share theirs; one alone notes it in its store.
import type { Log, Store } from "../core/ports.ts";
import { hashToken } from "../core/token.ts";

const SETTING = "upstream-pause";

export type PauseNote = {
  /** When the pause ends that was noted last; 0 for none. */
  readonly until: number;
  save(until: number): void;
};

/** `url` tells whose pause it is: another game API has ordered none. */
export async function openPauseNote(
  store: Pick<Store, "findSetting" | "saveSetting">,
  url: string,
  log: Log,
): Promise<PauseNote> {
  const mark = hashToken(url);
  const [noted = "", whose] = ((await store.findSetting(SETTING)) ?? "").split(" ");
  return {
    until: whose === mark ? Number(noted) : 0,
    save(until) {
      store.saveSetting(SETTING, `${until} ${mark}`).catch((error) => {
        log.warn({ err: error }, "a pause of the game API could not be noted: a restart would forget it");
      });
    },
  };
}
