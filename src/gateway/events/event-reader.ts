// Reads pages of a ledger, and waits for new events when there are none yet.
import type { Refusal } from "../../core/errors.ts";
import type { HiddenSet } from "../../core/keys/rights.ts";
import type { Archive, LedgerPage, PageRequest, PageStart } from "../../core/ports/archive.ts";
import type { SleepUntilWoken } from "../../core/ports/clock.ts";
import { hideInEvent } from "../../core/readings/hide-fields.ts";
import { type WaitOptions, waitBounded } from "./bounded-wait.ts";
import type { EventNotifier, Waiter } from "./event-notifier.ts";
import { type StreamSlots, TOO_MANY_STREAMS } from "./stream-slots.ts";

/** `newest`: the newest events, and on from there. */
export type EventQuery = Omit<PageRequest, "start"> & {
  readonly start: PageStart | "newest";
  readonly hide: HiddenSet;
};

export type EventReaderDeps = {
  readonly archive: Pick<Archive, "readPage">;
  readonly notifier: EventNotifier;
  readonly slots: StreamSlots;
  readonly pause: SleepUntilWoken;
};

export class EventReader {
  readonly #stopped = new AbortController();

  constructor(private readonly deps: EventReaderDeps) {}

  /** How many readers wait for events. */
  waitingReads = 0;

  /** The page as it is now. */
  async read({ start, hide, ...rest }: EventQuery): Promise<LedgerPage> {
    const isNewest = start === "newest";
    const page = await this.deps.archive.readPage({ ...rest, start: isNewest ? { before: "now" } : start });
    if ("expired" in page) return page;
    const events = hide === 0 ? page.events : page.events.flatMap((event) => hideInEvent(event, hide) ?? []);
    // Nothing follows the newest events.
    return { ...page, events, hasMore: page.hasMore && !isNewest };
  }

  /** The page as soon as it has an event, at the latest after `waitMs`. */
  async readOrWait(query: EventQuery, options: WaitOptions): Promise<LedgerPage | Refusal> {
    const { notifier, slots } = this.deps;
    if (options.waitMs === 0 || this.#stopped.signal.aborted) return this.read(query);
    const waiter = notifier.open(query.serverId);
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

  #wait(query: EventQuery, from: NextPlace, waiter: Waiter, options: WaitOptions): Promise<LedgerPage> {
    return waitBounded(options, this.#stopped.signal, this.deps.pause, async (ended) => {
      let next = from;
      for (;;) {
        await waiter.wait(next.number, ended);
        // Looks once more after the end too: a failed poll may have missed something.
        const page = await this.read({ ...query, start: { after: next } });
        if (!isEmpty(page) || ended.aborted) return page;
        next = page.next;
      }
    });
  }
}

type GoodPage = Exclude<LedgerPage, { readonly expired: true }>;
type NextPlace = GoodPage["next"];

/** Whether there is nothing to tell the reader yet: no event, nothing to go on with, and a cursor that holds. */
function isEmpty(page: LedgerPage): page is GoodPage {
  return !("expired" in page) && page.events.length === 0 && !page.hasMore;
}
