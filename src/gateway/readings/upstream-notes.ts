// What the game API has forbidden outlives the process: to ask during a pause, or with a key that was refused, is what it bans
// for. Instances on one Redis share what they know; one alone notes it in its store.
import type { Budget } from "../../core/budget.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Store } from "../../core/ports/store.ts";
import type { UpstreamFailure } from "../../core/ports/upstream.ts";
import { hashToken } from "../../core/token.ts";

const PAUSE = "upstream-pause";
const REFUSED_KEYS = "refused-server-keys";

export type RefusedKey = {
  readonly serverId: string;
  readonly keyRevision: number;
  readonly failure: UpstreamFailure;
};

export type Pause = Pick<Budget, "pausedUntil" | "pauseMs">;

type NotesStore = Pick<Store, "servers" | "settings">;

export class UpstreamNotes {
  /** As they were noted last. */
  readonly pause: Pause | undefined;
  readonly refusedKeys: readonly RefusedKey[];
  readonly #settings: NotesStore["settings"];
  readonly #mark: string;
  readonly #log: Log;

  /** `identity` is how we are known to which game API: another one, or with another global key, has said nothing yet. */
  static async open({ servers, settings }: NotesStore, identity: string, log: Log): Promise<UpstreamNotes> {
    const mark = hashToken(identity);
    const refused = (await findNote<RefusedKey[]>(settings, REFUSED_KEYS, mark)) ?? [];
    // A key that was set anew since is not the one that was refused.
    const refusedKeys = refused.filter(({ serverId, keyRevision }) => {
      return servers.find(serverId)?.keyRevision === keyRevision;
    });
    const pause = await findNote<Pause>(settings, PAUSE, mark);
    return new UpstreamNotes(settings, mark, log, pause, refusedKeys);
  }

  private constructor(
    settings: NotesStore["settings"],
    mark: string,
    log: Log,
    pause: Pause | undefined,
    refusedKeys: readonly RefusedKey[],
  ) {
    this.#settings = settings;
    this.#mark = mark;
    this.#log = log;
    this.pause = pause;
    this.refusedKeys = refusedKeys;
  }

  savePause(pause: Pause): void {
    this.#save(PAUSE, pause);
  }

  saveRefusedKeys(keys: readonly RefusedKey[]): void {
    this.#save(REFUSED_KEYS, keys);
  }

  #save(name: string, said: unknown): void {
    this.#settings.save(name, JSON.stringify({ by: this.#mark, said })).catch((error) => {
      this.#log.warn(
        { err: error },
        "what the game API forbids could not be noted: a restart would forget it",
      );
    });
  }
}

async function findNote<T>(
  settings: NotesStore["settings"],
  name: string,
  mark: string,
): Promise<T | undefined> {
  const noted = await settings.find(name);
  const { by, said } = noted === undefined ? {} : (JSON.parse(noted) as { by?: string; said?: T });
  return by === mark ? said : undefined;
}
