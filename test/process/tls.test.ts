// Real TLS: the certificate is served, replaced without closing connections, and never replaced by an invalid one.
import { afterEach, expect, test } from "bun:test";
import { once } from "node:events";
import { readdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { ALL_SECTIONS_INFO, BASE_INFO, startFakeGameApi } from "../fake-game-api.ts";
import { makeByHand, makeCertificate, type TestCertificate } from "../make-certificate.ts";
import { program, testWith } from "../needs.ts";
import { openSocket, type RawSocket, sendRaw, writeRequest } from "../raw-socket.ts";
import { type Listening, makeDataFolder, runToEnd, serve, stop } from "../run-gatehouse.ts";
import { startGatehouse } from "../start-gatehouse.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

const INSECURE = { rejectUnauthorized: false };
/** Equal sizes and times, so that only SIGHUP makes Gatehouse read the new files. */
const PADDED_BYTES = 2_048;
const FIXED_TIME_S = 1_700_000_000;
/** The header of a TLS record that announces 512 bytes of handshake, and the first of these bytes. */
const HANDSHAKE_BEGINNING = new Uint8Array([22, 3, 1, 2, 0, 1]);

afterEach(cleanUp);

type Files = { readonly certPath: string; readonly keyPath: string; readonly env: Record<string, string> };

function writeFiles(folder: string, { cert, key }: { cert: string; key: string }): Files {
  const [certPath, keyPath] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  writeFileSync(certPath, cert);
  writeFileSync(keyPath, key);
  return { certPath, keyPath, env: { GATEHOUSE_TLS_CERT: certPath, GATEHOUSE_TLS_KEY: keyPath } };
}

/** Writes a new file and renames it, as certificate tools do. */
function replaceFiles(files: Files, { cert, key }: { cert: string; key: string }): void {
  writeFileSync(`${files.keyPath}.new`, key);
  writeFileSync(`${files.certPath}.new`, cert);
  renameSync(`${files.keyPath}.new`, files.keyPath);
  renameSync(`${files.certPath}.new`, files.certPath);
}

function writeUnnoticed(files: Files, { cert, key }: { cert: string; key: string }): void {
  writeFileSync(files.certPath, cert.padEnd(PADDED_BYTES, "\n"));
  writeFileSync(files.keyPath, key.padEnd(PADDED_BYTES, "\n"));
  for (const path of [files.certPath, files.keyPath]) utimesSync(path, FIXED_TIME_S, FIXED_TIME_S);
}

async function open(gatehouse: Listening): Promise<RawSocket> {
  const socket = await openSocket(gatehouse, INSECURE);
  undoLater(() => socket.destroy());
  return socket;
}

/** Connections to the port that the process still holds. Connections that only the kernel still closes have no inode. */
function countHeld(port: number): number {
  const wanted = port.toString(16).toUpperCase().padStart(4, "0");
  const lines = readFileSync("/proc/net/tcp", "utf8").trim().split("\n").slice(1);
  return lines.filter((line) => {
    const [, local = "", , state, , , , , , inode] = line.trim().split(/\s+/);
    return local.endsWith(`:${wanted}`) && state !== "0A" && inode !== "0";
  }).length;
}

/** The fingerprint of the certificate that a new connection gets. */
async function shownCertificate(gatehouse: Listening): Promise<string | undefined> {
  const socket = await openSocket(gatehouse, INSECURE);
  const { peerFingerprint } = socket;
  socket.destroy();
  return peerFingerprint;
}

async function expectAnswer(socket: RawSocket): Promise<void> {
  socket.write(writeRequest("/healthz"));
  expect((await socket.readAnswer())?.status).toBe(200);
}

function shows(gatehouse: Listening, certificate: TestCertificate, deadlineMs: number): Promise<void> {
  // Another test checks failed connections.
  const isShown = async () => (await shownCertificate(gatehouse).catch(() => undefined)) === certificate.fingerprint;
  return until("the new certificate is not shown", isShown, deadlineMs);
}

test("https works, with the certificate that was named", async () => {
  const cwd = makeFolder();
  const certificate = await makeCertificate();
  const gatehouse = await serve({ cwd, env: writeFiles(cwd, certificate).env });
  expect(gatehouse.url).toStartWith("https://127.0.0.1:");
  const response = await fetch(`${gatehouse.url}/healthz`, { tls: INSECURE });
  expect(response.status).toBe(200);
  expect(await shownCertificate(gatehouse)).toBe(certificate.fingerprint);
  // Plain HTTP on this port must not end the process.
  expect((await sendRaw(gatehouse, writeRequest("/healthz")).catch(() => undefined))?.status ?? 400).toBe(400);
  expect(await shownCertificate(gatehouse)).toBe(certificate.fingerprint);
});

testWith(program("curl"))("the curl line that is printed works over TLS", async () => {
  const cwd = makeFolder();
  const gatehouse = await serve({ cwd, env: writeFiles(cwd, await makeCertificate()).env });
  const line = /^ *(curl .*)$/m.exec(gatehouse.stdout)?.[1] ?? "";
  expect(line).toContain(gatehouse.url);
  expect(await Bun.$`sh -c ${line}`.quiet().json()).toMatchObject({ Name: expect.any(String) });
});

test("a certificate made without openssl is as good", async () => {
  const cwd = makeFolder();
  const gatehouse = await serve({ cwd, env: writeFiles(cwd, makeByHand()).env });
  expect((await fetch(`${gatehouse.url}/healthz`, { tls: INSECURE })).status).toBe(200);
});

test("replaced files are served to new connections within seconds, and an open connection is kept", async () => {
  const cwd = makeFolder();
  const [first, second] = [await makeCertificate(), await makeCertificate()];
  const files = writeFiles(cwd, first);
  const gatehouse = await serve({ cwd, env: files.env });
  const kept = await open(gatehouse);
  await expectAnswer(kept);
  replaceFiles(files, second);
  await shows(gatehouse, second, 5_000);
  expect(kept.isClosed).toBe(false);
  await expectAnswer(kept);
  expect(kept.peerFingerprint).toBe(first.fingerprint);
});

test("SIGHUP reloads at once, even files that do not look changed", async () => {
  const cwd = makeFolder();
  const [first, second] = [await makeCertificate(), await makeCertificate()];
  const files = writeFiles(cwd, first);
  writeUnnoticed(files, first);
  const gatehouse = await serve({ cwd, env: files.env });
  writeUnnoticed(files, second);
  expect(await shownCertificate(gatehouse)).toBe(first.fingerprint);
  gatehouse.kill("SIGHUP");
  await shows(gatehouse, second, 1_000);
});

test("no new connection fails while certificates are replaced again and again", async () => {
  const cwd = makeFolder();
  const certificates = [await makeCertificate(), await makeCertificate()];
  const files = writeFiles(cwd, certificates[0] as TestCertificate);
  const gatehouse = await serve({ cwd, env: files.env });
  let isOver = false;
  let opened = 0;
  const failures: string[] = [];
  const callers = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      try {
        const socket = await openSocket(gatehouse, INSECURE);
        await expectAnswer(socket);
        socket.destroy();
        opened++;
      } catch (error) {
        failures.push(String(error));
      }
    }
  });
  for (let round = 1; round <= 10 || opened <= 50; round++) {
    const next = certificates[round % 2] as TestCertificate;
    replaceFiles(files, next);
    gatehouse.kill("SIGHUP");
    await shows(gatehouse, next, 5_000);
  }
  isOver = true;
  await Promise.all(callers);
  expect(failures).toEqual([]);
});

