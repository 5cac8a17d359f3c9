// Readers of streams that stop reading, over real sockets: what waits for them is limited, they are cut in time, and they
// lose nothing when they come back.
import { afterEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { STALLED_MS } from "../../src/core/events/stream-pace.ts";
import { EVENT_AT, MemoryArchive, makeEvent } from "../event-archive.ts";
import { makeByHand } from "../make-certificate.ts";
import { openSocket, type RawSocket, writeRequest } from "../raw-socket.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { parseSse } from "../stream-reader.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

const INSECURE = { rejectUnauthorized: false };
const PATHS = { sse: "/v2/game/server/events/stream", socket: "/v2/game/server/events/socket" };
const UPGRADE = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];
/** Of each event, so that few events are many bytes. */
const LONG_TEXT = "x".repeat(20_000);
/** More than the kernel's buffers and 1 MiB take. */
const MANY = 1_000;

afterEach(cleanUp);

type Kind = keyof typeof PATHS;
type Event = { readonly id: string; readonly type: string; readonly at: number };

async function open(isTls: boolean) {
  const archive = new MemoryArchive();
  const folder = makeFolder();
  const env: Record<string, string> = {};
  if (isTls) {
    const { cert, key } = makeByHand();
    for (const [name, text] of [
      ["cert", cert],
      ["key", key],
    ] as const) {
      writeFileSync(join(folder, `${name}.pem`), text);
      env[`GATEHOUSE_TLS_${name.toUpperCase()}`] = join(folder, `${name}.pem`);
    }
  }
  const gatehouse = await startGatehouse({ archive, env });
  undoLater(() => gatehouse.stop());
  const server = await gatehouse.addServer();
  const { token } = await gatehouse.addKey(server);
  async function connect(kind: Kind, after?: string): Promise<RawSocket> {
    const socket = await openSocket({ port: gatehouse.app.port }, isTls ? INSECURE : undefined);
    undoLater(() => socket.destroy());
    const headers = [`Authorization: Bearer ${token}`, ...(kind === "socket" ? UPGRADE : [])];
    socket.write(writeRequest(`${PATHS[kind]}${after ? `?after=${after}` : ""}`, headers));
    await until("no hello came", () => socket.received.includes("hello"));
    return socket;
  }
  async function record(from: number, to: number): Promise<void> {
    for (let n = from; n <= to; n++) {
      await archive.add(server.serverId, makeEvent(n, { data: `{"Killed":"B:${n}","Text":"${LONG_TEXT}"}` }));
    }
  }
  return { gatehouse, connect, record };
}

/** The whole events of the bytes that came, in order. */
function listEvents(kind: Kind, received: string): Event[] {
  const text = received.slice(received.indexOf("\r\n\r\n") + 4);
  if (kind === "sse") {
    const messages = unchunk(text).split("\n\n").slice(0, -1).map(parseSse);
    return messages.filter(({ event }) => event.startsWith("player.")).map(({ data }) => data);
  }
  return listFrames(text)
    .map((frame) => JSON.parse(frame))
    .filter(({ op }) => op === "event")
    .map(({ event }) => event);
}

function unchunk(text: string): string {
  let whole = "";
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\r\n", at);
    const size = Number.parseInt(text.slice(at, end), 16);
    if (end < 0 || !(size > 0)) break;
    whole += text.slice(end + 2, end + 2 + size);
    at = end + 2 + size + 2;
  }
  return whole;
}

/** The text frames; the last one may be missing its end. */
function listFrames(bytes: string): string[] {
  const frames: string[] = [];
  for (let at = 0; at + 2 <= bytes.length; ) {
    const opcode = bytes.charCodeAt(at) & 15;
    const short = bytes.charCodeAt(at + 1) & 127;
    const wide = short === 126 ? 2 : short === 127 ? 8 : 0;
    let size = wide === 0 ? short : 0;
    for (let digit = 0; digit < wide; digit++) size = size * 256 + bytes.charCodeAt(at + 2 + digit);
    const start = at + 2 + wide;
    if (start + size > bytes.length) break;
    if (opcode === 1) frames.push(bytes.slice(start, start + size));
    at = start + size;
  }
  return frames;
}

/** The reasons for which streams were closed. */
async function listClosed(gatehouse: TestGatehouse): Promise<string[]> {
  const init = gatehouse.url.startsWith("https") ? { tls: INSECURE } : {};
  const answer = await fetch(`${gatehouse.url}/metrics`, {
    headers: { Authorization: `Bearer ${gatehouse.masterKey}` },
    ...init,
  });
  const lines = (await answer.text()).matchAll(/^gatehouse_streams_closed_total\{reason="(\w+)"\} [1-9]/gm);
  return Array.from(lines, ([, reason = ""]) => reason);
}

/** How much waits depends on the kernel's buffers, so it may be for that, or for the time in which nothing was taken. */
async function untilSlow(gatehouse: TestGatehouse): Promise<void> {
  let closed: string[] = [];
  const isClosed = async () => {
    // A tenth of the longest time in which a reader may take nothing: a busy machine needs no patience of its own.
    gatehouse.clock.advance(STALLED_MS / 10);
    closed = await listClosed(gatehouse);
    return closed.length > 0;
  };
  await until("the reader was not cut", isClosed);
  expect(closed).toEqual(["slow"]);
}

for (const [front, isTls] of [
  ["plain", false],
  ["TLS", true],
] as const) {
  describe(`over ${front}`, () => {
    for (const kind of ["sse", "socket"] as const) {
      test(`a reader of ${kind} that stops reading is cut, and resumes without losing or repeating an event`, async () => {
        const { gatehouse, connect, record } = await open(isTls);
        const socket = await connect(kind);
        socket.pause();
        await record(1, MANY);
        await untilSlow(gatehouse);
        socket.resume();
        const isOver = () => socket.isClosed || socket.received.endsWith("\r\n0\r\n\r\n");
        await until("the stream has not ended", isOver);
        const seen = listEvents(kind, socket.received);
        expect(seen.length).toBeGreaterThan(0);
        expect(seen.length).toBeLessThan(MANY);
        const again = await connect(kind, seen.at(-1)?.id);
        const rest = () => listEvents(kind, again.received);
        await until("not every event came", () => rest().length >= MANY - seen.length);
        const times = [...seen, ...rest()].map(({ at }) => at - EVENT_AT);
        expect(times).toEqual(Array.from({ length: MANY }, (_, n) => n + 1));
      });
    }
  });
}

test("a slow WebSocket that begins to read again is told 1013", async () => {
  const { gatehouse, connect, record } = await open(false);
  const socket = await connect("socket");
  socket.pause();
  await record(1, MANY);
  await untilSlow(gatehouse);
  socket.resume();
  await socket.closed;
  expect(listFrames(socket.received.slice(socket.received.indexOf("\r\n\r\n") + 4)).at(-1)).toBe(
    '{"op":"bye","reason":"slow"}',
  );
  // The close frame: 1013.
  expect(socket.received.slice(-4)).toBe("\x88\x02\x03\xf5");
});
