import { describe, expect, test } from "bun:test";
import { ERRORS } from "../../../core/errors.ts";
import type { EventPage, EventResource } from "../../../core/wire/event.ts";
import type { EventQuery, LedgerReader } from "../../api/caller.ts";
import { Pace } from "../../api/pace.ts";
import type { ApiError, Outcome } from "../../api/request.ts";
import { findFirstTime, LedgerFeed, type LedgerFilter } from "./ledger-feed.ts";

/** A ledger of numbered events that looks at two events for one answer. */
class FakeLedger implements LedgerReader {
  last = 0;
  floor = 0;
  players = new Map<number, string>();
  errorCode: number | undefined;
  readonly queries: EventQuery[] = [];

  record(count: number, player = "1"): void {
    for (let added = 0; added < count; added++) this.players.set(++this.last, player);
  }

  async readEvents(query: EventQuery): Promise<Outcome<EventPage>> {
    this.queries.push(query);
    return this.#answer(query);
  }

  /** Reads one event as the stream does, without a request. */
  async peek(after: string): Promise<Pick<EventPage, "items" | "next">> {
    const outcome = this.#answer({ after });
    if (!outcome.ok) throw new Error("the ledger has failed");
    return outcome.value;
  }

  #answer(query: EventQuery): Outcome<EventPage> {
    const { after, before, player } = query;
    const place = readPlace(after ?? before, this);
    if (this.errorCode !== undefined) return fail(this.errorCode);
    if (place < this.floor) return fail(ERRORS.cursorExpired.code);
    const first = after === undefined ? Math.max(this.floor, place - 2) : place;
    const final = after === undefined ? place : Math.min(this.last, place + 2);
    const numbers = Array.from({ length: final - first }, (_, index) => first + 1 + index);
    const fitting = numbers.filter((number) => !player || this.players.get(number) === player);
    return succeed({
      items: fitting.map((number) => ({
        id: `c${number}`,
        type: "player.joined",
        at: number,
        seen_at: number,
        source: "log",
        backfill: false,
        data: { Player: `Somebody:${this.players.get(number)}` },
      })),
      next: `c${final}`,
      ...(after === undefined && { previous: `c${first}` }),
      has_more: after === undefined ? first > this.floor : final < this.last,
    });
  }
}

function readPlace(text: string | undefined, { last, floor }: FakeLedger): number {
  if (text === "earliest") return floor;
  return text === "now" || text === undefined ? last : Number(text.slice(1));
}

function succeed(value: EventPage): Outcome<EventPage> {
  return { ok: true, status: 200, value, etag: null, ageMs: 0, receivedAt: Date.now(), limit: undefined };
}

function fail(code: number): Outcome<EventPage> {
  return { ok: false, error: { code } as ApiError, receivedAt: Date.now(), limit: undefined };
}

const idsOf = (feed: LedgerFeed) => feed.list?.events.map(({ id }) => id);

describe("the feed of a ledger", () => {
  test("shows the newest events, adds new ones in front, and goes back to the first", async () => {
    const ledger = new FakeLedger();
    ledger.record(5);
    const feed = new LedgerFeed(ledger, new Pace(), {});
    await feed.poll();
    expect(idsOf(feed)).toEqual(["c5", "c4"]);
    ledger.record(3);
    await feed.poll();
    expect(idsOf(feed)).toEqual(["c8", "c7", "c6", "c5", "c4"]);
    await feed.loadOlder();
    await feed.loadOlder();
    expect(idsOf(feed)).toEqual(["c8", "c7", "c6", "c5", "c4", "c3", "c2", "c1"]);
    expect(feed.list?.hasOlder).toBe(false);
  });

  test("reads on through pages in which nothing fits the filter", async () => {
    const ledger = new FakeLedger();
    ledger.record(1, "7");
    ledger.record(9, "8");
    const feed = new LedgerFeed(ledger, new Pace(), { player: "7" });
    await feed.poll();
    expect(idsOf(feed)).toEqual(["c1"]);
    ledger.record(4, "8");
    ledger.record(1, "7");
    await feed.poll();
    expect(idsOf(feed)).toEqual(["c15", "c1"]);
    expect(ledger.queries.every(({ player }) => player === "7")).toBe(true);
  });

  test("starts over when its cursor has expired, and ends where older events were deleted", async () => {
    const ledger = new FakeLedger();
    ledger.record(6);
    const feed = new LedgerFeed(ledger, new Pace(), {});
    await feed.poll();
    ledger.floor = 5;
    await feed.loadOlder();
    expect(idsOf(feed)).toEqual(["c6", "c5"]);
    expect(feed.list?.hasOlder).toBe(false);
    ledger.record(3);
    ledger.floor = 8;
    await feed.poll();
    expect(idsOf(feed)).toEqual(["c9"]);
  });

  test("keeps its list through a failure, and stops polling where nothing can be read", async () => {
    const ledger = new FakeLedger();
    ledger.record(2);
    const feed = new LedgerFeed(ledger, new Pace(), {});
    await feed.poll();
    ledger.errorCode = 5106;
    const failed = await feed.poll();
    expect(failed.error?.code).toBe(5106);
    expect(failed.list?.events.length).toBe(2);
    expect(failed.delayMs).toBeGreaterThan(0);
    ledger.errorCode = ERRORS.notConfigured.code;
    expect((await feed.poll()).delayMs).toBe(false);
    ledger.errorCode = ERRORS.sectionForbidden.code;
    expect((await feed.poll()).delayMs).toBe(false);
  });
});

