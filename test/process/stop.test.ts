// How the process stops after a signal: open requests finish, new connections are refused, and the exit code is right.
import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { BASE_INFO, startFakeGameApi } from "../fake-game-api.ts";
import { makeCertificate } from "../make-certificate.ts";
import { openSocket, writeRequest } from "../raw-socket.ts";
import { makeDataFolder, readServer, run, serve, stop } from "../run-gatehouse.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

const ROOT = resolve(import.meta.dir, "../..");

afterEach(cleanUp);

/** Starts a process whose game API does not answer until `release`. */
async function serveHeld(env: Record<string, string> = {}) {
  const held = Promise.withResolvers<void>();
  const api = startFakeGameApi(async () => {
    await held.promise;
    return Response.json(BASE_INFO);
  });
  undoLater(() => api.stop());
  const { folder, token } = await makeDataFolder();
  const gatehouse = await serve({
    cwd: folder,
    env: { GATEHOUSE_DATA_DIR: folder, GATEHOUSE_UPSTREAM_URL: api.url, ...env },
  });
  const request = readServer(gatehouse.url, token);
  await until("the game API is not called", () => api.calls.length === 1);
  return { gatehouse, request, token, api, release: () => held.resolve() };
}

async function writeCertificate(folder: string): Promise<Record<string, string>> {
  const { cert, key } = await makeCertificate();
  const [certPath, keyPath] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  writeFileSync(certPath, cert);
  writeFileSync(keyPath, key);
  return { GATEHOUSE_TLS_CERT: certPath, GATEHOUSE_TLS_KEY: keyPath };
}

async function isRefused(port: number): Promise<boolean> {
  try {
    (await openSocket({ port })).destroy();
    return false;
  } catch {
    return true;
  }
}

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s: the open request is answered with 200, new connections are refused meanwhile, the exit code is 0",
  async (signal) => {
    const { gatehouse, request, release } = await serveHeld();
    let hasExited = false;
    void gatehouse.exited.then(() => {
      hasExited = true;
    });
    gatehouse.kill(signal);
    await until("new connections are still accepted", () => isRefused(gatehouse.port));
    expect(hasExited).toBe(false);
    release();
    const response = await request;
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(BASE_INFO);
    expect(await gatehouse.exited).toBe(0);
  },
);

test("a signal that comes twice changes nothing", async () => {
  const { gatehouse, request, release } = await serveHeld();
  gatehouse.kill("SIGTERM");
  await until("new connections are still accepted", () => isRefused(gatehouse.port));
  gatehouse.kill("SIGTERM");
  gatehouse.kill("SIGINT");
  release();
  expect((await request).status).toBe(200);
  expect(await gatehouse.exited).toBe(0);
});

test("npm start passes the signal on, and nothing is left running", async () => {
  const env = { GATEHOUSE_DATA_DIR: makeFolder() };
  const gatehouse = await serve({ cwd: ROOT, program: "npm", env }, ["start"]);
  expect(await stop(gatehouse)).toBe(0);
  expect(await isRefused(gatehouse.port)).toBe(true);
});

test("requests and a command that outlast the patience of ten seconds are cut, and the exit code is still 0", async () => {
  const { gatehouse, request, token, api } = await serveHeld({ GATEHOUSE_UPSTREAM_TIMEOUT_MS: "60000" });
  const accepted = await fetch(`${gatehouse.url}/v2/game/server/command`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ command: ":h hello" }),
  });
  expect(accepted.status).toBe(202);
  await until("the command is not sent", () => api.calls.length === 2);
  const halfSent = await openSocket(gatehouse);
  undoLater(() => halfSent.destroy());
  halfSent.write("GET /healthz HTTP/1.1\r\nHost:");
  const outcome = request.then(
    (response) => response.status,
    () => "cut",
  );
  const startedAt = Date.now();
  expect(await stop(gatehouse)).toBe(0);
  expect(Date.now() - startedAt).toBeGreaterThan(8_000);
  expect(Date.now() - startedAt).toBeLessThan(12_000);
  expect(await outcome).toBe("cut");
});

test("a signal during the start, while PostgreSQL is waited for, ends it with 0", async () => {
  const starting = run(["serve"], {
    cwd: makeFolder(),
    env: {
      GATEHOUSE_PORT: "0",
      GATEHOUSE_STORE: "postgres://127.0.0.1:9/gatehouse",
      GATEHOUSE_MASTER_KEY: "m".repeat(32),
    },
  });
  await starting.waitForLine("listening on");
  starting.kill("SIGTERM");
  expect(await starting.exited).toBe(0);
});

test("idle connections do not keep it from ending", async () => {
  const gatehouse = await serve({ cwd: makeFolder() });
  const silent = await openSocket(gatehouse);
  const kept = await openSocket(gatehouse);
  kept.write(writeRequest("/healthz"));
  expect((await kept.readAnswer())?.status).toBe(200);
  const startedAt = Date.now();
  expect(await stop(gatehouse)).toBe(0);
  expect(Date.now() - startedAt).toBeLessThan(3_000);
  for (const socket of [silent, kept]) socket.destroy();
});

test.each(["http", "https"])(
  "a connection over %s that was open at the signal, silent or kept, may still send its request",
  async (scheme) => {
    const cwd = makeFolder();
    const tls = scheme === "https" ? { rejectUnauthorized: false } : undefined;
    const gatehouse = await serve({ cwd, env: tls ? await writeCertificate(cwd) : {} });
    const [silent, kept] = [await openSocket(gatehouse, tls), await openSocket(gatehouse, tls)];
    for (const socket of [silent, kept]) undoLater(() => socket.destroy());
    kept.write(writeRequest("/healthz"));
    expect((await kept.readAnswer())?.status).toBe(200);
    gatehouse.kill("SIGTERM");
    await until("new connections are still accepted", () => isRefused(gatehouse.port));
    for (const socket of [silent, kept]) {
      socket.write(writeRequest("/healthz"));
      const answer = await socket.readAnswer();
      expect(answer?.status).toBe(200);
      expect(answer?.headers.get("connection")).toBe("close");
    }
    expect(await gatehouse.exited).toBe(0);
  },
);

test("SIGHUP without TLS is survived", async () => {
  const gatehouse = await serve({ cwd: makeFolder() });
  gatehouse.kill("SIGHUP");
  expect((await fetch(`${gatehouse.url}/healthz`)).status).toBe(200);
  expect(await stop(gatehouse)).toBe(0);
});

test("a signal right after the listening line ends it with 0", async () => {
  const gatehouse = await serve({ cwd: makeFolder() });
  // Sent as soon as the listening line appears: the signal handlers must be installed before.
  expect(await stop(gatehouse, "SIGINT")).toBe(0);
});
