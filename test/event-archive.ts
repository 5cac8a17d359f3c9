// Archives for tests: the embedded one without its thread or with it, and pauses that end when the test says so.
import type { NewEvent } from "../src/core/events/new-event.ts";
import { NO_HISTORY } from "../src/core/history/history.ts";
import type { Archive } from "../src/core/ports/archive.ts";
import { ARCHIVE_METHODS, type ArchiveMethod, callArchive } from "../src/core/ports/archive-calls.ts";
import { createArchive } from "../src/database/archive/archive.ts";
import { type EmbeddedArchive, openEmbeddedArchive } from "../src/database/archive/embedded-archive.ts";
import { openArchiveFile } from "../src/database/archive/open-archive-file.ts";
import { SqliteDriver } from "../src/database/sqlite.ts";
import { startArchiveThread } from "../src/threads.ts";

export const EVENT_AT = 1_800_000_000_000;

/** Only a failure reaches it. */
const PATIENCE_MS = 60_000;

/** With its threads, which a busy machine may start late. */
export function openThreadedArchive(path: string, startThread = startArchiveThread): EmbeddedArchive {
  return openEmbeddedArchive(path, startThread, PATIENCE_MS);
}

/** An archive on this thread. */
export function openLocalArchive(path: string): Archive {
  const driver = new SqliteDriver(openArchiveFile(path));
  return createArchive(driver, { close: async () => driver.close() });
}

/** An archive whose methods all lead to `call`, which a test may replace, like each of the methods. */
abstract class CalledArchive {
  abstract call(method: ArchiveMethod, args: readonly unknown[]): Promise<unknown>;
}
for (const method of ARCHIVE_METHODS) {
  Object.defineProperty(CalledArchive.prototype, method, {
    writable: true,
    value(this: CalledArchive, ...args: readonly unknown[]) {
      return this.call(method, args);
    },
  });
}
/** The same, with the types of the methods. */
export const TestArchive = CalledArchive as unknown as abstract new () => CalledArchive & Archive;

export class MemoryArchive extends TestArchive {
  readonly #archive = openLocalArchive(":memory:");
  /** Thrown by every query, when it is set. */
  fault: Error | undefined;
  /** The servers of each call of findLast. */
  readonly asked: (readonly string[])[] = [];
  /** Called after a page was read and before it is given to the reader. */
  onPageRead: (() => Promise<void>) | undefined;

  async call(method: ArchiveMethod, args: readonly unknown[]): Promise<unknown> {
    if (method === "findLast") this.asked.push(args[0] as readonly string[]);
    if (method === "close") return undefined;
    if (this.fault) throw this.fault;
    const answer = await callArchive(this.#archive, method, args);
    if (method === "readPage") await this.onPageRead?.();
    return answer;
  }

  /** Records events as a reading would. */
  async add(serverId: string, ...events: NewEvent[]): Promise<void> {
    const { version } = await this.load(serverId);
    await this.record([{ serverId, version, events, memory: [], history: NO_HISTORY, stillShown: [], now: EVENT_AT }]);
  }
}
export function makeEvent(n: number, changes: Partial<NewEvent> = {}): NewEvent {
  return {
    type: "player.killed",
    at: EVENT_AT + n,
    seenAt: EVENT_AT + n,
    source: "log",
    isBackfill: false,
    data: `{"Killed":"B:${n}","Timestamp":1800000000,"Killer":"A:12345678901234567890"}`,
    meta: null,
    section: null,
    identity: null,
    players: [String(n)],
    ...changes,
  };
}

type HeldPause = { readonly ms: number; readonly resolve: () => void };

/** Pauses that last until the test ends them. */
export class HeldPauses {
  #held: HeldPause[] = [];
  #changed = Promise.withResolvers<void>();

  readonly pause = (ms: number, wake: AbortSignal): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const held = { ms, resolve };
    if (wake.aborted) return Promise.resolve();
    this.#change([...this.#held, held]);
    wake.addEventListener("abort", () => this.#end([held]));
    return promise;
  };

  /** The lengths of the pauses that last. */
  get lengths(): number[] {
    return this.#held.map(({ ms }) => ms);
  }

  /** Resolves when so many pauses of this length last. */
  async reach(ms: number, count = 1): Promise<void> {
    while (this.lengths.filter((one) => one === ms).length < count) await this.#changed.promise;
  }

  end(ms: number): void {
    this.#end(this.#held.filter((held) => held.ms === ms));
  }

  #end(ended: readonly HeldPause[]): void {
    this.#change(this.#held.filter((held) => !ended.includes(held)));
    for (const { resolve } of ended) resolve();
  }

  #change(held: HeldPause[]): void {
    this.#held = held;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