/** The end of a stream of the same ledger. */
class FakeStream {
  recent: EventResource[] = [];
  cursor: string | undefined;

  /** Gives the events up to `last` to the feed. */
  async deliver(ledger: FakeLedger, last: number, feed?: LedgerFeed): Promise<boolean> {
    let hasChanged = false;
    while (this.cursor === undefined || Number(this.cursor.slice(1)) < last) {
      const { items, next } = await ledger.peek(this.cursor ?? "earliest");
      const [event] = items;
      this.cursor = event?.id ?? next;
      if (!event) break;
      this.recent.push(event);
      hasChanged = feed?.take(event) || hasChanged;
    }
    return hasChanged;
  }
}

describe("the feed of a ledger with a stream", () => {
  async function startFollowing(filter: LedgerFilter = {}) {
    const ledger = new FakeLedger();
    ledger.record(3);
    const stream = new FakeStream();
    stream.cursor = "c3";
    const feed = new LedgerFeed(ledger, new Pace(), filter, stream);
    await feed.poll();
    ledger.queries.length = 0;
    return { ledger, stream, feed };
  }

  test("takes new events without a request", async () => {
    const { ledger, stream, feed } = await startFollowing();
    ledger.record(3);
    expect(await stream.deliver(ledger, 6, feed)).toBe(true);
    expect(idsOf(feed)).toEqual(["c6", "c5", "c4", "c3", "c2"]);
    expect(feed.isBehind).toBe(false);
    expect(ledger.queries).toEqual([]);
  });

  test("takes what came during its first request, and nothing twice", async () => {
    const ledger = new FakeLedger();
    ledger.record(3);
    const stream = new FakeStream();
    await stream.deliver(ledger, 2);
    const feed = new LedgerFeed(ledger, new Pace(), {}, stream);
    const polled = feed.poll();
    ledger.record(2);
    await stream.deliver(ledger, 5, feed);
    await polled;
    expect(idsOf(feed)).toEqual(["c5", "c4", "c3", "c2"]);
    expect(feed.isBehind).toBe(false);
  });

  test("does not take events of a stream that is further back than the list", async () => {
    const ledger = new FakeLedger();
    ledger.record(8);
    const stream = new FakeStream();
    stream.cursor = "c1";
    const feed = new LedgerFeed(ledger, new Pace(), {}, stream);
    await feed.poll();
    expect(idsOf(feed)).toEqual(["c8", "c7"]);
    await stream.deliver(ledger, 5, feed);
    expect(idsOf(feed)).toEqual(["c8", "c7"]);
    ledger.record(1);
    await stream.deliver(ledger, 9, feed);
    expect(idsOf(feed)).toEqual(["c9", "c8", "c7"]);
  });

  test("has every event once after an outage in which it polled", async () => {
    const { ledger, stream, feed } = await startFollowing();
    ledger.record(2);
    await stream.deliver(ledger, 4, feed);
    ledger.record(3);
    await feed.poll();
    await feed.poll();
    expect(idsOf(feed)?.[0]).toBe("c8");
    ledger.record(1);
    await stream.deliver(ledger, 9, feed);
    expect(idsOf(feed)).toEqual(["c9", "c8", "c7", "c6", "c5", "c4", "c3", "c2"]);
  });

  test("that is held takes what is streamed and polled without moving its list, and shows it when released", async () => {
    const { ledger, stream, feed } = await startFollowing();
    const before = idsOf(feed);
    feed.setHeld(true);
    ledger.record(2);
    await stream.deliver(ledger, 5, feed);
    ledger.record(2);
    await feed.poll();
    expect(idsOf(feed)).toEqual(before);
    expect(feed.list?.waiting.map(({ id }) => id)).toEqual(["c7", "c6", "c5", "c4"]);
    expect(feed.setHeld(false)).toBe(true);
    expect(idsOf(feed)).toEqual(["c7", "c6", "c5", "c4", "c3", "c2"]);
    ledger.record(1);
    await stream.deliver(ledger, 8, feed);
    expect(idsOf(feed)?.[0]).toBe("c8");
  });

  test("needs a poll when the stream has begun anew", async () => {
    const { ledger, stream, feed } = await startFollowing();
    ledger.record(4);
    stream.recent = [];
    stream.cursor = "c7";
    feed.loseTrack();
    expect(feed.isBehind).toBe(true);
    ledger.record(1);
    await stream.deliver(ledger, 8, feed);
    expect(idsOf(feed)?.[0]).toBe("c3");
    await feed.poll();
    expect(idsOf(feed)).toEqual(["c8", "c7", "c6", "c5", "c4", "c3", "c2"]);
    expect(feed.isBehind).toBe(false);
  });

  test("takes only the kinds that were chosen, with their gaps", async () => {
    const { ledger, stream, feed } = await startFollowing({ types: "player.killed" });
    ledger.record(1);
    await stream.deliver(ledger, 4, feed);
    expect(idsOf(feed)?.[0]).toBe("c3");
    const gap = { type: "gap", at: 1, seen_at: 1, source: "gateway", backfill: false } as const;
    feed.take({ ...gap, id: "g1", data: { section: "JoinLogs", reason: "no_overlap" } });
    feed.take({ ...gap, id: "g2", data: { section: "KillLogs", reason: "no_overlap" } });
    expect(idsOf(feed)?.slice(0, 2)).toEqual(["g2", "c3"]);
  });

  test("asks Gatehouse which events name a player, and only when one may", async () => {
    const { ledger, stream, feed } = await startFollowing({ player: "7" });
    expect(feed.isBehind).toBe(false);
    ledger.record(1, "8");
    await stream.deliver(ledger, 4, feed);
    expect(feed.isBehind).toBe(false);
    ledger.record(1, "7");
    await stream.deliver(ledger, 5, feed);
    expect(feed.isBehind).toBe(true);
    await feed.poll();
    expect(idsOf(feed)).toEqual(["c5"]);
    expect(feed.isBehind).toBe(false);
  });
});