test("rubbish keeps the old certificate and is logged; a usable one afterwards is taken", async () => {
  const cwd = makeFolder();
  const [first, second] = [await makeCertificate(), await makeCertificate()];
  const files = writeFiles(cwd, first);
  const gatehouse = await serve({ cwd, env: files.env });
  const kept = await open(gatehouse);
  await expectAnswer(kept);

  writeFileSync(files.certPath, "rubbish");
  expect(JSON.parse(await gatehouse.waitForLine("the old ones stay", "stderr"))).toMatchObject({ level: 50 });
  expect(await shownCertificate(gatehouse)).toBe(first.fingerprint);
  await expectAnswer(kept);

  // A certificate that does not match the key yet is invalid too.
  writeFileSync(files.certPath, second.cert);
  await gatehouse.waitForLine("does not belong", "stderr");
  expect(await shownCertificate(gatehouse)).toBe(first.fingerprint);
  writeFileSync(files.keyPath, second.key);
  await shows(gatehouse, second, 5_000);
  expect(gatehouse.stderr).not.toContain("BEGIN PRIVATE KEY");
});

test("after a reload, SIGTERM still lets a request of an old connection finish", async () => {
  const held = Promise.withResolvers<void>();
  const api = startFakeGameApi(async () => {
    await held.promise;
    return Response.json(BASE_INFO);
  });
  undoLater(() => api.stop());
  const { folder, token } = await makeDataFolder();
  const [first, second] = [await makeCertificate(), await makeCertificate()];
  const files = writeFiles(folder, first);
  const env = { ...files.env, GATEHOUSE_DATA_DIR: folder, GATEHOUSE_UPSTREAM_URL: api.url };
  const gatehouse = await serve({ cwd: folder, env });
  const waiting = await open(gatehouse);
  waiting.write(writeRequest("/v2/game/server", [`Authorization: Bearer ${token}`]));
  await until("the game API is not called", () => api.calls.length === 1);
  replaceFiles(files, second);
  await shows(gatehouse, second, 5_000);
  gatehouse.kill("SIGTERM");
  await until("new connections are still accepted", () =>
    shownCertificate(gatehouse).then(
      () => false,
      () => true,
    ),
  );
  held.resolve();
  expect((await waiting.readAnswer())?.status).toBe(200);
  expect(await gatehouse.exited).toBe(0);
});

