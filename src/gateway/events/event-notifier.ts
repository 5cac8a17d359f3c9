// Wakes readers that wait for events. Events that this instance records ring at once; those of other instances are found by
// asking the archive, with one query for all servers that somebody waits for.
import { StoreUnavailable } from "../../core/errors.ts";
import type { Archive } from "../../core/ports/archive.ts";
import type { SleepUntilWoken } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";

/** How often the archive is asked while somebody waits. */
export const POLL_MS = 500;

export type EventBellDeps = {
  readonly archive: Pick<Archive, "findLast">;
  readonly pause: SleepUntilWoken;
  readonly log: Pick<Log, "error">;
};

/** One reader that waits for events of one server. Opened before the reader looks, so that nothing in between is missed. */
export class Waiter {
  #rung = Promise.withResolvers<void>();
  /** The number of the newest event when the reader looked; undefined before it has looked. */
  #seen: number | undefined;
  /** The number of the newest event when the archive was last asked. */
  newest = 0;

  constructor(
    readonly serverId: string,
    private readonly onClosed: (waiter: Waiter) => void,
  ) {}

  /** Resolves when there may be events after the number `seen`, or when the signal is aborted. */
  async wait(seen: number, ended: AbortSignal): Promise<void> {
    this.#seen = seen;
    const { promise, resolve } = this.#rung;
    const end = () => resolve();
    if (ended.aborted) return;
    ended.addEventListener("abort", end, { once: true });
    await promise;
    ended.removeEventListener("abort", end);
    // Before the reader looks again, so that what is recorded meanwhile rings.
    this.#rung = Promise.withResolvers<void>();
    this.#seen = undefined;
  }

  ring(): void {
    this.#rung.resolve();
  }

  ringIfNew(last: number): void {
    this.newest = last;
    if (this.#seen !== undefined && this.#seen !== last) this.ring();
  }

  close(): void {
    this.onClosed(this);
  }
}

export class EventNotifier {
  readonly #waiters = new Map<string, Set<Waiter>>();
  /** Ends the pause between two polls when nobody waits any more. */
  #idle: AbortController | undefined;

  constructor(private readonly deps: EventBellDeps) {}

  /** The caller closes the waiter. */
  open(serverId: string): Waiter {
    const waiter = new Waiter(serverId, (closed) => this.#remove(closed));
    const ofServer = this.#waiters.get(serverId);
    if (ofServer) ofServer.add(waiter);
    else this.#waiters.set(serverId, new Set([waiter]));
    if (!this.#idle) {
      this.#idle = new AbortController();
      void this.#poll(this.#idle.signal);
    }
    return waiter;
  }

  /** Events of this server were recorded. */
  ring(serverId: string): void {
    for (const waiter of this.#waiters.get(serverId) ?? []) waiter.ring();
  }

  #remove(waiter: Waiter): void {
    const ofServer = this.#waiters.get(waiter.serverId);
    ofServer?.delete(waiter);
    if (ofServer?.size === 0) this.#waiters.delete(waiter.serverId);
    if (this.#waiters.size > 0) return;
    this.#idle?.abort();
    this.#idle = undefined;
  }

  async #poll(idle: AbortSignal): Promise<void> {
    const { archive, pause, log } = this.deps;
    for (;;) {
      await pause(POLL_MS, idle);
      if (idle.aborted) return;
      try {
        const asked = [...this.#waiters.keys()];
        const last = await archive.findLast(asked);
        for (const serverId of asked) {
          for (const waiter of this.#waiters.get(serverId) ?? []) waiter.ringIfNew(last.get(serverId)?.number ?? 0);
        }
      } catch (error) {
        // While the archive is away there is nothing new to read; readers wait on.
        if (!(error instanceof StoreUnavailable)) log.error({ err: error }, "asking for new events failed");
      }
    }
  }
}