describe("looking further back", () => {
  test("ends after some pages, says how far back it came, and goes on from there", async () => {
    const ledger = new FakeLedger();
    ledger.record(1, "7");
    ledger.record(39, "8");
    const feed = new LedgerFeed(ledger, new Pace(), { player: "7" });
    const { list } = await feed.poll();
    expect(list).toMatchObject({ events: [], hasOlder: true, lookedBackTo: 18 });
    expect(ledger.queries.at(-1)).toEqual({ before: "c18", limit: 1 });
    await feed.loadOlder();
    expect(idsOf(feed)).toEqual(["c1"]);
    expect(feed.list).toMatchObject({ hasOlder: false, lookedBackTo: undefined });
  });

  test("goes on until an event fits that the user looks for, in large pages", async () => {
    const ledger = new FakeLedger();
    ledger.record(9);
    const feed = new LedgerFeed(ledger, new Pace(), {});
    await feed.poll();
    await feed.loadOlder(({ id }) => id === "c4");
    expect(idsOf(feed)?.at(-1)).toBe("c4");
    expect(ledger.queries.at(-1)?.limit).toBe(500);
  });

  test("asks less and less often while the archive cannot be reached", async () => {
    const ledger = new FakeLedger();
    ledger.errorCode = ERRORS.unavailable.code;
    const feed = new LedgerFeed(ledger, new Pace(), {});
    const delays: number[] = [];
    for (let polls = 0; polls < 6; polls++) delays.push(Number((await feed.poll()).delayMs));
    expect(delays[1]).toBeGreaterThan((delays[0] ?? 0) * 1.5);
    expect(delays[5]).toBeGreaterThanOrEqual(60_000);
    expect(delays[5]).toBeLessThan(70_000);
  });
});

describe("the first event of a player", () => {
  test("is found from the beginning of the ledger", async () => {
    const ledger = new FakeLedger();
    ledger.record(3, "8");
    ledger.record(1, "7");
    ledger.record(3, "8");
    ledger.record(1, "7");
    expect(await findFirstTime(ledger, new Pace(), "7")).toBe(4);
    expect(await findFirstTime(ledger, new Pace(), "9")).toBeUndefined();
  });

  test("is not looked for without an end", async () => {
    const ledger = new FakeLedger();
    ledger.record(100, "8");
    expect(await findFirstTime(ledger, new Pace(), "7")).toBeUndefined();
    expect(ledger.queries.length).toBeLessThan(10);
  });
});