test("clients that never read, or never close, are cut in the end", async () => {
  // More than the kernel's buffers hold, so that a stalled reader leaves some bytes in our buffers.
  const Vehicles = Array.from({ length: 1_000 }, () => {
    return { ...ALL_SECTIONS_INFO.Vehicles[0], Owner: "x".repeat(3_900) };
  });
  const api = startFakeGameApi(() => Response.json({ ...BASE_INFO, Vehicles }));
  undoLater(() => api.stop());
  const { env } = writeFiles(makeFolder(), await makeCertificate());
  const { folder, token } = await makeDataFolder();
  const gatehouse = await serve({
    cwd: folder,
    env: { ...env, GATEHOUSE_DATA_DIR: folder, GATEHOUSE_UPSTREAM_URL: api.url },
  });
  const rude = { ...INSECURE, port: gatehouse.port, host: "127.0.0.1", allowHalfOpen: true };
  const silent = connect(rude);
  const stalled = connect(rude);
  for (const socket of [silent, stalled]) {
    undoLater(() => void socket.destroy());
    socket.on("error", () => {});
    await once(socket, "secureConnect");
  }
  stalled.pause();
  stalled.write(writeRequest("/v2/game/server?Vehicles=true", [`Authorization: Bearer ${token}`]));
  await until("others are connected too", () => countHeld(gatehouse.port) === 2);
  await until("somebody was not cut", () => countHeld(gatehouse.port) === 0);
  expect(await stop(gatehouse)).toBe(0);
});

