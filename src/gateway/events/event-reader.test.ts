// A reader that waits is woken by what it waits for, by nothing else, and never misses it.
import { expect, test } from "bun:test";
import { EVENT_AT, HeldPauses, MemoryArchive, makeEvent } from "../../../test/event-archive.ts";
import { isRefusal, StoreUnavailable } from "../../core/errors.ts";
import { filterAll, parseTypes } from "../../core/events/event-types.ts";
import type { LedgerPage } from "../../core/ports/archive.ts";
import { ALL_SECTIONS } from "../../core/sections.ts";
import { RECHECK_MS, type WaitOptions } from "./bounded-wait.ts";
import { EventNotifier, POLL_MS } from "./event-notifier.ts";
import { type EventQuery, EventReader } from "./event-reader.ts";
import { STREAMS_PER_KEY_MAX, StreamSlots, TOO_MANY_STREAMS } from "./stream-slots.ts";

const WAIT_MS = 25_000;

function open() {
  const archive = new MemoryArchive();
  const pauses = new HeldPauses();
  const errors: string[] = [];
  const log = { error: (_: object, message: string) => errors.push(message) };
  const { pause } = pauses;
  const notifier = new EventNotifier({ archive, pause, log });
  const reader = new EventReader({ archive, notifier, slots: new StreamSlots(), pause });
  const wait = (changes: Partial<EventQuery> = {}, options: Partial<WaitOptions> = {}) => {
    const query = { serverId: "srv_a", start: { after: "now" }, filter: filterAll(), hide: 0, limit: 100 } as const;
    return reader.readOrWait(
      { ...query, ...changes },
      {
        waitMs: WAIT_MS,
        keyId: "key_1",
        signal: new AbortController().signal,
        mayGoOn: async () => true,
        ...options,
      },
    );
  };
  return { archive, pauses, notifier, reader, wait, errors };
}

function numbersOf(page: LedgerPage | object): number[] {
  if (!("events" in page)) throw new Error("not a page with events");
  return (page as { events: readonly { at: number }[] }).events.map(({ at }) => at - EVENT_AT);
}

function filterOf(types: string) {
  const parsed = parseTypes(types, ALL_SECTIONS);
  if (!("filter" in parsed)) throw new Error(`no filter: ${types}`);
  return parsed.filter;
}

test("events that are there are told without waiting", async () => {
  const { archive, pauses, wait } = open();
  await archive.add("srv_a", makeEvent(1));
  for (const start of [{ after: "earliest" }, "newest"] as const) {
    expect(numbersOf(await wait({ start }))).toEqual([1]);
  }
  expect(pauses.lengths).toEqual([]);
});

test("an event that this instance records is told as soon as it rings, and nothing goes on afterwards", async () => {
  const { archive, pauses, notifier, wait } = open();
  for (const start of [{ after: "now" }, "newest"] as const) {
    const waiting = wait({ start, serverId: `srv_${JSON.stringify(start)}` });
    await pauses.reach(WAIT_MS);
    await archive.add(`srv_${JSON.stringify(start)}`, makeEvent(1));
    notifier.ring(`srv_${JSON.stringify(start)}`);
    expect(numbersOf(await waiting)).toEqual([1]);
  }
  expect(pauses.lengths).toEqual([]);
});

test("what is recorded while the reader looks is not missed", async () => {
  const { archive, notifier, wait } = open();
  archive.onPageRead = async () => {
    archive.onPageRead = undefined;
    await archive.add("srv_a", makeEvent(1));
    notifier.ring("srv_a");
  };
  expect(numbersOf(await wait())).toEqual([1]);
});

test("an event of another instance is found by one query for all servers that somebody waits for", async () => {
  const { archive, pauses, wait } = open();
  const first = wait();
  const second = wait({ serverId: "srv_b" });
  await pauses.reach(WAIT_MS, 2);
  await archive.add("srv_a", makeEvent(1));
  pauses.end(POLL_MS);
  expect(numbersOf(await first)).toEqual([1]);
  expect(archive.asked).toEqual([["srv_a", "srv_b"]]);
  await pauses.reach(POLL_MS);
  await archive.add("srv_b", makeEvent(2));
  pauses.end(POLL_MS);
  expect(numbersOf(await second)).toEqual([2]);
  expect(archive.asked[1]).toEqual(["srv_b"]);
});

