// What the game API has forbidden outlives the process: to ask during a pause, or with a key that was refused, is what it bans
// for. Instances on one Redis share what they know; one alone notes it in its store.
import type { Log, Store, UpstreamFailure } from "../core/ports.ts";
import { hashToken } from "../core/token.ts";

const PAUSE = "upstream-pause";
const REFUSED_KEYS = "refused-server-keys";

export type RefusedKey = {
  readonly serverId: string;
  readonly keyRevision: number;
  readonly failure: UpstreamFailure;
};

export type UpstreamNotes = {
  /** As they were noted last; 0 for no pause. */
  readonly pausedUntil: number;
  readonly refusedKeys: readonly RefusedKey[];
  savePause(until: number): void;
  saveRefusedKeys(keys: readonly RefusedKey[]): void;
};

/** `url` tells which game API has said it: another one has said nothing yet. */
export async function openUpstreamNotes(
  store: Pick<Store, "findServer" | "findSetting" | "saveSetting">,
  url: string,
  log: Log,
): Promise<UpstreamNotes> {
  const mark = hashToken(url);

  async function find<T>(name: string): Promise<T | undefined> {
    const noted = await store.findSetting(name);
    const { by, said } = noted === undefined ? {} : (JSON.parse(noted) as { by?: string; said?: T });
    return by === mark ? said : undefined;
  }
  function save(name: string, said: unknown): void {
    store.saveSetting(name, JSON.stringify({ by: mark, said })).catch((error) => {
      log.warn({ err: error }, "what the game API forbids could not be noted: a restart would forget it");
    });
  }
  const refused = (await find<RefusedKey[]>(REFUSED_KEYS)) ?? [];
  return {
    pausedUntil: (await find<number>(PAUSE)) ?? 0,
    // A key that was set anew since is not the one that was refused.
    refusedKeys: refused.filter(({ serverId, keyRevision }) => {
      return store.findServer(serverId)?.keyRevision === keyRevision;
    }),
    savePause: (until) => save(PAUSE, until),
    saveRefusedKeys: (keys) => save(REFUSED_KEYS, keys),
  };
}
