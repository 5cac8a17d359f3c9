// The feed of one server: reads what is recorded once, for all streams that have reached the newest place. It exists while
// the server has a stream.
import { StoreUnavailable } from "../../core/errors.ts";
import type { LedgerPosition } from "../../core/events/cursor.ts";
import { filterAll } from "../../core/events/event-types.ts";
import type { Archive, LedgerPage, PageStart } from "../../core/ports/archive.ts";
import type { SleepUntilWoken } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import { EventBatch, type NamedFilter, nameFilter } from "./event-batch.ts";
import type { EventNotifier, Waiter } from "./event-notifier.ts";

/** Events of one read. */
export const FEED_PAGE_MAX = 200;
/** After each read the feed waits for so long, so that events that come one by one are sent together. */
export const GATHER_MS = 50;
/** How long to wait before an archive that did not answer is asked again. */
export const RETRY_MS = 500;

/** A page whose events are ready to be sent. */
export type BatchPage =
  | { readonly batch: EventBatch; readonly previous: LedgerPosition; readonly hasMore: boolean }
  | { readonly oldest: LedgerPosition };

/** A stream of the feed's server. */
export interface FeedMember {
  /** The place that it has read. */
  readonly place: LedgerPosition;
  /** Events that were just recorded, for a stream at the newest place. */
  take(batch: EventBatch): void;
  /** From now on the stream reads the ledger by itself. */
  fallBehind(): void;
}

export type FeedDeps = {
  readonly serverId: string;
  readonly archive: Pick<Archive, "readPage">;
  readonly notifier: EventNotifier;
  readonly pause: SleepUntilWoken;
  readonly log: Pick<Log, "error">;
  /** Called when the last stream has left. */
  readonly onEmpty: () => void;
};

export class ServerFeed {
  readonly serverId: string;
  readonly #waiter: Waiter;
  readonly #ended = new AbortController();
  /** Streams of this server, and those that are being opened. */
  #members = 0;
  readonly #live = new Set<FeedMember>();
  /** The place up to which the live streams were given events; undefined while there are none. */
  #last: LedgerPosition | undefined;
  #isFollowing = false;
  /** Reads under way, by place and filter: readers at the same place share one. */
  readonly #reads = new Map<string, Promise<BatchPage>>();

  constructor(private readonly deps: FeedDeps) {
    this.serverId = deps.serverId;
    this.#waiter = deps.notifier.open(deps.serverId);
  }

  /** The number of the newest event that it knows of. */
  get newestNumber(): number {
    return Math.max(this.#last?.number ?? 0, this.#waiter.newest);
  }

  /** Every call is followed by one of `leave` or `release`. */
  hold(): void {
    this.#members++;
  }

  release(): void {
    if (--this.#members > 0) return;
    this.#ended.abort();
    this.#waiter.close();
    this.deps.onEmpty();
  }

  leave(stream: FeedMember): void {
    this.leaveLive(stream);
    this.release();
  }

  /** False when the stream has not reached the newest place. */
  joinLive(stream: FeedMember): boolean {
    const { place } = stream;
    if (this.#live.size === 0) {
      this.#last = undefined;
      // Its page may be older than the place behind which the feed waits for events.
      if (this.#isFollowing) this.#waiter.ring();
    }
    if (this.#last && !hasReached(place, this.#last)) return false;
    this.#last ??= place;
    this.#live.add(stream);
    if (!this.#isFollowing) void this.#follow();
    return true;
  }

  leaveLive(stream: FeedMember): void {
    this.#live.delete(stream);
  }

  /** Undefined when the feed has ended. Waits while the archive does not answer. */
  async readPage(after: LedgerPosition, filter: NamedFilter): Promise<BatchPage | undefined> {
    const { pause } = this.deps;
    while (!this.#ended.signal.aborted) {
      try {
        return await this.#shareRead(after, filter);
      } catch (error) {
        this.#logFault(error);
        await pause(RETRY_MS, this.#ended.signal);
      }
    }
    return undefined;
  }

  /** The first page of a stream. Throws when the archive does not answer. */
  readFirst(start: PageStart, filter: NamedFilter): Promise<BatchPage> {
    if ("after" in start && typeof start.after === "object") return this.#shareRead(start.after, filter);
    return this.#read(start, filter);
  }

  #shareRead(after: LedgerPosition, filter: NamedFilter): Promise<BatchPage> {
    const name = `${after.number} ${after.mark} ${filter.name}`;
    const known = this.#reads.get(name);
    if (known) return known;
    const read = this.#read({ after }, filter).finally(() => this.#reads.delete(name));
    this.#reads.set(name, read);
    return read;
  }

  async #read(start: PageStart, { kinds }: NamedFilter): Promise<BatchPage> {
    const { archive, serverId } = this.deps;
    const page = await archive.readPage({ serverId, start, filter: kinds, limit: FEED_PAGE_MAX });
    return this.#toBatch(page);
  }

  #toBatch(page: LedgerPage): BatchPage {
    if ("expired" in page) return { oldest: page.oldest };
    const { events, next, previous, hasMore } = page;
    return { batch: new EventBatch(this.serverId, events, next), previous, hasMore };
  }

  /** Gives the live streams what is recorded, until there are none. */
  async #follow(): Promise<void> {
    const { pause } = this.deps;
    const { signal } = this.#ended;
    this.#isFollowing = true;
    while (this.#last && this.#live.size > 0) {
      await this.#waiter.wait(this.#last.number, signal);
      if (signal.aborted) break;
      await this.#readNew();
      await pause(GATHER_MS, signal);
    }
    this.#isFollowing = false;
    this.#last = undefined;
  }

  async #readNew(): Promise<void> {
    for (let hasMore = true; hasMore && this.#live.size > 0 && this.#last; ) {
      const from = this.#last;
      const page = await this.readPage(from, ALL);
      if (!page) return;
      // Others are live now, and may need what was recorded before this page.
      if (this.#last !== from) continue;
      if ("oldest" in page) {
        // The archive was replaced or restored: each stream finds out from its own place.
        this.#last = undefined;
        for (const stream of [...this.#live]) stream.fallBehind();
        return;
      }
      this.#last = page.batch.place;
      for (const stream of [...this.#live]) stream.take(page.batch);
      hasMore = page.hasMore;
    }
  }

  #logFault(error: unknown): void {
    // While the archive is away there is nothing to read; streams go on when it is back.
    if (!(error instanceof StoreUnavailable)) this.deps.log.error({ err: error }, "reading events failed");
  }
}

const ALL = nameFilter(filterAll());

function hasReached(place: LedgerPosition, last: LedgerPosition): boolean {
  return place.number > last.number || (place.number === last.number && place.mark === last.mark);
}
