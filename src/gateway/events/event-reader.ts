// Reads pages of a ledger, and waits for new events when there are none yet.
import type { Refusal } from "../../core/errors.ts";
import type { Archive, LedgerPage, PageRequest, PageStart } from "../../core/ports/archive.ts";
import type { SleepUntilWoken } from "../../core/ports/clock.ts";
import type { EventBell, Waiter } from "./event-bell.ts";
import { type StreamSlots, TOO_MANY_STREAMS } from "./stream-slots.ts";

/** How often it is checked whether a reader that waits may still read. */
export const RECHECK_MS = 1_000;

/** `newest`: the newest events, and on from there. */
export type EventQuery = Omit<PageRequest, "start"> & { readonly start: PageStart | "newest" };

/** How long a reader waits, and what ends its wait before. */
export type WaitOptions = {
  readonly waitMs: number;
  /** Undefined for an operator. */
  readonly keyId: string | undefined;
  /** Aborted when the reader has gone. */
  readonly signal: AbortSignal;
  /** The wait ends when this says false. */
  readonly mayGoOn: () => Promise<boolean>;
};

export type EventReaderParts = {
  readonly archive: Pick<Archive, "readPage">;
  readonly bell: EventBell;
  readonly slots: StreamSlots;
  readonly pause: SleepUntilWoken;
};

export class EventReader {
  readonly #parts: EventReaderParts;
  readonly #stopped = new AbortController();

  constructor(parts: EventReaderParts) {
    this.#parts = parts;
  }

  /** How many readers wait for events. */
  waitingReads = 0;

  /** The page as it is now. */
  async read({ start, ...rest }: EventQuery): Promise<LedgerPage> {
    const { archive } = this.#parts;
    if (start !== "newest") return archive.readPage({ ...rest, start });
    const page = await archive.readPage({ ...rest, start: { before: "now" } });
    // Nothing follows the newest events.
    return "expired" in page ? page : { ...page, hasMore: false };
  }

  /** The page as soon as it has an event, at the latest after `waitMs`. */
  async readOrWait(query: EventQuery, options: WaitOptions): Promise<LedgerPage | Refusal> {
    const { bell, slots } = this.#parts;
    if (options.waitMs === 0 || this.#stopped.signal.aborted) return this.read(query);
    const waiter = bell.open(query.serverId);
    try {
      const page = await this.read(query);
      if (!isEmpty(page)) return page;
      if (!slots.take(options.keyId)) return TOO_MANY_STREAMS;
      this.waitingReads++;
      try {
        return await this.#wait(query, page.next, waiter, options);
      } finally {
        this.waitingReads--;
        slots.release(options.keyId);
      }
    } finally {
      waiter.close();
    }
  }

  /** Waiting readers are answered at once, and nobody waits from now on. */
  stop(): void {
    this.#stopped.abort();
  }

  async #wait(
    query: EventQuery,
    from: NextPlace,
    waiter: Waiter,
    { waitMs, signal, mayGoOn }: WaitOptions,
  ): Promise<LedgerPage> {
    const { pause } = this.#parts;
    const ended = new AbortController();
    const end = () => ended.abort();
    const endings = [signal, this.#stopped.signal];
    for (const ending of endings) {
      ending.addEventListener("abort", end, { once: true });
      if (ending.aborted) end();
    }
    void pause(waitMs, ended.signal).then(end);
    void this.#recheck(mayGoOn, ended);
    try {
      let next = from;
      for (;;) {
        await waiter.wait(next.number, ended.signal);
        // Looks once more after the end too: a failed poll may have missed something.
        const page = await this.read({ ...query, start: { after: next } });
        if (!isEmpty(page) || ended.signal.aborted) return page;
        next = page.next;
      }
    } finally {
      end();
      for (const ending of endings) ending.removeEventListener("abort", end);
    }
  }

  async #recheck(mayGoOn: () => Promise<boolean>, ended: AbortController): Promise<void> {
    const { pause } = this.#parts;
    for (;;) {
      await pause(RECHECK_MS, ended.signal);
      if (ended.signal.aborted) return;
      // When it cannot be told, the wait ends, and the one who answers asks again.
      if (!(await mayGoOn().catch(() => false))) ended.abort();
    }
  }
}

type GoodPage = Exclude<LedgerPage, { readonly expired: true }>;
type NextPlace = GoodPage["next"];

/** Whether there is nothing to tell the reader yet: no event, nothing to go on with, and a cursor that holds. */
function isEmpty(page: LedgerPage): page is GoodPage {
  return !("expired" in page) && page.events.length === 0 && !page.hasMore;
}
