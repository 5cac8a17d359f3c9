// Reads the ledger of a server: the newest events first, then what is new, and older pages when the user asks. New events are
// taken from the page's stream, or polled. Knows nothing of React.
import { ERRORS } from "../../../core/errors.ts";
import {
  type EventFilter,
  type GapSection,
  isEventType,
  parseTypes,
  toEventKind,
} from "../../../core/events/event-types.ts";
import { SECTIONS, toSectionSet } from "../../../core/sections.ts";
import type { EventPage, EventResource } from "../../../core/wire/event.ts";
import type { EventQuery, LedgerReader } from "../../api/caller.ts";
import type { Pace } from "../../api/pace.ts";
import type { ApiError, Outcome } from "../../api/request.ts";
import { POLL_INTERVAL_MS } from "../server/server-poll.ts";
import { addNewer, addOlder, EVENTS_MAX, type EventList, showWaiting, startList } from "./event-pages.ts";
import type { LiveStream } from "./live-stream.ts";

const PAGE_SIZE = 100;
const LARGE_PAGE_SIZE = 500;
/** A page can be empty when the filter fits none of the events that it looked at; then the next one is read at once. */
const PAGES_AT_ONCE_MAX = 10;
/** How many pages are read to find the first event of a player. */
const FIRST_PAGES_MAX = 5;
/** The ids of dropped events are forgotten when there are so many times more ids than events. */
const STALE_IDS = 2;
/** The longest wait between two polls of an archive that cannot be reached. */
const BACKOFF_MAX_MS = 60_000;

/** With `at` the list begins at that moment, and newer events are read on request only. */
export type LedgerFilter = Pick<EventQuery, "types" | "player" | "at">;

export type LedgerState = {
  /** Undefined before the first answer. */
  readonly list: EventList | undefined;
  /** Why the last poll failed. */
  readonly error: ApiError | undefined;
  /** How many polls have failed in a row. */
  readonly failures: number;
  /** How long to wait before the next poll; false when polling is of no use. */
  readonly delayMs: number | false;
};

export class LedgerFeed {
  readonly #api: LedgerReader;
  readonly #pace: Pace;
  readonly #filter: Omit<LedgerFilter, "at">;
  readonly #at: number | undefined;
  readonly #kinds: EventFilter | undefined;
  readonly #stream: Pick<LiveStream, "recent" | "cursor"> | undefined;
  readonly #max: number;
  #list: EventList | undefined;
  #failures = 0;
  #ids = new Set<string>();
  #isJoined = false;
  #isBehind = true;
  #isHeld = false;
  #hasNewer: boolean;

  /** `max` is how many events the list shows. */
  constructor(
    api: LedgerReader,
    pace: Pace,
    { at, ...filter }: LedgerFilter,
    stream?: Pick<LiveStream, "recent" | "cursor">,
    max = EVENTS_MAX,
  ) {
    this.#api = api;
    this.#pace = pace;
    this.#filter = filter;
    this.#at = at;
    this.#hasNewer = at !== undefined;
    this.#kinds = findKinds(filter.types);
    this.#stream = stream;
    this.#max = max;
  }

  /** Whether there may be new events that only a poll gets. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  get list(): EventList | undefined {
    return this.#list;
  }

  /** Whether there may be newer events that `loadNewer` reads. */
  get hasNewer(): boolean {
    return this.#hasNewer;
  }

  /**
   * While the list is held, new events wait, so that it does not move under the user. Returns whether the list has changed.
   */
  setHeld(isHeld: boolean): boolean {
    this.#isHeld = isHeld;
    const before = this.#list;
    if (!isHeld && before) this.#list = showWaiting(before);
    return this.#list !== before;
  }

