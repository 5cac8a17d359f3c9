// Bodies that arrive slowly, stop half-way, are far too large, or contain another request. The tests need real time and real
// sockets, so all slow cases run in parallel.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { openSocket, type RawSocket, sendRaw, writeRequest } from "../raw-socket.ts";
import { startGatehouse, type TestGatehouse, type TestKey } from "../start-gatehouse.ts";

const CUT_WITHIN_MS = 15_000;
const DRIP_EVERY_MS = 250;
const GOOD_LATENCY_MAX_MS = 5_000;
/** An early answer to a huge body arrives in this time, long before the whole body could be sent. */
const EARLY_MS = 5_000;
const STALLED_BODIES = 100;

let api: FakeGameApi;
let gatehouse: TestGatehouse;
let key: TestKey;
let json: string[];

beforeAll(async () => {
  api = startFakeGameApi();
  gatehouse = await startGatehouse({ env: { GATEHOUSE_UPSTREAM_URL: api.url } });
  key = await gatehouse.addKey(await gatehouse.addServer());
  json = [`Authorization: Bearer ${gatehouse.masterKey}`, "Content-Type: application/json"];
});
afterAll(async () => {
  await gatehouse.stop();
  await api.stop();
});

const at = () => ({ port: gatehouse.app.port });

function post(headers: readonly string[], body = "", path = "/admin/servers"): string {
  return writeRequest(path, [...json, ...headers], "POST") + body;
}

async function wasMade(name: string): Promise<boolean> {
  return (await gatehouse.app.store.servers.findByName(name)) !== undefined;
}

test.concurrent("a body that drips, stops half-way or never comes is cut or refused within 15 s, changes nothing, and does not delay others", async () => {
  const sockets: RawSocket[] = [];
  const drips: Timer[] = [];

  /** How long the connection stayed open, and what was received until then. */
  async function outcomeOf(name: string, begin: (socket: RawSocket) => void) {
    const socket = await openSocket(at());
    sockets.push(socket);
    const openedAt = Date.now();
    begin(socket);
    await Promise.race([socket.closed, Bun.sleep(CUT_WITHIN_MS)]);
    return {
      name,
      ms: socket.isClosed ? Date.now() - openedAt : Number.POSITIVE_INFINITY,
      said: socket.received,
    };
  }
  function drip(socket: RawSocket, start: string, piece: string): void {
    socket.write(start);
    drips.push(setInterval(() => socket.isClosed || socket.write(piece), DRIP_EVERY_MS));
  }

  try {
    const begun = '{"name":"Slow","server_key":"a-b"';
    const startedAt = Date.now();
    const outcomes = [
      outcomeOf("byte by byte", (socket) => drip(socket, post(["Content-Length: 8000"], begun), " ")),
      outcomeOf("chunk by chunk", (socket) => {
        const start = post(["Transfer-Encoding: chunked"], `${begun.length.toString(16)}\r\n${begun}\r\n`);
        drip(socket, start, "1\r\n \r\n");
      }),
      outcomeOf("a chunk's size, digit by digit", (socket) => {
        drip(socket, post(["Transfer-Encoding: chunked"]), "0");
      }),
      outcomeOf("half, then silence", (socket) => socket.write(post(["Content-Length: 100"], begun))),
      outcomeOf("chunks without an end", (socket) => {
        socket.write(post(["Transfer-Encoding: chunked"], `${begun.length.toString(16)}\r\n${begun}\r\n`));
      }),
      outcomeOf("nothing at all", (socket) => socket.write(post(["Content-Length: 100"]))),
      outcomeOf("the last byte missing", (socket) => {
        socket.write(post([`Content-Length: ${begun.length + 1}`], begun));
      }),
      outcomeOf("byte by byte with a wrong key", (socket) => {
        const headers = ["Authorization: Bearer wrong", "Content-Length: 8000"];
        drip(socket, writeRequest("/admin/servers", headers, "POST"), " ");
      }),
      ...Array.from({ length: STALLED_BODIES }, () =>
        outcomeOf("one of many that stall", (socket) => socket.write(post(["Content-Length: 100"], begun))),
      ),
    ];

    let slowestMs = 0;
    let isOver = false;
    const all = Promise.all(outcomes).finally(() => {
      isOver = true;
    });
    let asked = 0;
    while (!isOver && Date.now() - startedAt < CUT_WITHIN_MS) {
      const askedAt = Date.now();
      const reading = await gatehouse.get("/v2/game/server", key.token);
      expect(reading.status).toBe(200);
      await reading.text();
      const change = await gatehouse.admin("PATCH", `/admin/keys/${key.keyId}`, { label: `n${++asked}` });
      expect(change.status).toBe(200);
      await change.text();
      slowestMs = Math.max(slowestMs, Date.now() - askedAt);
      await Bun.sleep(200);
    }
    const ended = await all;
    expect(ended.filter(({ ms }) => ms > CUT_WITHIN_MS).map(({ name }) => name)).toEqual([]);
    // Every answer is one complete refusal.
    for (const { name, said } of ended) {
      expect([name, said]).toEqual([name, expect.stringMatching(/^$|^HTTP\/1\.1 4\d\d /)]);
    }
    // A client that keeps sending gets the reason.
    for (const name of ["byte by byte", "chunk by chunk"]) {
      expect(ended.find((one) => one.name === name)?.said).toContain('"code":5104');
    }
    expect(slowestMs).toBeLessThan(GOOD_LATENCY_MAX_MS);
    expect(await wasMade("Slow")).toBe(false);
  } finally {
    for (const timer of drips) clearInterval(timer);
    for (const socket of sockets) socket.destroy();
  }
});

