import { describe, expect, test } from "bun:test";
import { EventStream, type StreamOptions } from "./event-stream.ts";
import { GatehouseError } from "./gatehouse-error.ts";
import { type Fetch, Transport } from "./transport.ts";

type Connection = (signal: AbortSignal) => Response | Promise<Response>;

const HELLO = 'retry: 2000\nid: c0\nevent: hello\ndata: {"cursor":"c0","server_time":1}\n\n';
const BYE = 'id: c9\nevent: bye\ndata: {"reason":"restart"}\n\n';

function writeEvent(number: number): string {
  const data = `{"id":"c${number}","type":"player.joined","data":{"Player":"A:${9007199254740993n + BigInt(number)}"}}`;
  return `id: c${number}\nevent: player.joined\ndata: ${data}\n\n`;
}

function heartbeat(cursor: string): string {
  return `id: ${cursor}\nevent: heartbeat\ndata: {"cursor":"${cursor}"}\n\n`;
}

/** A connection that says this and ends. */
function say(...texts: string[]): Connection {
  return () => new Response(texts.join(""), { headers: { "Content-Type": "text/event-stream" } });
}

/** A connection that says this and then nothing more, until it is aborted. */
function sayAndHang(closed: { count: number }, ...texts: string[]): Connection {
  return (signal) => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(texts.join("")));
        signal.addEventListener("abort", () => {
          closed.count++;
          controller.error(signal.reason);
        });
      },
    });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  };
}

function refuse(status: number, code: number, retryAfter?: number): Connection {
  return () => Response.json({ code, message: "refused", retry_after: retryAfter }, { status });
}

const cut: Connection = () => Promise.reject(new TypeError("fetch failed"));

/** Follows a Gatehouse whose connections go like this, one after the other. `asked`: the queries; `waits`: before each. */
function follow(connections: Connection[], options: StreamOptions = {}, types?: string[], silenceMs = 45_000) {
  const asked: string[] = [];
  const waits: number[] = [];
  const fetch: Fetch = async (url, init) => {
    asked.push(new URL(url).search);
    const next = connections.shift() ?? refuse(401, 5008);
    return next(init.signal as AbortSignal);
  };
  const transport = new Transport({ baseUrl: "http://127.0.0.1", token: "gth_a", fetch }, async (ms) => {
    waits.push(ms);
  });
  const stream = new EventStream<{ readonly id: string }>(transport, types, options, {
    silenceMs,
    random: () => 0.5,
  });
  return { stream, asked, waits };
}

/** The ids until the stream ends or throws. */
async function collect(stream: AsyncIterable<{ readonly id: string }>) {
  const ids: string[] = [];
  try {
    for await (const { id } of stream) ids.push(id);
    return { ids, error: undefined };
  } catch (error) {
    return { ids, error: error as GatehouseError };
  }
}

describe("the stream", () => {
  test("goes on from its cursor over restarts, cut connections and outages, each event once", async () => {
    const connections = [
      say(HELLO, writeEvent(1), writeEvent(2).slice(0, 40)),
      cut,
      refuse(503, 5106, 3),
      () => new Response("bad gateway", { status: 502 }),
      say(HELLO.replaceAll("c0", "c1"), writeEvent(2), BYE.replace("c9", "c2")),
      say(writeEvent(3)),
    ];
    const { stream, asked, waits } = follow(connections, { after: "earliest" }, ["player.*", "server.*"]);
    const { ids, error } = await collect(stream);
    expect(ids).toEqual(["c1", "c2", "c3"]);
    expect(error).toMatchObject({ code: 5008, status: 401 });
    const types = "types=player.*%2Cserver.*";
    expect(asked).toEqual([
      `?after=earliest&${types}`,
      `?after=c1&${types}`,
      `?after=c1&${types}`,
      `?after=c1&${types}`,
      `?after=c1&${types}`,
      `?after=c2&${types}`,
      `?after=c3&${types}`,
    ]);
    // The wait that Gatehouse asks for counts when it is longer; an event begins the backoff anew.
    expect(waits).toEqual([500, 1_000, 3_000, 4_000, 500, 500]);
  });

  test("begins now without a cursor, and again at the cursor of the hello", async () => {
    const { stream, asked } = follow([cut, say(HELLO), say()]);
    await collect(stream);
    expect(asked).toEqual(["", "", "?after=c0", "?after=c0"]);
  });

  test("hands out the cursor of what was handed out, and moves it with heartbeats", async () => {
    const { stream } = follow([say(HELLO, writeEvent(1), heartbeat("c5"), writeEvent(7))]);
    expect(stream.cursor).toBeUndefined();
    await stream.next();
    expect(stream.cursor).toBe("c1");
    await stream.next();
    expect(stream.cursor).toBe("c7");
    await stream.next().catch(() => {});
    expect(stream.cursor).toBe("c7");
  });

  test("does not connect without a pause to a Gatehouse that always says goodbye", async () => {
    const { stream, waits } = follow([say(HELLO, BYE), say(HELLO, BYE), say(HELLO, BYE), say()]);
    await collect(stream);
    expect(waits).toEqual([500, 1_000, 2_000, 4_000]);
  });

  test("that is silent for too long is opened again", async () => {
    const closed = { count: 0 };
    const { stream, asked } = follow([sayAndHang(closed, HELLO), say(writeEvent(1))], {}, undefined, 5);
    expect((await collect(stream)).ids).toEqual(["c1"]);
    expect(asked[1]).toBe("?after=c0");
    expect(closed.count).toBe(1);
  });

  test("keeps integers exact", async () => {
    const message = 'id: a\nevent: queue.changed\ndata: {"id":"a","data":{"Queue":[1234567890123456789]}}\n\n';
    const { stream } = follow([say(message)]);
    expect((await stream.next()).value as unknown).toMatchObject({ data: { Queue: [1234567890123456789n] } });
  });
});

