// Streams with a connection that takes what the test says: who reads the ledger, who falls behind, and what is never lost.
import { expect, test } from "bun:test";
import { EVENT_AT, HeldPauses, MemoryArchive, makeEvent } from "../../../test/event-archive.ts";
import { isRefusal } from "../../core/errors.ts";
import { filterAll } from "../../core/events/event-types.ts";
import type { StreamEnd } from "../../core/events/stream-frames.ts";
import { STALLED_MS, WAITING_BYTES_MAX } from "../../core/events/stream-pace.ts";
import type { PageStart } from "../../core/ports/archive.ts";
import { nameFilter, type StreamChunk } from "./event-batch.ts";
import { EventNotifier, POLL_MS } from "./event-notifier.ts";
import { type EventStream, HANDED_BYTES_MAX, type StreamSink } from "./event-stream.ts";
import { CHECK_MS, EventStreams } from "./event-streams.ts";
import { GATHER_MS } from "./server-feed.ts";
import { StreamSlots } from "./stream-slots.ts";

/** A connection that takes everything, or nothing. */
class FakeConnection implements StreamSink {
  readonly frames: string[] = [];
  waitingBytes = 0;
  isTaking = true;
  isClosed = false;
  ended: StreamEnd | undefined;
  stream: EventStream | undefined;

  send(chunk: StreamChunk): void {
    this.frames.push(...chunk.frames);
    if (!this.isTaking) this.waitingBytes += chunk.size;
  }

  end(_bye: StreamChunk, end: StreamEnd): void {
    this.ended = end;
  }

  takeAll(): void {
    this.isTaking = true;
    this.waitingBytes = 0;
    this.stream?.drained();
  }

  get times(): number[] {
    const events = this.frames.filter((frame) => frame.startsWith('{"op":"event"'));
    return events.map((frame) => JSON.parse(frame).event.at - EVENT_AT);
  }
}

function open() {
  const archive = new MemoryArchive();
  const pauses = new HeldPauses();
  const { pause } = pauses;
  const log = { error: (_: object, message: string) => expect(message).toBe("") };
  const notifier = new EventNotifier({ archive, pause, log });
  const limits = { findBlocked: async () => new Set<string>() };
  let now = EVENT_AT;
  const parts = { archive, notifier, slots: new StreamSlots(), limits, clock: () => now, pause, log };
  const streams = new EventStreams(parts);
  let reads = 0;
  archive.onPageRead = async () => {
    reads++;
  };
  return {
    archive,
    pauses,
    streams,
    countReads: () => reads,
    advance(ms: number) {
      now += ms;
    },
    async connect(start: PageStart = { after: "now" }, keyId = "key_1") {
      const reader = { serverId: "srv_a", keyId, filter: nameFilter(filterAll()), recheck: () => undefined };
      const opened = await streams.open("socket", start, reader);
      if (isRefusal(opened)) throw new Error("refused");
      const connection = new FakeConnection();
      connection.stream = opened.start(connection);
      return connection;
    },
    async record(...numbers: number[]) {
      await archive.add("srv_a", ...numbers.map((n) => makeEvent(n)));
      notifier.ring("srv_a");
    },
    async check() {
      await pauses.reach(CHECK_MS);
      pauses.end(CHECK_MS);
      await turns();
    },
  };
}

