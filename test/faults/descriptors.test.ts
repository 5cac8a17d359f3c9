// Without free file descriptors the process survives, and serves again when there are some.
import { afterEach, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { testWith, tracing } from "../needs.ts";
import { openSocket, type RawSocket, writeRequest } from "../raw-socket.ts";
import { CHECKOUT, readServer, serve, stop } from "../run-gatehouse.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

const DESCRIPTORS = 64;
const SOCKETS = 150;
const REQUESTS = 200;
const HISTORY = "/v2/game/server/history/players";
const LOADED_LATE = ["/openapi.json"];

afterEach(cleanUp);

test("with its descriptors exhausted Gatehouse does not crash, and serves again when sockets are closed", async () => {
  const cwd = makeFolder();
  // The binary has everything in it, and loads nothing late.
  const gatehouse = await serve({ cwd, before: `ulimit -n ${DESCRIPTORS}`, program: CHECKOUT });
  const token = readFileSync(join(cwd, "data", "demo.key"), "utf8").trim();
  const kept = await openSocket(gatehouse);
  kept.write(writeRequest("/healthz"));
  expect((await kept.readAnswer())?.status).toBe(200);

  const sockets: RawSocket[] = [kept];
  undoLater(() => {
    for (const socket of sockets) socket.destroy();
  });
  const hasRunOut = () => readdirSync(`/proc/${gatehouse.pid}/fd`).length >= DESCRIPTORS - 1;
  for (let i = 0; i < SOCKETS; i++) {
    // The kernel completes connections that the process has not accepted yet, so these all seem to be open.
    const socket = await openSocket(gatehouse);
    sockets.push(socket);
    socket.write("GET /healthz HTTP/1.1\r\n");
  }
  await until("the descriptors do not run out", hasRunOut);
  // Open connections are still served, even with the first call to the game API.
  sockets[1]?.write("Host: x\r\n\r\n");
  expect((await sockets[1]?.readAnswer())?.status).toBe(200);
  kept.write(writeRequest("/v2/game/server", [`Authorization: Bearer ${token}`]));
  expect([200, 400]).toContain((await kept.readAnswer())?.status ?? 0);
  // So are the metrics, which an operator needs now.
  const masterKey = readFileSync(join(cwd, "data", "master.key"), "utf8").trim();
  kept.write(writeRequest("/metrics", [`Authorization: Bearer ${masterKey}`]));
  expect((await kept.readAnswer())?.status).toBe(200);
  // Questions about the history have a thread of their own, which cannot be started now: the archive is away.
  const caller = [`Authorization: Bearer ${token}`];
  kept.write(writeRequest(HISTORY, caller));
  expect((await kept.readAnswer())?.status).toBe(503);
  // Files that are loaded with the first request can be loaded now only when a single descriptor is enough.
  for (const path of LOADED_LATE) {
    kept.write(writeRequest(path, [`Authorization: Bearer ${masterKey}`]));
    expect([200, 500]).toContain((await kept.readAnswer())?.status ?? 0);
  }

  for (const socket of sockets) socket.destroy();
  await until("it does not serve again", () => isServing(gatehouse.port));
  await until("reads do not work again", async () => (await readServer(gatehouse.url, token)).status === 200);
  expect((await fetch(`${gatehouse.url}/readyz`)).status).toBe(200);
  const headers = { Authorization: `Bearer ${token}` };
  await until("the history does not work again", async () => {
    return (await fetch(gatehouse.url + HISTORY, { headers })).status === 200;
  });
  for (const path of LOADED_LATE) {
    const headers = { Authorization: `Bearer ${masterKey}` };
    expect([path, (await fetch(gatehouse.url + path, { headers })).status]).toEqual([path, 200]);
  }
  expect(await stop(gatehouse)).toBe(0);
});

testWith(tracing)(
  "with its descriptors exhausted Gatehouse does not try to accept connections again and again",
  async () => {
    const cwd = makeFolder();
    const gatehouse = await serve({ cwd, before: `ulimit -n ${DESCRIPTORS}` });
    const kept = await openSocket(gatehouse);
    const sockets: RawSocket[] = [kept];
    undoLater(() => {
      for (const socket of sockets) socket.destroy();
    });
    kept.write(writeRequest("/healthz"));
    expect((await kept.readAnswer())?.status).toBe(200);
    for (let i = 0; i < SOCKETS; i++) {
      const socket = await openSocket(gatehouse);
      sockets.push(socket);
      socket.write("GET /healthz HTTP/1.1\r\n");
    }
    await gatehouse.waitForLine("no file descriptors are free", "stderr");

    const trace = join(cwd, "trace");
    const command = ["strace", "-f", "-e", "trace=accept4", "-o", trace, "-p", String(gatehouse.pid)];
    const tracer = Bun.spawn(command, { stdout: "ignore", stderr: "pipe" });
    undoLater(() => tracer.kill("SIGKILL"));
    // Its first line says that it has attached.
    await tracer.stderr.getReader().read();
    // Each request is a turn of the event loop, in which a ready listening socket would be tried.
    for (let asked = 0; asked < REQUESTS; asked++) {
      kept.write(writeRequest("/healthz"));
      expect((await kept.readAnswer())?.status).toBe(200);
    }
    tracer.kill("SIGINT");
    await tracer.exited;
    const failed = readFileSync(trace, "utf8").match(/accept4\(.*EMFILE/g) ?? [];
    expect(failed.length).toBeLessThan(REQUESTS / 10);

    for (const socket of sockets) socket.destroy();
    await gatehouse.waitForLine("file descriptors are free again", "stderr");
    expect(await isServing(gatehouse.port)).toBe(true);
  },
);

async function isServing(port: number): Promise<boolean> {
  const socket = await openSocket({ port });
  try {
    socket.write(writeRequest("/healthz"));
    return (await socket.readAnswer({ deadlineMs: 500 }))?.status === 200;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