  /** Reads the newest events, or those that are new since. Throws only when the signal aborts. */
  async poll(signal?: AbortSignal): Promise<LedgerState> {
    this.#isBehind = false;
    this.#isJoined = false;
    let outcome = this.#list ? await this.#readNewer(signal) : await this.#start(signal);
    if (!outcome.ok && outcome.error.code === ERRORS.cursorExpired.code) outcome = await this.#start(signal);
    const error = outcome.ok ? undefined : outcome.error;
    this.#failures = error ? this.#failures + 1 : 0;
    if (!outcome.ok || isUnfinished(outcome.value)) this.#isBehind = true;
    if (outcome.ok) this.#join();
    // Neither changes by itself while the page is open.
    const isUseless = error?.code === ERRORS.notConfigured.code || error?.code === ERRORS.sectionForbidden.code;
    return {
      list: this.#list,
      error,
      failures: this.#failures,
      delayMs: isUseless ? false : this.#pace.delayMs(this.#intervalMs(error), outcome.receivedAt),
    };
  }

  /**
   * Takes an event of the stream. Returns whether the list has changed. An event that does not follow what the list has, or
   * of which only Gatehouse knows whether it fits, leaves the feed behind.
   */
  take(event: EventResource): boolean {
    if (!this.#list) {
      this.#isBehind = true;
      return false;
    }
    if (this.#ids.has(event.id)) {
      this.#isJoined = true;
      return false;
    }
    if (!this.#mayFit(event)) return false;
    if (!this.#isJoined || this.#filter.player !== undefined) {
      this.#isBehind = true;
      return false;
    }
    this.#addNewer(this.#list, { items: [event], next: event.id });
    return true;
  }

  /** The stream has left out events that the list does not have. */
  loseTrack(): void {
    this.#isJoined = false;
    this.#isBehind = true;
  }

  /**
   * Finds the position in the stream that the list has reached, and takes what came after it. Every event of the stream after
   * one that the list has is either in the list too, or newer than all of the list.
   */
  #join(): void {
    const { recent, cursor } = this.#stream ?? {};
    if (!recent || !this.#list || this.#filter.player !== undefined) return;
    const last = recent.findLastIndex(({ id }) => this.#ids.has(id) || id === this.#list?.newest);
    this.#isJoined = last !== -1 || cursor === this.#list.newest;
    if (!this.#isJoined) return;
    this.#isBehind = false;
    for (const event of recent.slice(last === -1 ? recent.length : last + 1)) this.take(event);
  }

  #mayFit(event: EventResource): boolean {
    const { player } = this.#filter;
    // A command names the players that it was aimed at in `meta`.
    if (player !== undefined && !JSON.stringify([event.data, event.meta]).includes(player)) return false;
    if (!this.#kinds || !isEventType(event.type)) return true;
    const section = event.type === "gap" ? (event.data.section as GapSection) : null;
    return this.#kinds.has(toEventKind(event.type, section));
  }

  #addNewer(list: EventList, page: Pick<EventPage, "items" | "next">): void {
    this.#list = addNewer(list, page, this.#isHeld);
    for (const { id } of page.items) this.#ids.add(id);
    // Not for each event, which would take as long as the list is.
    const { events, waiting } = this.#list;
    if (this.#ids.size > STALE_IDS * (events.length + waiting.length) + PAGE_SIZE) this.#setList(this.#list);
  }

  #setList(list: EventList): void {
    this.#list = list;
    this.#ids = new Set([...list.waiting, ...list.events].map(({ id }) => id));
  }

  /**
   * Reads older events until there is one that fits, at most so many pages. The list then says how far back that was.
   * Returns why it failed. Events that do not fit are added to the list too.
   */
  async loadOlder(fits?: (event: EventResource) => boolean): Promise<ApiError | undefined> {
    const limit = fits ? LARGE_PAGE_SIZE : PAGE_SIZE;
    for (let pages = 0; this.#list?.hasOlder; pages++) {
      if (pages === PAGES_AT_ONCE_MAX || (pages > 0 && !this.#pace.mayPoll(Date.now()))) {
        return this.#noteHowFar();
      }
      const { oldest, events } = this.#list;
      const outcome = await this.#read({ ...(oldest !== undefined && { before: oldest }), limit });
      if (!outcome.ok) {
        // The older events were deleted meanwhile, so the list ends here.
        if (outcome.error.code !== ERRORS.cursorExpired.code) return outcome.error;
        if (this.#list.oldest === oldest) this.#setList({ ...this.#list, hasOlder: false });
        return undefined;
      }
      // The list was started over during the request, so the page does not fit to it.
      if (this.#list.oldest !== oldest) return undefined;
      this.#setList(addOlder(this.#list, outcome.value));
      const isFound = fits ? outcome.value.items.some(fits) : this.#list.events.at(-1)?.id !== events.at(-1)?.id;
      if (isFound) return undefined;
    }
    return undefined;
  }

  /** Reads the next newer events of a list that begins at a moment. Returns why it failed. */
  async loadNewer(): Promise<ApiError | undefined> {
    this.setHeld(false);
    const outcome = await this.#read({ after: this.#list?.newest ?? "now", limit: PAGE_SIZE });
    if (!outcome.ok) return outcome.error;
    this.#hasNewer = outcome.value.has_more;
    if (this.#list) this.#addNewer(this.#list, outcome.value);
    return undefined;
  }

  /** Notes the time of the oldest event that was looked at. Asks without the filter, because nothing there fits it. */
  async #noteHowFar(): Promise<undefined> {
    const before = this.#list?.oldest;
    if (before === undefined) return;
    const outcome = await this.#api.readEvents({ before, limit: 1 });
    const lookedBackTo = outcome.ok ? outcome.value.items.at(-1)?.seen_at : undefined;
    if (this.#list?.oldest === before) this.#list = { ...this.#list, lookedBackTo };
  }

  async #start(signal?: AbortSignal): Promise<Outcome<EventPage>> {
    const start: EventQuery = this.#at === undefined ? { before: "now" } : { at: this.#at };
    const outcome = await this.#read({ ...start, limit: PAGE_SIZE }, signal);
    if (!outcome.ok) return outcome;
    this.#setList(startList(outcome.value, this.#max));
    if (this.#list?.events.length === 0) await this.loadOlder();
    return outcome;
  }

  async #readNewer(signal?: AbortSignal): Promise<Outcome<EventPage>> {
    for (let pages = 1; ; pages++) {
      const after = this.#list?.newest ?? "now";
      const outcome = await this.#read({ after, limit: LARGE_PAGE_SIZE }, signal);
      if (!outcome.ok) return outcome;
      if (this.#list?.newest === after) this.#addNewer(this.#list, outcome.value);
      const mayGoOn = pages < PAGES_AT_ONCE_MAX && this.#pace.mayPoll(outcome.receivedAt);
      if (!outcome.value.has_more || !mayGoOn) return outcome;
    }
  }

  /** An archive that cannot be reached is asked less and less often. */
  #intervalMs(error: ApiError | undefined): number {
    if (error?.code !== ERRORS.unavailable.code) return POLL_INTERVAL_MS;
    return Math.min(POLL_INTERVAL_MS * 2 ** (this.#failures - 1), BACKOFF_MAX_MS);
  }

  #read(query: EventQuery, signal?: AbortSignal): Promise<Outcome<EventPage>> {
    return this.#api.readEvents({ ...this.#filter, ...query }, signal);
  }
}

/** Whether there are newer events than those of the page. */
function isUnfinished({ has_more: hasMore, previous }: EventPage): boolean {
  const isReadForwards = previous === undefined;
  return isReadForwards && hasMore;
}

/** `types` is the parameter of the API. Rights are no matter here: the stream has only what the key may read. */
function findKinds(types: string | undefined): EventFilter | undefined {
  if (types === undefined) return undefined;
  const parsed = parseTypes(types, toSectionSet(SECTIONS));
  return "filter" in parsed ? parsed.filter : undefined;
}

/** The time of the first event that names the player; undefined when it was not found. */
export async function findFirstTime(
  api: LedgerReader,
  pace: Pace,
  player: string,
  signal?: AbortSignal,
): Promise<number | undefined> {
  let after = "earliest";
  for (let pages = 0; pages < FIRST_PAGES_MAX && pace.mayPoll(Date.now()); pages++) {
    const outcome = await api.readEvents({ player, after, limit: 1 }, signal);
    if (!outcome.ok) return undefined;
    const { items, has_more: hasMore, next } = outcome.value;
    if (items[0]) return items[0].at;
    if (!hasMore) return undefined;
    after = next;
  }
  return undefined;
}
