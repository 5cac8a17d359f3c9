// A ledger that a test plays, so that pages, gaps, new events and failures come when the test wants.
import type { Page, Route } from "playwright-core";
import { MINUTE_MS } from "../../src/core/durations.ts";

export const START = Date.now();

export type Draft = {
  readonly type: string;
  readonly data: Record<string, unknown>;
  readonly meta?: Record<string, unknown>;
  readonly minutesAgo?: number;
  readonly isBackfill?: boolean;
};

/** What the frame of every view asks for. */
export const ALERTS = "alert.raised,alert.cleared";

type Failure = { readonly status: number; readonly code: number; readonly message: string };

export const NO_ARCHIVE: Failure = { status: 501, code: 5110, message: "not_configured" };
export const ARCHIVE_AWAY: Failure = { status: 503, code: 5106, message: "unavailable" };

/** Runs in the page: no stream ever answers, so that new events come only from the played ledger. */
export const NO_STREAM = `{
  const send = window.fetch.bind(window);
  window.fetch = (url, options) =>
    String(url).endsWith("/events/stream") ? new Promise(() => {}) : send(url, options);
}`;

/** Runs in the page: `play(events)` sends events by the page's stream, which says nothing else. */
export const PLAYED_STREAM = `{
  const send = window.fetch.bind(window);
  const encoder = new TextEncoder();
  let controller;
  const write = (id, event, data) =>
    controller.enqueue(encoder.encode("id: " + id + "\\nevent: " + event + "\\ndata: " + JSON.stringify(data) + "\\n\\n"));
  window.fetch = (url, options) => {
    if (!String(url).endsWith("/events/stream")) return send(url, options);
    const body = new ReadableStream({ start: (made) => void (controller = made) });
    write("c0", "hello", { cursor: "c0", server_time: Date.now() });
    return Promise.resolve(new Response(body, { headers: { "Content-Type": "text/event-stream" } }));
  };
  window.play = (events) => { for (const event of events) write(event.id, event.type, event); };
}`;

/** Its cursors are `c<number>`; the number is that of the last event before the place. */
export class PlayedLedger {
  readonly events: Draft[] = [];
  readonly queries: URLSearchParams[] = [];
  failure: Failure | undefined;
  /** How many events one answer looks at. */
  lookMax = Number.POSITIVE_INFINITY;

  record(...drafts: Draft[]): void {
    this.events.push(...drafts);
  }

  /** Records events, and sends them by the stream of a page that was opened with `PLAYED_STREAM`. */
  async play(page: Page, ...drafts: Draft[]): Promise<void> {
    const from = this.events.length + 1;
    this.record(...drafts);
    const events = drafts.map((_, index) => this.#write(from + index));
    await page.evaluate(`play(${JSON.stringify(events)})`);
  }

  /** Answers the requests of a page for events. */
  async answerTo(page: Page): Promise<void> {
    await page.route("**/events?*", this.answer);
  }

  readonly answer = async (route: Route): Promise<void> => {
    const query = new URL(route.request().url()).searchParams;
    // The frame of every view asks for these; tests are about what the views ask.
    if (query.get("types") !== ALERTS) this.queries.push(query);
    const { failure } = this;
    if (failure) return route.fulfill({ status: failure.status, json: failure });
    return route.fulfill({ contentType: "application/json", body: JSON.stringify(this.#read(query)) });
  };

  #read(query: URLSearchParams) {
    const limit = Number(query.get("limit") ?? 100);
    const after = query.get("after");
    const isBackward = after === null;
    const from = query.has("at") ? this.#seenUntil(Number(query.get("at"))) : this.#place(after ?? query.get("before"));
    const fitting: number[] = [];
    let place = from;
    const end = isBackward ? 0 : this.events.length;
    for (let looked = 0; place !== end && looked < this.lookMax && fitting.length < limit; looked++) {
      const number = isBackward ? place-- : ++place;
      if (this.#fits(number, query)) fitting.push(number);
    }
    const numbers = isBackward ? fitting.toReversed() : fitting;
    return {
      items: numbers.map((number) => this.#write(number)),
      next: `c${isBackward ? from : place}`,
      ...(isBackward && { previous: `c${place}` }),
      has_more: place !== end,
    };
  }

  #fits(number: number, query: URLSearchParams): boolean {
    const { type, data, meta } = this.#draft(number);
    const types = query.get("types")?.split(",");
    if (types && !types.includes(type) && type !== "gap") return false;
    const player = query.get("player");
    const values = [...Object.values(data), ...((meta?.targets as readonly string[] | undefined) ?? [])];
    return player === null || values.some((value) => isPlayer(value, player));
  }

  /** The events are in the order of their times. */
  #seenUntil(at: number): number {
    return this.events.findLastIndex(({ minutesAgo = 0 }) => START - minutesAgo * MINUTE_MS <= at) + 1;
  }

  #write(number: number) {
    const { type, data, meta, minutesAgo = 0, isBackfill: backfill = false } = this.#draft(number);
    const at = START - minutesAgo * MINUTE_MS;
    return { id: `c${number}`, type, at, seen_at: at, source: "log", backfill, data, ...(meta && { meta }) };
  }

  #draft(number: number): Draft {
    const draft = this.events[number - 1];
    if (!draft) throw new Error(`there is no event ${number}`);
    return draft;
  }

  #place(cursor: string | null): number {
    if (cursor === "earliest") return 0;
    if (cursor === null || cursor === "now") return this.events.length;
    // The page may have asked the real ledger before this one.
    return /^c\d+$/.test(cursor) ? Number(cursor.slice(1)) : 0;
  }
}

/** Whether a field names the player, as "Bob:77" or by the id alone. */
function isPlayer(value: unknown, id: string): boolean {
  return value === id || (typeof value === "string" && value.endsWith(`:${id}`));
}

/** Joins of as many players, a minute apart, the last one an hour ago. */
export function makeJoins(count: number): Draft[] {
  return Array.from({ length: count }, (_, index) => ({
    type: "player.joined",
    data: { Join: true, Timestamp: 1, Player: `Player${index}:${1000 + index}` },
    minutesAgo: count - index + 60,
  }));
}
