// Two thousand open streams on one real instance: what each costs, and that an event reaches all of them.
import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { BASE_INFO, startFakeGameApi } from "../fake-game-api.ts";
import { serve } from "../run-gatehouse.ts";
import { startGatehouse } from "../start-gatehouse.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

const STREAMS = 2_000;
const STREAMS_PER_KEY = 20;
const BYTES_PER_STREAM_MAX = 40 * 1024;
/** An event reaches every stream within this time of its recording. */
const REACHES_WITHIN_MS = 1_000;
/** For a machine that does other work too. */
const LOADED_FACTOR = 4;
const OPENED_AT_ONCE = 50;
const UPGRADE =
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

afterEach(cleanUp);

function readMemory(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) * 1024;
}

/** Counts the words in what arrives, and keeps nothing of it. */
function countWords(socket: Socket, word: string): () => number {
  let [count, rest] = [0, ""];
  socket.on("data", (bytes) => {
    const parts = (rest + bytes.toString("latin1")).split(word);
    count += parts.length - 1;
    rest = (parts.at(-1) ?? "").slice(-word.length);
  });
  return () => count;
}

test.each(["stream", "socket"])(
  "2,000 readers of events/%s cost 40 KB each, and all get an event in time",
  async (kind) => {
    const kills = [{ Killed: "B:2", Timestamp: 1_800_000_000, Killer: "A:1" }];
    const api = startFakeGameApi(() => Response.json({ ...BASE_INFO, KillLogs: kills }));
    undoLater(() => api.stop());
    const folder = makeFolder();
    const env = { GATEHOUSE_UPSTREAM_URL: api.url, GATEHOUSE_FRESH_MS: "1", GATEHOUSE_WATCH: "off" };
    const before = await startGatehouse({ folder, env });
    const server = await before.addServer();
    const tokens: string[] = [];
    for (let made = 0; made <= STREAMS / STREAMS_PER_KEY; made++) tokens.push((await before.addKey(server)).token);
    await before.stop();
    const gatehouse = await serve({ cwd: folder, env: { ...env, GATEHOUSE_DATA_DIR: folder } });
    const read = async () => {
      const headers = { Authorization: `Bearer ${tokens.at(-1)}` };
      await (await fetch(`${gatehouse.url}/v2/game/server`, { headers })).text();
    };
    await read();
    const atFirst = readMemory(gatehouse.pid);
    const counters: { hello: () => number; kills: () => number }[] = [];
    const countReached = (wanted: number) => counters.filter((each) => each.kills() >= wanted).length;
    for (let opened = 0; opened < STREAMS; opened++) {
      const socket = connect(gatehouse.port, "127.0.0.1");
      undoLater(() => socket.destroy());
      counters.push({ hello: countWords(socket, "hello"), kills: countWords(socket, "Killed") });
      const token = tokens[Math.floor(opened / STREAMS_PER_KEY)];
      const headers = `Host: x\r\nAuthorization: Bearer ${token}\r\n${kind === "socket" ? UPGRADE : ""}`;
      socket.write(`GET /v2/game/server/events/${kind} HTTP/1.1\r\n${headers}\r\n`);
      if (opened % OPENED_AT_ONCE === 0)
        await until("a stream was not opened", () => counters.slice(0, -1).every(({ hello }) => hello() === 1), 20_000);
    }
    await until("not every stream is open", () => counters.every(({ hello }) => hello() === 1));
    expect(readMemory(gatehouse.pid) - atFirst).toBeLessThan(STREAMS * BYTES_PER_STREAM_MAX);
    for (let wanted = 1; wanted <= 3; wanted++) {
      kills.push({ Killed: `B:${wanted}`, Timestamp: 1_800_000_000 + wanted, Killer: "A:1" });
      const beganAt = performance.now();
      await read();
      await until("not everybody got the event", () => countReached(wanted) === STREAMS);
      expect(performance.now() - beganAt).toBeLessThan(LOADED_FACTOR * REACHES_WITHIN_MS);
    }
    expect(readMemory(gatehouse.pid) - atFirst).toBeLessThan(STREAMS * BYTES_PER_STREAM_MAX);
  },
  90_000,
);