test("an event that the filter leaves out is looked at once, and the cursor moves past it", async () => {
  const { archive, pauses, notifier, wait } = open();
  const waiting = wait({ filter: filterOf("server.changed") });
  await pauses.reach(WAIT_MS);
  await archive.add("srv_a", makeEvent(1));
  const looked = Promise.withResolvers<void>();
  let looks = 0;
  archive.onPageRead = async () => {
    looks++;
    looked.resolve();
  };
  notifier.ring("srv_a");
  await looked.promise;
  for (let polls = 0; polls < 3; polls++) {
    await pauses.reach(POLL_MS);
    pauses.end(POLL_MS);
  }
  await pauses.reach(POLL_MS);
  expect(looks).toBe(1);
  pauses.end(WAIT_MS);
  expect(await waiting).toMatchObject({ events: [], hasMore: false, next: { number: 1 } });
});

test("events of other servers do not wake a reader", async () => {
  const { archive, pauses, notifier, wait } = open();
  const waiting = wait();
  await pauses.reach(WAIT_MS);
  let looks = 0;
  archive.onPageRead = async () => void looks++;
  await archive.add("srv_b", makeEvent(1));
  notifier.ring("srv_b");
  pauses.end(POLL_MS);
  await pauses.reach(POLL_MS);
  expect(looks).toBe(0);
  pauses.end(WAIT_MS);
  expect(numbersOf(await waiting)).toEqual([]);
});

test("without an event it ends when its time is over, and nothing goes on", async () => {
  const { pauses, wait } = open();
  const waiting = wait();
  await pauses.reach(WAIT_MS);
  pauses.end(WAIT_MS);
  expect(await waiting).toMatchObject({ events: [], hasMore: false });
  expect(pauses.lengths).toEqual([]);
});

test("a stop answers those who wait at once, and nobody waits afterwards", async () => {
  const { pauses, reader, wait } = open();
  const waiting = [wait(), wait({ serverId: "srv_b" })];
  await pauses.reach(WAIT_MS, 2);
  reader.stop();
  for (const page of await Promise.all(waiting)) expect(numbersOf(page)).toEqual([]);
  expect(numbersOf(await wait())).toEqual([]);
  expect(pauses.lengths).toEqual([]);
});

test("a reader that goes away, or may not read any more, stops waiting and makes room", async () => {
  const { pauses, wait } = open();
  const gone = new AbortController();
  let mayGoOn = true;
  const first = wait({}, { signal: gone.signal });
  const second = wait({}, { mayGoOn: async () => mayGoOn });
  await pauses.reach(WAIT_MS, 2);
  gone.abort();
  await first;
  pauses.end(RECHECK_MS);
  await pauses.reach(RECHECK_MS);
  expect(pauses.lengths).toContain(WAIT_MS);
  mayGoOn = false;
  pauses.end(RECHECK_MS);
  await second;
  expect(pauses.lengths).toEqual([]);
  const aborted = await wait({}, { signal: gone.signal });
  expect(numbersOf(aborted)).toEqual([]);
});

test("twenty reads of a key wait; the next is refused until one ends, and other keys have room", async () => {
  const { archive, pauses, notifier, wait } = open();
  const waiting = Array.from({ length: STREAMS_PER_KEY_MAX }, () => wait());
  await pauses.reach(WAIT_MS, STREAMS_PER_KEY_MAX);
  expect(await wait()).toBe(TOO_MANY_STREAMS);
  const others = [wait({}, { keyId: "key_2" }), wait({}, { keyId: undefined })];
  await pauses.reach(WAIT_MS, STREAMS_PER_KEY_MAX + 2);
  await archive.add("srv_a", makeEvent(1));
  // There is something now, so it need not wait.
  expect(isRefusal(await wait({ start: { after: "earliest" } }))).toBe(false);
  notifier.ring("srv_a");
  for (const page of await Promise.all([...waiting, ...others])) expect(numbersOf(page)).toEqual([1]);
  const again = wait();
  await pauses.reach(WAIT_MS);
  pauses.end(WAIT_MS);
  expect(isRefusal(await again)).toBe(false);
});

test("an archive that is away for a while is asked again", async () => {
  const { archive, pauses, wait, errors } = open();
  const waiting = wait();
  await pauses.reach(WAIT_MS);
  archive.fault = new StoreUnavailable("away");
  pauses.end(POLL_MS);
  await pauses.reach(POLL_MS);
  archive.fault = undefined;
  await archive.add("srv_a", makeEvent(1));
  pauses.end(POLL_MS);
  expect(numbersOf(await waiting)).toEqual([1]);
  expect(errors).toEqual([]);
});

test("a server whose ledger is deleted ends the wait", async () => {
  const { archive, pauses, wait } = open();
  await archive.add("srv_a", makeEvent(1));
  const waiting = wait();
  await pauses.reach(WAIT_MS);
  await archive.removeServer("srv_a");
  pauses.end(POLL_MS);
  expect(await waiting).toMatchObject({ expired: true });
});
