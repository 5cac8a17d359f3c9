// Saves pauses and refused keys in the store, so that they survive a restart: the game API bans clients that call during a
// pause or with a refused key. Used by a single instance only; instances on one Redis share this through RelayShare.
import type { Log } from "../../core/ports/log.ts";
import type { Store } from "../../core/ports/store.ts";
import type { UpstreamFailure } from "../../core/ports/upstream.ts";
import {
  NOTE_NAMES,
  PAUSE,
  parseNotes,
  REFUSED_GLOBAL_KEY,
  REFUSED_KEYS,
  type RefusedKey,
  type SavedNotes,
  type SavedPause,
  writeNote,
} from "../../core/upstream-notes.ts";

type NotesStore = Pick<Store, "servers" | "settings">;

export class UpstreamNotes implements SavedNotes {
  /** The values below are those that were saved before the start. */
  readonly pause: SavedPause | undefined;
  readonly refusedKeys: readonly RefusedKey[];
  readonly globalKeyFailure: UpstreamFailure | null;
  readonly #settings: NotesStore["settings"];
  readonly #identity: string;
  readonly #log: Log;

  static async open({ servers, settings }: NotesStore, identity: string, log: Log): Promise<UpstreamNotes> {
    const texts = new Map<string, string | undefined>();
    for (const name of NOTE_NAMES) texts.set(name, await settings.find(name));
    const saved = parseNotes(
      (name) => texts.get(name),
      (serverId) => servers.find(serverId)?.keyRevision,
      identity,
    );
    return new UpstreamNotes(settings, identity, log, saved);
  }

  private constructor(settings: NotesStore["settings"], identity: string, log: Log, saved: SavedNotes) {
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
    this.#settings.save(name, writeNote(this.#identity, said)).catch((error) => {
      this.#log.warn(
        { err: error },
        "a pause or refused key of the game API could not be saved: a restart would forget it",
      );
    });
  }
}