test.concurrent("a body that comes in pieces, but in time, is taken", async () => {
  const socket = await openSocket(at());
  const body = '{"name":"Pieces","server_key":"a-b"}';
  socket.write(post([`Content-Length: ${body.length}`]));
  for (const character of body) {
    socket.write(character);
    await Bun.sleep(5);
  }
  expect((await socket.readAnswer())?.status).toBe(201);
  // The connection can still be used.
  socket.write(writeRequest("/healthz"));
  expect((await socket.readAnswer())?.status).toBe(200);
  socket.destroy();
});

describe("a body that is far too large", () => {
  test.each([
    ["8,193 bytes", "Content-Length: 8193"],
    ["100 MB", "Content-Length: 100000000"],
    ["100 GB", "Content-Length: 100000000000"],
  ])("of %s, with a Content-Length, is 413 before any of it is sent", async (_, length) => {
    const startedAt = Date.now();
    const socket = await openSocket(at());
    socket.write(post([length]));
    const answer = await socket.readAnswer({ deadlineMs: EARLY_MS });
    expect(answer?.status).toBe(413);
    expect(Date.now() - startedAt).toBeLessThan(EARLY_MS);
    socket.destroy();
  });

  test.each([
    ["with a Content-Length", ["Content-Length: 30000"], (piece: string) => piece, ""],
    ["in chunks", ["Transfer-Encoding: chunked"], (piece: string) => `2710\r\n${piece}\r\n`, "0\r\n\r\n"],
  ])("of 30 kB, %s, is read to its end, so that the client gets the answer", async (_, headers, frame, end) => {
    const socket = await openSocket(at());
    const piece = frame("x".repeat(10_000));
    socket.write(post(headers));
    for (let sent = 0; sent < 3; sent++) {
      await Bun.sleep(50);
      expect([sent, socket.isClosed, socket.received]).toEqual([sent, false, ""]);
      socket.write(piece);
    }
    socket.write(end);
    expect((await socket.readAnswer())?.status).toBe(413);
    socket.destroy();
  });

  test("with a Content-Length of 100 MB, is 413/5102 with our own body", async () => {
    const answer = await sendRaw(at(), post(["Content-Length: 100000000"]));
    expect(JSON.parse(answer?.body ?? "{}")).toEqual({ code: 5102, message: "payload_too_large" });
    expect(answer?.headers.get("connection")?.toLowerCase()).toBe("close");
  });

  test("in chunks without end, is 413 after the first 8 KiB, and the rest is not taken", async () => {
    const socket = await openSocket(at());
    const chunk = `1000\r\n${"x".repeat(4096)}\r\n`;
    socket.write(post(["Transfer-Encoding: chunked"], chunk + chunk + chunk));
    const answer = await socket.readAnswer({ deadlineMs: EARLY_MS });
    expect(answer?.status).toBe(413);
    expect(JSON.parse(answer?.body ?? "{}")).toEqual({ code: 5102, message: "payload_too_large" });
    const writer = setInterval(() => socket.isClosed || socket.write(chunk.repeat(16)), 10);
    await Promise.race([socket.closed, Bun.sleep(CUT_WITHIN_MS)]);
    clearInterval(writer);
    expect(socket.isClosed).toBe(true);
    expect(socket.received).toBe("");
    socket.destroy();
  });

  test("is refused by a wrong key first, as early, and never read", async () => {
    const headers = ["Authorization: Bearer wrong", "Content-Length: 100000000"];
    const answer = await sendRaw(at(), writeRequest("/admin/servers", headers, "POST"), {
      deadlineMs: EARLY_MS,
    });
    expect(answer?.status).toBe(401);
  });

  test("of 50 MB, really sent, is cut off long before its end", async () => {
    const socket = await openSocket(at());
    socket.write(post(["Content-Length: 50000000"]));
    const piece = new Uint8Array(65_536);
    let sent = 0;
    for (; sent < 50_000_000 && !socket.isClosed; sent += piece.length) {
      socket.write(piece);
      await Bun.sleep(1);
    }
    expect(socket.isClosed).toBe(true);
    expect(sent).toBeLessThan(25_000_000);
    socket.destroy();
    expect((await gatehouse.get("/healthz")).status).toBe(200);
  });
});

