// Saves pauses and refused keys in the store, so that they survive a restart: the game API bans clients that call during a
// pause or with a refused key. Used by a single instance only; instances on one Redis share this through RelayShare.
import type { Budget } from "../../core/budget.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Store } from "../../core/ports/store.ts";
import type { UpstreamFailure } from "../../core/ports/upstream.ts";
import { hashToken } from "../../core/token.ts";

const PAUSE = "upstream-pause";
/** When an operator last lifted a pause. Written together with the audit entry. */
export const LIFTED_AT = "upstream-lifted-at";
const REFUSED_KEYS = "refused-server-keys";
const REFUSED_GLOBAL_KEY = "refused-global-key";

export type RefusedKey = {
  readonly serverId: string;
  readonly keyRevision: number;
  readonly failure: UpstreamFailure;
};

export type SavedPause = Pick<Budget, "pausedUntil" | "pauseMs"> & Partial<Pick<Budget, "isPauseNamed">>;

/** Identifies the pair of game API and global key. Hashed, because the global key is a secret. */
export function identifyUpstream(baseUrl: string, globalKey: string | undefined): string {
  return hashToken(`${baseUrl} ${globalKey ?? ""}`);
}

type NotesStore = Pick<Store, "servers" | "settings">;

export class UpstreamNotes {
  /** The values below are those that were saved before the start. */
  readonly pause: SavedPause | undefined;
  readonly refusedKeys: readonly RefusedKey[];
  /** Null while the global key may be used. */
  readonly globalKeyFailure: UpstreamFailure | null;
  readonly #settings: NotesStore["settings"];
  readonly #identity: string;
  readonly #log: Log;

  /** Ignores what was saved for another `identity`, see identifyUpstream. */
  static async open({ servers, settings }: NotesStore, identity: string, log: Log): Promise<UpstreamNotes> {
    const refused = (await findNote<RefusedKey[]>(settings, REFUSED_KEYS, identity)) ?? [];
    // Drops the keys that were replaced since.
    const refusedKeys = refused.filter(({ serverId, keyRevision }) => {
      return servers.find(serverId)?.keyRevision === keyRevision;
    });
    const saved = await findNote<SavedPause>(settings, PAUSE, identity);
    const liftedAt = Number((await settings.find(LIFTED_AT)) ?? 0);
    // The process may have ended after a pause was lifted and before the note was deleted.
    const pause = saved && saved.pausedUntil - saved.pauseMs > liftedAt ? saved : undefined;
    const globalKeyFailure = await findNote<UpstreamFailure | null>(settings, REFUSED_GLOBAL_KEY, identity);
    return new UpstreamNotes(settings, identity, log, {
      pause,
      refusedKeys,
      globalKeyFailure: globalKeyFailure ?? null,
    });
  }

  private constructor(
    settings: NotesStore["settings"],
    identity: string,
    log: Log,
    saved: Pick<UpstreamNotes, "pause" | "refusedKeys" | "globalKeyFailure">,
  ) {
    this.#settings = settings;
    this.#identity = identity;
    this.#log = log;
    this.pause = saved.pause;
    this.refusedKeys = saved.refusedKeys;
    this.globalKeyFailure = saved.globalKeyFailure;
  }

  savePause(pause: SavedPause): void {
    this.#save(PAUSE, pause);
  }

  saveRefusedKeys(keys: readonly RefusedKey[]): void {
    this.#save(REFUSED_KEYS, keys);
  }

  saveGlobalKeyFailure(failure: UpstreamFailure | null): void {
    this.#save(REFUSED_GLOBAL_KEY, failure);
  }

  #save(name: string, said: unknown): void {
    this.#settings.save(name, JSON.stringify({ by: this.#identity, said })).catch((error) => {
      this.#log.warn(
        { err: error },
        "a pause or refused key of the game API could not be saved: a restart would forget it",
      );
    });
  }
}

async function findNote<T>(
  settings: NotesStore["settings"],
  name: string,
  identity: string,
): Promise<T | undefined> {
  const saved = await settings.find(name);
  const { by, said } = saved === undefined ? {} : (JSON.parse(saved) as { by?: string; said?: T });
  return by === identity ? said : undefined;
}
