import { describe, expect, test } from "bun:test";
import { FakeTimers } from "../../../../test/fake-timers.ts";
import { ERRORS } from "../../../core/errors.ts";
import type { EventResource } from "../../../core/wire/event.ts";
import { type ApiError, type Failure, type OpenedStream, UNREACHABLE } from "../../api/request.ts";
import { GRACE_MS, LiveStream, RECENT_MAX, RESUME_MAX_MS, SILENCE_MAX_MS } from "./live-stream.ts";

/** One connection of a stream, whose texts the test writes. */
class FakeConnection {
  readonly #texts: string[] = [];
  #wake = () => {};
  #isOver = false;
  isAborted = false;

  write(text: string): void {
    this.#texts.push(text);
    this.#wake();
  }

  close(): void {
    this.#isOver = true;
    this.#wake();
  }

  async *read(signal: AbortSignal): AsyncGenerator<string> {
    signal.addEventListener("abort", () => {
      this.isAborted = true;
      this.#wake();
    });
    for (;;) {
      const text = this.#texts.shift();
      if (this.isAborted) throw new Error("aborted");
      if (text !== undefined) yield text;
      else if (this.#isOver) return;
      else {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        await promise;
      }
    }
  }
}

function hello(cursor: string): string {
  return `retry: 2000\nid: ${cursor}\nevent: hello\ndata: {"cursor":"${cursor}","server_time":5000}\n\n`;
}

function message(id: string, type = "player.joined"): string {
  return `id: ${id}\nevent: ${type}\ndata: {"id":"${id}","type":"${type}","data":{"Big":9007199254740993}}\n\n`;
}

function startStream() {
  const timers = new FakeTimers();
  const requests: (string | undefined)[] = [];
  const connections: FakeConnection[] = [];
  const events: EventResource[] = [];
  const log: string[] = [];
  const state = { failure: undefined as Partial<ApiError> | undefined, waitMs: 0 };
  const stream = new LiveStream({
    async open(lastEventId, signal): Promise<OpenedStream | Failure> {
      requests.push(lastEventId);
      const common = { receivedAt: 0, limit: undefined };
      if (state.failure) return { ok: false, error: state.failure as ApiError, ...common };
      const connection = new FakeConnection();
      connections.push(connection);
      return { ok: true, texts: connection.read(signal), ...common };
    },
    waitMs: () => state.waitMs,
    now: () => timers.now,
    setTimer: timers.set,
    random: () => 1,
  });
  stream.listen({
    onEvent: (event) => events.push(event),
    onStatus: (status) => log.push(status),
    onFreshStart: () => log.push("fresh"),
    onRefused: (error) => log.push(`refused ${error?.code}`),
  });
  return {
    stream,
    timers,
    requests,
    events,
    log,
    state,
    /** The last connection. */
    get connection(): FakeConnection {
      const last = connections.at(-1);
      if (!last) throw new Error("there is no connection");
      return last;
    },
    ids: () => events.map(({ id }) => id),
  };
}

/** Lets every promise that can go on do so. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

async function openLive() {
  const opened = startStream();
  opened.stream.start();
  await settle();
  opened.connection.write(hello("c1"));
  await settle();
  return opened;
}

describe("the stream of the page", () => {
  test("is live from its first message, and gives events with all digits", async () => {
    const opened = await openLive();
    expect(opened.log).toEqual(["fresh", "live"]);
    const [first, second] = [message("c2"), message("c3")];
    opened.connection.write(first + second.slice(0, 20));
    opened.connection.write(second.slice(20));
    await settle();
    expect(opened.ids()).toEqual(["c2", "c3"]);
    expect(opened.events[0]?.data.Big as unknown).toBe("9007199254740993");
    expect(opened.stream.serverNow).toBe(5_000);
  });

  test("resumes after its last event, and short outages make no view poll", async () => {
    const opened = await openLive();
    opened.connection.write(message("c2"));
    await settle();
    opened.connection.close();
    await settle();
    expect(opened.stream.status).toBe("resuming");
    opened.timers.advance(2_000);
    await settle();
    opened.connection.write(hello("c2") + message("c3"));
    await settle();
    expect(opened.requests).toEqual([undefined, "c2"]);
    expect(opened.ids()).toEqual(["c2", "c3"]);
    expect(opened.log).toEqual(["fresh", "live", "resuming", "live"]);
    opened.timers.advance(GRACE_MS);
    expect(opened.stream.status).toBe("live");
  });

  test("loses and repeats nothing of a message that was cut off", async () => {
    const opened = await openLive();
    opened.connection.write(message("c2") + message("c3").slice(0, -1));
    await settle();
    opened.connection.close();
    await settle();
    opened.timers.advance(2_000);
    await settle();
    expect(opened.requests.at(-1)).toBe("c2");
    opened.connection.write(hello("c2") + message("c3"));
    await settle();
    expect(opened.ids()).toEqual(["c2", "c3"]);
  });

  test("resumes after a heartbeat, which may be further than the last event", async () => {
    const opened = await openLive();
    opened.connection.write(`${message("c2")}id: c9\nevent: heartbeat\ndata: {"cursor":"c9"}\n\n`);
    await settle();
    opened.connection.close();
    await settle();
    opened.timers.advance(2_000);
    await settle();
    expect(opened.requests.at(-1)).toBe("c9");
    expect(opened.ids()).toEqual(["c2"]);
  });

  test("lets views poll when an outage lasts, with a growing backoff", async () => {
    const opened = await openLive();
    opened.state.failure = { code: UNREACHABLE, status: 0 };
    opened.connection.close();
    await settle();
    for (let second = 0; second < 60; second++) {
      opened.timers.advance(1_000);
      await settle();
    }
    expect(opened.stream.status).toBe("off");
    // After 2, 4, 8, 16 and 30 seconds.
    expect(opened.requests.length).toBe(1 + 5);
    opened.state.failure = undefined;
    opened.stream.retryNow();
    await settle();
    opened.connection.write(hello("c1"));
    await settle();
    expect(opened.stream.status).toBe("live");
  });

  test("drops a connection that has been silent for longer than two heartbeats", async () => {
    const opened = await openLive();
    const { connection } = opened;
    opened.timers.advance(SILENCE_MAX_MS - 1);
    await settle();
    expect(connection.isAborted).toBe(false);
    opened.timers.advance(1);
    await settle();
    expect(connection.isAborted).toBe(true);
    opened.timers.advance(2_000);
    await settle();
    expect(opened.requests).toEqual([undefined, "c1"]);
  });

  test("begins at the newest event after a long pause, and says so", async () => {
    const opened = await openLive();
    opened.stream.stop();
    expect(opened.stream.status).toBe("off");
    opened.timers.advance(RESUME_MAX_MS + 1);
    opened.stream.start();
    await settle();
    opened.connection.write(hello("c900"));
    await settle();
    expect(opened.requests).toEqual([undefined, undefined]);
    expect(opened.log).toEqual(["fresh", "live", "off", "fresh", "live"]);
  });

  test("goes on where it was stopped, and is stopped at once", async () => {
    const opened = await openLive();
    const first = opened.connection;
    opened.stream.stop();
    await settle();
    expect(first.isAborted).toBe(true);
    first.write(message("c2"));
    await settle();
    expect(opened.ids()).toEqual([]);
    opened.timers.advance(RESUME_MAX_MS - 1);
    opened.stream.start();
    await settle();
    expect(opened.requests).toEqual([undefined, "c1"]);
  });

  test("is not asked for again without an archive", async () => {
    const opened = startStream();
    opened.state.failure = { ...ERRORS.notConfigured };
    opened.stream.start();
    await settle();
    opened.timers.advance(10 * 60_000);
    await settle();
    expect(opened.requests.length).toBe(1);
    expect(opened.log).toEqual([`refused ${ERRORS.notConfigured.code}`]);
  });

  test("is asked for again without the cursor that was refused", async () => {
    const opened = await openLive();
    opened.state.failure = { ...ERRORS.invalidRequest };
    opened.connection.close();
    await settle();
    opened.timers.advance(2_000);
    await settle();
    opened.state.failure = undefined;
    opened.timers.advance(60_000);
    await settle();
    expect(opened.requests).toEqual([undefined, "c1", undefined]);
  });

  test("waits while the key is blocked, and a goodbye because of the key is told", async () => {
    const opened = await openLive();
    opened.state.waitMs = 90_000;
    opened.connection.write(`event: bye\ndata: {"code":${ERRORS.spamBlocked.code}}\n\n`);
    await settle();
    expect(opened.log).toContain("refused undefined");
    opened.timers.advance(2_000);
    await settle();
    opened.timers.advance(89_000);
    await settle();
    opened.stream.retryNow();
    await settle();
    expect(opened.requests.length).toBe(1);
    opened.state.waitMs = 0;
    opened.timers.advance(1_000);
    await settle();
    expect(opened.requests.length).toBe(2);
  });

  test("keeps a bounded number of events for views that open later", async () => {
    const opened = await openLive();
    for (let number = 2; number < RECENT_MAX + 10; number++) opened.connection.write(message(`c${number}`));
    for (let turn = 0; turn < 100; turn++) await settle();
    expect(opened.stream.recent.length).toBe(RECENT_MAX);
    expect(opened.stream.recent.at(-1)?.id).toBe(`c${RECENT_MAX + 9}`);
    expect(opened.stream.cursor).toBe(`c${RECENT_MAX + 9}`);
  });
});