describe("the stream ends", () => {
  test("with break, and closes its connection", async () => {
    const closed = { count: 0 };
    const { stream, asked } = follow([sayAndHang(closed, HELLO, writeEvent(1), writeEvent(2))]);
    for await (const { id } of stream) {
      expect(id).toBe("c1");
      break;
    }
    expect(closed.count).toBe(1);
    expect(asked).toHaveLength(1);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  test("with the signal while it waits for an event, without an error", async () => {
    const closed = { count: 0 };
    const controller = new AbortController();
    const { stream } = follow([sayAndHang(closed, HELLO, writeEvent(1))], { signal: controller.signal });
    await stream.next();
    const pending = stream.next();
    controller.abort();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(closed.count).toBe(1);
  });

  test("with return() while it waits for an event", async () => {
    const closed = { count: 0 };
    const { stream } = follow([sayAndHang(closed, HELLO)]);
    const pending = stream.next();
    await stream.return();
    expect((await pending).done).toBe(true);
  });

  test("at once with a signal that was aborted before, without a request", async () => {
    const { stream, asked } = follow([], { signal: AbortSignal.abort() });
    expect((await stream.next()).done).toBe(true);
    expect(asked).toEqual([]);
  });

  test.each([
    [401, 5008],
    [403, 5011],
    [400, 5104],
    [404, 5020],
    [501, 5110],
    [500, 5018],
  ])("with an error for the refusal %d/%d", async (status, code) => {
    const { stream, waits } = follow([refuse(status, code)]);
    expect((await collect(stream)).error).toMatchObject({ status, code });
    expect(waits).toEqual([]);
  });

  test("with an error for a block, and waits for a limit", async () => {
    const { stream, waits } = follow([refuse(429, 5109, 5), refuse(429, 5016, 42), refuse(429, 5100, 30)]);
    expect((await collect(stream)).error).toMatchObject({ status: 429, code: 5100 });
    expect(waits).toEqual([5_000, 42_000]);
  });

  test("with an error for what is no stream of Gatehouse", async () => {
    const page: Connection = () => new Response("<h1>Welcome</h1>", { headers: { "Content-Type": "text/html" } });
    expect((await collect(follow([page]).stream)).error).toBeInstanceOf(GatehouseError);
    expect((await collect(follow([say("event: player.joined\ndata: {\n\n")]).stream)).error).toBeInstanceOf(
      GatehouseError,
    );
    const endless = `data: ${"x".repeat(5 * 1024 * 1024)}`;
    expect((await collect(follow([say(endless)]).stream)).error?.message).toContain("no stream");
  });
});

test("an outage is told, with the wait before the next try", async () => {
  const told: [number, number][] = [];
  const onOutage = (error: GatehouseError, waitMs: number) => void told.push([error.status, waitMs]);
  await collect(follow([cut, refuse(503, 5106, 2)], { onOutage }).stream);
  expect(told).toEqual([
    [0, 500],
    [503, 2_000],
  ]);
});