test.each([
  ["a blank line", (body: string) => [`Content-Length: ${body.length}`, `${body}\r\n`]],
  ["rubbish", (body: string) => [`Content-Length: ${body.length}`, `${body}\x01\x02`]],
  [
    "trailers",
    (body: string) => ["Transfer-Encoding: chunked", `${body.length.toString(16)}\r\n${body}\r\n0\r\nX-T: 1\r\n\r\n`],
  ],
])("a write that the runtime answers with 400 because of %s behind its body does not happen", async (what, write) => {
  const [framing = "", bytes = ""] = write(JSON.stringify({ name: `Behind: ${what}`, server_key: "a-b" }));
  const answer = await sendRaw(at(), post([framing], bytes));
  expect(answer?.status).toBe(400);
  await gatehouse.admin("GET", "/admin/servers");
  expect(await wasMade(`Behind: ${what}`)).toBe(false);
});

describe("bytes after a refused body are not taken for a request", () => {
  const smuggled = (token: string) => writeRequest("/v2/game/server", [`Authorization: Bearer ${token}`]);

  /** How many requests with the key the bytes have caused. */
  async function usesCausedBy(bytes: (token: string) => string): Promise<{ uses: number; statuses: number[] }> {
    const victim = await gatehouse.addKey(await gatehouse.addServer());
    const socket = await openSocket(at());
    socket.write(bytes(victim.token));
    const statuses: number[] = [];
    try {
      for (;;) {
        const answer = await socket.readAnswer({ deadlineMs: 1_500 });
        if (!answer) break;
        statuses.push(answer.status);
      }
    } catch {
      // No more bytes will arrive.
    }
    socket.destroy();
    const remaining = (await gatehouse.get("/v2/game/server", victim.token)).headers.get("x-ratelimit-remaining");
    return { uses: 119 - Number(remaining), statuses };
  }

  test("behind a 413 with a Content-Length", async () => {
    const outcome = await usesCausedBy((token) => post(["Content-Length: 9000"], smuggled(token)));
    expect(outcome).toEqual({ uses: 0, statuses: [413] });
  });

  test("behind a 413 in chunks, at the point where reading stopped", async () => {
    const chunk = `1000\r\n${"x".repeat(4096)}\r\n`;
    const outcome = await usesCausedBy((token) => {
      const hidden = smuggled(token);
      const inside = `${hidden.length.toString(16)}\r\n${hidden}\r\n`;
      return post(["Transfer-Encoding: chunked"], chunk + chunk + chunk + inside);
    });
    expect(outcome).toEqual({ uses: 0, statuses: [413] });
  });

  test("behind a whole body that was too large: the connection ends, so nothing follows on it", async () => {
    const outcome = await usesCausedBy((token) => post(["Content-Length: 9000"], "x".repeat(9000) + smuggled(token)));
    expect(outcome).toEqual({ uses: 0, statuses: [413] });
  });

  test.each([
    [
      "a wrong key",
      (hidden: string) =>
        `${writeRequest("/admin/servers", ["Authorization: Bearer wrong", `Content-Length: ${hidden.length}`], "POST")}${hidden}`,
      401,
    ],
    [
      "an unknown path",
      (hidden: string) => `${writeRequest("/nowhere", [`Content-Length: ${hidden.length}`], "POST")}${hidden}`,
      404,
    ],
    [
      "a wrong method",
      (hidden: string) => `${writeRequest("/admin/audit", [`Content-Length: ${hidden.length}`], "POST")}${hidden}`,
      405,
    ],
  ] as const)("inside a body that nobody reads because of %s", async (_, wrap, status) => {
    const outcome = await usesCausedBy((token) => wrap(smuggled(token)));
    expect(outcome).toEqual({ uses: 0, statuses: [status] });
  });

  test("inside a body of a type that is refused, or of one that is no JSON", async () => {
    for (const [type, status] of [
      ["text/plain", 415],
      ["application/json", 400],
    ] as const) {
      const outcome = await usesCausedBy((token) => {
        const hidden = smuggled(token);
        const headers = [
          `Authorization: Bearer ${gatehouse.masterKey}`,
          `Content-Type: ${type}`,
          `Content-Length: ${hidden.length}`,
        ];
        return writeRequest("/admin/servers", headers, "POST") + hidden;
      });
      expect(outcome).toEqual({ uses: 0, statuses: [status] });
    }
  });
});