test("a certificate and a key that do not belong together: exit code 2, and nothing is created", async () => {
  const cwd = makeFolder();
  const { cert } = await makeCertificate();
  const { key } = await makeCertificate();
  const { env } = writeFiles(makeFolder(), { cert, key });
  const { exitCode, stderr } = await runToEnd(["serve"], { cwd, env: { GATEHOUSE_PORT: "0", ...env } });
  expect(exitCode).toBe(2);
  expect(stderr).toContain("GATEHOUSE_TLS_KEY");
  expect(readdirSync(cwd)).toEqual([]);
});

test.each([
  ["an absent file", undefined],
  ["an empty file", ""],
  ["rubbish", "-----BEGIN CERTIFICATE-----\nrubbish\n-----END CERTIFICATE-----\n"],
])("%s as the certificate: exit code 2, and the setting is named", async (_, cert) => {
  const folder = makeFolder();
  const whole = await makeCertificate();
  const files = writeFiles(folder, { ...whole, cert: cert ?? whole.cert });
  if (cert === undefined) renameSync(files.certPath, `${files.certPath}.away`);
  const { exitCode, stderr } = await runToEnd(["serve"], {
    cwd: folder,
    env: { GATEHOUSE_PORT: "0", ...files.env },
  });
  expect(exitCode).toBe(2);
  expect(stderr).toContain("GATEHOUSE_TLS_CERT");
});

test("two instances with TLS cannot share a port unnoticed", async () => {
  const cwd = makeFolder();
  const { env } = writeFiles(cwd, await makeCertificate());
  const first = await serve({ cwd, env });
  const second = await runToEnd(["serve"], {
    cwd: makeFolder(),
    env: { ...env, GATEHOUSE_PORT: String(first.port) },
  });
  expect(second.exitCode).toBe(1);
  expect(second.stderr).toContain("in use");
  expect(await stop(first)).toBe(0);
});

test("address lists see the client's own address through TLS", async () => {
  const folder = makeFolder();
  const files = writeFiles(folder, await makeCertificate());
  const gatehouse = await startGatehouse({ env: { ...files.env, GATEHOUSE_HOST: "127.0.0.1" } });
  undoLater(() => gatehouse.stop());
  const server = await gatehouse.addServer();
  const [here, elsewhere] = [
    await gatehouse.addKey(server, { ipAllow: ["127.0.0.9"] }),
    await gatehouse.addKey(server, { ipAllow: ["127.0.0.1"] }),
  ];
  const ask = async (token: string) => {
    const from = { port: gatehouse.app.port, host: "127.0.0.1", localAddress: "127.0.0.9", ...INSECURE };
    const socket = connect(from);
    undoLater(() => socket.destroy());
    socket.write(writeRequest("/v2/game/server", [`Authorization: Bearer ${token}`]));
    const [chunk] = await once(socket, "data");
    return String(chunk).split(" ")[1];
  };
  expect(await ask(here.token)).toBe("200");
  expect(await ask(elsewhere.token)).toBe("403");
});

test("a handshake that never comes, or comes byte by byte, is cut; an interrupted one does not affect others", async () => {
  const cwd = makeFolder();
  const gatehouse = await serve({ cwd, env: writeFiles(cwd, await makeCertificate()).env });
  const good = await open(gatehouse);
  await expectAnswer(good);
  const [silent, dripping, broken] = await Promise.all([
    openSocket(gatehouse),
    openSocket(gatehouse),
    openSocket(gatehouse),
  ]);
  for (const socket of [silent, dripping, broken]) undoLater(() => socket.destroy());
  broken.write(HANDSHAKE_BEGINNING);
  broken.destroy();
  dripping.write(HANDSHAKE_BEGINNING);
  const drips = setInterval(() => dripping.isClosed || dripping.write("\0"), 250);
  undoLater(() => clearInterval(drips));
  const startedAt = performance.now();
  await Promise.all([silent.closed, dripping.closed]);
  expect(performance.now() - startedAt).toBeLessThan(15_000);
  await expectAnswer(good);
  await expectAnswer(await open(gatehouse));
});
