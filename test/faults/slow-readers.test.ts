// Readers that stop reading large answers: they share the memory of the answer, and what waits for them is limited.
import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { SECTIONS } from "../../src/core/sections.ts";
import { UNSENT_BYTES_PER_KEY_MAX } from "../../src/http/sending/unsent-answers.ts";
import { ALL_SECTIONS_INFO, BASE_INFO, startFakeGameApi } from "../fake-game-api.ts";
import { openSocket, type RawSocket, writeRequest } from "../raw-socket.ts";
import { serve } from "../run-gatehouse.ts";
import { startGatehouse, type TestKey } from "../start-gatehouse.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

const LARGE_PATH = "/v2/game/server?Vehicles=true";
const VEHICLES = 9_000;
/** Makes the answer larger than 3 MB. */
const LONG_NAME = "n".repeat(300);
const KEYS = 12;
const READERS_PER_KEY = 16;
/** Each reader would need more than 3 MB, so all of them together more than 600 MB. */
const GROWTH_MAX_BYTES = 150_000_000;

afterEach(cleanUp);

function startLargeGameApi() {
  const Vehicles = Array.from({ length: VEHICLES }, () => ({
    ...ALL_SECTIONS_INFO.Vehicles[0],
    Name: LONG_NAME,
  }));
  const api = startFakeGameApi(() => Response.json({ ...BASE_INFO, Vehicles }));
  undoLater(() => api.stop());
  return api;
}

/** A client that asks for the large answer and never reads. The kernel's buffers hold a part of it only. */
async function openSlowReader(port: number, token: string, path = LARGE_PATH): Promise<RawSocket> {
  const socket = await openSocket({ port });
  undoLater(() => socket.destroy());
  socket.pause();
  socket.write(writeRequest(path, [`Authorization: Bearer ${token}`]));
  return socket;
}

/** A path whose answer is another one for each number, so that readers share nothing. */
function otherLargePath(number: number): string {
  const sections = SECTIONS.filter((name, bit) => name !== "Vehicles" && number & (1 << bit));
  return [LARGE_PATH, ...sections.map((name) => `${name}=true`)].join("&");
}

function readLarge(url: string, token: string, encoding = "identity"): Promise<Response> {
  const headers = { Authorization: `Bearer ${token}`, "Accept-Encoding": encoding };
  return fetch(url + LARGE_PATH, { headers, decompress: false });
}

function readMemory(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) * 1024;
}

test("readers that stop reading a large answer share its memory", async () => {
  const api = startLargeGameApi();
  const folder = makeFolder();
  const env = { GATEHOUSE_UPSTREAM_URL: api.url, GATEHOUSE_FRESH_MS: "60000" };
  const before = await startGatehouse({ folder, env });
  const server = await before.addServer();
  const keys: TestKey[] = [];
  for (let made = 0; made < KEYS; made++) keys.push(await before.addKey(server));
  const good = await before.addKey(server);
  await before.stop();
  const gatehouse = await serve({ cwd: folder, env: { ...env, GATEHOUSE_DATA_DIR: folder } });
  const whole = await (await readLarge(gatehouse.url, good.token)).text();
  const atFirst = readMemory(gatehouse.pid);
  for (const { token } of keys) {
    for (let opened = 0; opened < READERS_PER_KEY; opened++) await openSlowReader(gatehouse.port, token);
  }
  // Answered after those that came before it.
  expect(await (await readLarge(gatehouse.url, good.token)).text()).toBe(whole);
  expect(readMemory(gatehouse.pid) - atFirst).toBeLessThan(GROWTH_MAX_BYTES);
});

test("a key with too many unread answers gets no further large one; others and its small ones are served", async () => {
  const api = startLargeGameApi();
  const gatehouse = await startGatehouse({ env: { GATEHOUSE_UPSTREAM_URL: api.url } });
  undoLater(() => gatehouse.stop());
  const server = await gatehouse.addServer();
  const [slow, good] = [await gatehouse.addKey(server), await gatehouse.addKey(server)];
  const whole = await (await readLarge(gatehouse.url, good.token)).text();
  const readers = Math.ceil(UNSENT_BYTES_PER_KEY_MAX / whole.length);
  const sockets: RawSocket[] = [];
  for (let opened = 1; opened <= readers; opened++) {
    sockets.push(await openSlowReader(gatehouse.app.port, slow.token, otherLargePath(opened)));
  }
  const readStatus = async () => {
    const response = await readLarge(gatehouse.url, slow.token);
    await response.bytes();
    return response.status;
  };
  await until("the key is not refused", async () => (await readStatus()) === 503);
  const refused = await readLarge(gatehouse.url, slow.token);
  expect(refused.headers.get("retry-after")).toBe("5");
  expect(await refused.json()).toEqual({ code: 5106, message: "unavailable", retry_after: 5 });
  expect((await gatehouse.get("/v2/game/server", slow.token)).status).toBe(200);
  expect(await (await readLarge(gatehouse.url, good.token)).text()).toBe(whole);

  for (const socket of sockets) socket.destroy();
  await until("the key is not served again", async () => (await readStatus()) === 200);
});

test("a large answer has the same headers as a small one, plain, compressed and without its body", async () => {
  const api = startLargeGameApi();
  const gatehouse = await startGatehouse({ env: { GATEHOUSE_UPSTREAM_URL: api.url } });
  undoLater(() => gatehouse.stop());
  const { token } = await gatehouse.addKey(await gatehouse.addServer());
  const plain = await readLarge(gatehouse.url, token);
  const body = await plain.bytes();
  expect(plain.headers.get("content-type")).toBe("application/json");
  expect(plain.headers.get("content-length")).toBe(String(body.length));
  const head = await fetch(gatehouse.url + LARGE_PATH, {
    method: "HEAD",
    headers: { Authorization: `Bearer ${token}`, "Accept-Encoding": "identity" },
  });
  expect(head.headers.get("content-type")).toBe("application/json");
  expect(head.headers.get("content-length")).toBe(String(body.length));
  const packed = await readLarge(gatehouse.url, token, "gzip");
  const bytes = await packed.bytes();
  expect(packed.headers.get("content-encoding")).toBe("gzip");
  expect(packed.headers.get("content-length")).toBe(String(bytes.length));
  expect(gunzipSync(bytes).equals(body)).toBe(true);
});
