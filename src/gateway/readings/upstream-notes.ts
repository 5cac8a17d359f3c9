// Saves pauses and refused keys in the database, so that they survive a restart and every instance knows them: the game API
// bans clients that call during a pause or with a refused key.
import type { Log } from "../../core/ports/log.ts";
import type { Store } from "../../core/ports/store.ts";
import {
  type GlobalKeyFailure,
  NOTE_NAMES,
  PAUSE,
  parseNote,
  parseNotes,
  REFUSED_GLOBAL_KEY,
  REFUSED_KEYS,
  type RefusedKey,
  type SavedNotes,
  type SavedPause,
  writeNote,
} from "../../core/readings/upstream-notes.ts";

const RETRY_MS = 1_000;

type NotesStore = Pick<Store, "servers" | "settings">;
/** Makes the new text of a note from the saved one. */
type Change = (text: string | undefined) => string | undefined;

export class UpstreamNotes {
  /** Changes that are not saved yet, by the name of the note. */
  readonly #unsaved = new Map<string, Change>();
  #saves = 0;
  #saving: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  /** Called when another instance has changed the notes. */
  onNews: ((saved: SavedNotes) => void) | undefined;

  static async open(store: NotesStore, identity: string, log: Log): Promise<UpstreamNotes> {
    return new UpstreamNotes(store, identity, log, await readNotes(store, identity));
  }

  private constructor(
    private readonly store: NotesStore,
    private readonly identity: string,
    private readonly log: Log,
    private known: SavedNotes,
  ) {}

  /** As they were read last. */
  get saved(): SavedNotes {
    return this.known;
  }

  /** Of two pauses, the one that ends later stays. One that has no end was lifted. */
  savePause(pause: SavedPause): void {
    this.#save(PAUSE, (text) => {
      const saved = parseNote<SavedPause>(text, this.identity);
      const isShorter = pause.pausedUntil > 0 && saved && saved.pausedUntil >= pause.pausedUntil;
      return isShorter ? undefined : writeNote(this.identity, pause);
    });
  }

  /** The keys that this instance knows to be refused. Those that another instance has saved meanwhile stay. */
  saveRefusedKeys(keys: readonly RefusedKey[]): void {
    const known = this.known.refusedKeys;
    const added = keys.filter((key) => !known.some((other) => isSameKey(key, other)));
    const removed = known.filter((key) => !keys.some((other) => isSameKey(key, other)));
    if (added.length === 0 && removed.length === 0) return;
    this.known = { ...this.known, refusedKeys: keys };
    this.#saveAfter(REFUSED_KEYS, (text) => {
      const saved = parseNote<RefusedKey[]>(text, this.identity) ?? [];
      const changed = [...added, ...removed];
      const others = saved.filter((key) => !changed.some((other) => isSameKey(key, other)));
      return writeNote(this.identity, [...others, ...added]);
    });
  }

  saveGlobalKeyFailure(failure: GlobalKeyFailure | null): void {
    this.#save(REFUSED_GLOBAL_KEY, () => writeNote(this.identity, failure));
  }

  /** Reads what other instances have saved. What this one could not save yet counts for more. */
  async catchUp(): Promise<void> {
    await this.#saving;
    const saves = this.#saves;
    const saved = await readNotes(this.store, this.identity);
    // A change of this instance since then may be missing. It is followed by a call of its own.
    if (this.#unsaved.size > 0 || this.#saves !== saves) return;
    this.known = saved;
    this.onNews?.(saved);
  }

  #saveAfter(name: string, change: Change): void {
    const before = this.#unsaved.get(name);
    this.#save(name, before ? (text) => change(before(text) ?? text) : change);
  }

  #save(name: string, change: Change): void {
    this.#saves++;
    this.#unsaved.set(name, change);
    this.#saving ??= this.#saveAll().finally(() => {
      this.#saving = undefined;
    });
  }

  /** Tried again each second, because a restart, and every other instance, would call where it must not. */
  async #saveAll(): Promise<void> {
    try {
      // One that comes meanwhile, also for the same name, has its turn too.
      for (let next = this.#takeNext(); next; next = this.#takeNext()) {
        const [name, change] = next;
        await this.store.settings.amend(name, change);
        if (this.#unsaved.get(name) === change) this.#unsaved.delete(name);
      }
    } catch (error) {
      if (!this.#retry)
        this.log.warn(
          { err: error },
          "a pause or refused key of the game API could not be saved: a restart would forget it",
        );
      clearTimeout(this.#retry);
      this.#retry = setTimeout(() => this.#saveAgain(), RETRY_MS);
      this.#retry.unref();
    }
  }

  #takeNext(): [string, Change] | undefined {
    return this.#unsaved.entries().next().value;
  }

  #saveAgain(): void {
    this.#saving ??= this.#saveAll().finally(() => {
      this.#saving = undefined;
      if (this.#unsaved.size === 0) this.#retry = undefined;
    });
  }
}

async function readNotes({ servers, settings }: NotesStore, identity: string): Promise<SavedNotes> {
  const texts = new Map<string, string | undefined>();
  for (const name of NOTE_NAMES) texts.set(name, await settings.find(name));
  return parseNotes(
    (name) => texts.get(name),
    (serverId) => servers.find(serverId)?.keyRevision,
    identity,
  );
}

function isSameKey(key: RefusedKey, other: RefusedKey): boolean {
  return key.serverId === other.serverId && key.keyRevision === other.keyRevision;
}
