// One address cannot take all connections; trusted proxies, which connect for many clients, can.
import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeCertificate } from "../make-certificate.ts";
import { openSocket, type RawSocket, writeRequest } from "../raw-socket.ts";
import { type Listening, serve } from "../run-gatehouse.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

// Few: on a busy machine the first must not be idle for too long when the last is opened.
const MAX = 5;
const SOCKETS = 12;
const INSECURE = { rejectUnauthorized: false };

afterEach(cleanUp);

/** Connections that have sent a request and got its answer. */
async function openMany(gatehouse: Listening, localAddress: string, count: number): Promise<RawSocket[]> {
  const tls = gatehouse.url.startsWith("https:") ? INSECURE : undefined;
  const sockets: RawSocket[] = [];
  for (let opened = 0; opened < count; opened++) {
    const socket = await openSocket({ port: gatehouse.port, localAddress }, tls);
    undoLater(() => socket.destroy());
    sockets.push(socket);
    socket.write(writeRequest("/healthz"));
    await socket.readAnswer();
  }
  return sockets;
}

function countOpen(sockets: readonly RawSocket[]): number {
  return sockets.filter(({ isClosed }) => !isClosed).length;
}

test.each(["http", "https"])("over %s, connections beyond the limit of an address are cut", async (scheme) => {
  const cwd = makeFolder();
  const { cert, key } = await makeCertificate();
  const [certPath, keyPath] = [join(cwd, "cert.pem"), join(cwd, "key.pem")];
  writeFileSync(certPath, cert);
  writeFileSync(keyPath, key);
  const gatehouse = await serve({
    cwd,
    env: {
      GATEHOUSE_CONNECTIONS_PER_ADDRESS: String(MAX),
      GATEHOUSE_TRUST_PROXY: "127.0.0.7",
      ...(scheme === "https" && { GATEHOUSE_TLS_CERT: certPath, GATEHOUSE_TLS_KEY: keyPath }),
    },
  });
  const [proxy, few] = await Promise.all([
    openMany(gatehouse, "127.0.0.7", SOCKETS),
    openMany(gatehouse, "127.0.0.8", MAX),
  ]);
  const many = await openMany(gatehouse, "127.0.0.9", SOCKETS);
  await until("the connections are not cut", () => countOpen(many) <= MAX);
  expect([countOpen(proxy), countOpen(few), countOpen(many)]).toEqual([SOCKETS, MAX, MAX]);
  // Those that are left, and new ones of others, are served.
  const left = many.find(({ isClosed }) => !isClosed);
  left?.write(writeRequest("/healthz"));
  expect((await left?.readAnswer())?.status).toBe(200);
  expect(countOpen(await openMany(gatehouse, "127.0.0.6", 1))).toBe(1);
  await gatehouse.waitForLine("too many connections", "stderr");
});