describe("a packed body", () => {
  test.each(["gzip", "GZIP", "deflate", "br", "gzip, identity", "x-unknown"])(
    "with Content-Encoding: %s is 415/5103, and nothing is unpacked or made",
    async (encoding) => {
      const body = gzipSync(JSON.stringify({ name: `Packed ${encoding}`, server_key: "a-b" }));
      const response = await gatehouse.admin("POST", "/admin/servers", body, {
        "Content-Encoding": encoding,
      });
      expect(response.status).toBe(415);
      expect(await response.json()).toEqual({ code: 5103, message: "unsupported_media_type" });
      expect(await wasMade(`Packed ${encoding}`)).toBe(false);
    },
  );

  test("with a huge Content-Length is refused at once", async () => {
    const bomb = gzipSync(Buffer.alloc(7_000_000));
    expect(bomb.length).toBeLessThan(8_192);
    const startedAt = Date.now();
    const response = await gatehouse.admin("POST", "/admin/servers", bomb, { "Content-Encoding": "gzip" });
    expect(response.status).toBe(415);
    expect(Date.now() - startedAt).toBeLessThan(EARLY_MS);
  });

  test("identity is no packing", async () => {
    const body = { name: "Plain", server_key: "a-b" };
    const response = await gatehouse.admin("POST", "/admin/servers", body, {
      "Content-Encoding": "identity",
    });
    expect(response.status).toBe(201);
  });
});