/** Lets everything happen that waits for nothing but promises. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

test("events that come one by one are gathered, and read once for all streams", async () => {
  const { connect, record, pauses, countReads } = open();
  const connections = await Promise.all([connect(), connect({ after: "now" }, "key_2")]);
  await turns();
  const before = countReads();
  await record(1);
  await pauses.reach(GATHER_MS);
  await record(2);
  await record(3);
  pauses.end(GATHER_MS);
  await turns();
  expect(connections.map(({ times }) => times)).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ]);
  expect(countReads() - before).toBe(2);
});

test("streams that resume from the same place share the reads of the ledger", async () => {
  const { archive, connect, countReads } = open();
  await archive.add("srv_a", ...numbers(1, 500).map((n) => makeEvent(n)));
  const page = await archive.readPage({
    serverId: "srv_a",
    start: { after: "earliest" },
    filter: filterAll(),
    limit: 1,
  });
  if ("expired" in page) throw new Error("expired");
  const start = { after: page.next };
  const before = countReads();
  const connections = await Promise.all(numbers(1, 50).map((n) => connect(start, `key_${n}`)));
  await turns();
  for (const { times } of connections) expect(times).toEqual(numbers(2, 500));
  expect(countReads() - before).toBe(3);
});

test("a reader that takes nothing costs a bounded number of bytes, and gets everything when it goes on", async () => {
  const { archive, connect } = open();
  await archive.add("srv_a", ...numbers(1, 5_000).map((n) => makeEvent(n)));
  const connection = await connect({ after: "earliest" });
  connection.isTaking = false;
  await turns();
  const { waitingBytes = 0 } = connection.stream ?? {};
  expect(waitingBytes).toBeLessThan(4 * HANDED_BYTES_MAX);
  while (connection.times.length < 5_000) {
    connection.takeAll();
    await turns();
  }
  expect(connection.times).toEqual(numbers(1, 5_000));
});

test("a live reader for which 1 MiB waits is ended as slow after a second, the others go on", async () => {
  const { archive, connect, record, pauses, advance, check, streams } = open();
  const slow = await connect();
  const good = await connect({ after: "now" }, "key_2");
  slow.isTaking = false;
  const bytesEach = makeEvent(1).data.length;
  const count = Math.ceil((2 * WAITING_BYTES_MAX) / bytesEach);
  for (const from of numbers(0, Math.ceil(count / 500)).map((n) => n * 500 + 1)) {
    await archive.add("srv_a", ...numbers(from, from + 499).map((n) => makeEvent(n)));
  }
  await record(count + 1_000);
  while (good.times.at(-1) !== count + 1_000) {
    pauses.end(GATHER_MS);
    await turns();
  }
  expect(slow.stream?.waitingBytes).toBeLessThan(2 * WAITING_BYTES_MAX);
  expect(streams.eventsBehindMax).toBeGreaterThan(100);
  await check();
  expect(slow.ended).toBeUndefined();
  advance(1_000);
  await check();
  expect(slow.ended).toEqual({ reason: "slow" });
  expect(good.ended).toBeUndefined();
  expect(streams.meter.closed.slow).toBe(1);
  // What was sent is without a hole, so that the reader goes on behind it.
  expect(slow.times).toEqual(good.times.slice(0, slow.times.length));
});

test("a burst larger than the maximum loses nothing for a reader that takes it", async () => {
  const { archive, connect, record, pauses, advance, check } = open();
  const connection = await connect();
  connection.isTaking = false;
  const count = 12_000;
  for (let from = 1; from < count; from += 500) {
    await archive.add("srv_a", ...numbers(from, from + 499).map((n) => makeEvent(n)));
  }
  await record();
  await turns();
  while (connection.times.length < count) {
    connection.takeAll();
    pauses.end(GATHER_MS);
    await turns();
  }
  advance(1_000);
  await check();
  expect(connection.ended).toBeUndefined();
  expect(connection.times).toEqual(numbers(1, count));
});

test("a reader that takes nothing for 30 s is ended as slow", async () => {
  const { connect, record, advance, check } = open();
  const connection = await connect();
  connection.isTaking = false;
  await record(1);
  await turns();
  await check();
  advance(STALLED_MS - 1);
  await check();
  expect(connection.ended).toBeUndefined();
  advance(1);
  await check();
  expect(connection.ended).toEqual({ reason: "slow" });
});

test("an archive that was replaced gives every open stream a gap, and goes on from its oldest event", async () => {
  const { archive, connect, record, pauses } = open();
  await archive.add("srv_a", ...numbers(1, 5).map((n) => makeEvent(n)));
  const connection = await connect();
  await turns();
  await archive.removeServer("srv_a");
  await record(6);
  await pauses.reach(POLL_MS);
  pauses.end(POLL_MS);
  await turns();
  const events = connection.frames.slice(1).map((frame) => JSON.parse(frame).event);
  expect(events.map(({ type }) => type)).toEqual(["gap", "player.killed"]);
  expect(events[0].data.reason).toBe("retention");
});

test("nothing goes on when the last stream has ended", async () => {
  const { connect, pauses, record } = open();
  const connection = await connect();
  await record(1);
  await pauses.reach(GATHER_MS);
  connection.stream?.close("reader");
  await turns();
  expect(pauses.lengths).toEqual([]);
});

test("a stream that reaches the newest place by an old page misses nothing of what others were sent before they left", async () => {
  for (const isReadingOn of [true, false]) {
    const { archive, connect, record, pauses } = open();
    const first = await connect();
    await turns();
    const held = holdNextPage(archive);
    const connecting = connect({ after: "earliest" }, "key_2");
    await turns();
    await record(1);
    await turns();
    expect(first.times).toEqual([1]);
    pauses.end(GATHER_MS);
    await turns();
    // The feed has sent 1, and reads 2 or waits.
    const heldRead = isReadingOn ? holdNextPage(archive) : undefined;
    if (isReadingOn) await record(2);
    await turns();
    first.stream?.close("reader");
    held.give();
    const second = await connecting;
    await turns();
    heldRead?.give();
    pauses.end(GATHER_MS);
    await turns();
    expect(second.times).toEqual(isReadingOn ? [1, 2] : [1]);
  }
});

/** The next page is read at once, and given to its reader when the test says so. */
function holdNextPage(archive: MemoryArchive) {
  const { promise, resolve } = Promise.withResolvers<void>();
  archive.onPageRead = () => {
    archive.onPageRead = undefined;
    return promise;
  };
  return { give: resolve };
}
