// The headers that every answer has, whatever its kind.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildOutdatedDashboard } from "../built-dashboard.ts";
import { BASE_INFO, type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { makeCertificate } from "../make-certificate.ts";
import { makeTestFolder, startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";

const HSTS = "strict-transport-security";
const ORIGIN = "https://page.example";

let api: FakeGameApi;
let plain: TestGatehouse;
let secure: TestGatehouse;

beforeAll(async () => {
  await buildOutdatedDashboard();
  api = startFakeGameApi(() => Response.json(BASE_INFO));
  const env = { GATEHOUSE_UPSTREAM_URL: api.url, GATEHOUSE_CORS_ORIGINS: ORIGIN };
  plain = await startGatehouse({ env: { ...env, GATEHOUSE_TRUST_PROXY: "127.0.0.1" } });
  const folder = makeTestFolder();
  const { cert, key } = await makeCertificate();
  const [certPath, keyPath] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  writeFileSync(certPath, cert);
  writeFileSync(keyPath, key);
  secure = await startGatehouse({
    env: { ...env, GATEHOUSE_TLS_CERT: certPath, GATEHOUSE_TLS_KEY: keyPath },
  });
});
afterAll(async () => {
  await plain.stop();
  await secure.stop();
  await api.stop();
});

const INSECURE = { tls: { rejectUnauthorized: false } };

/** Answers of every kind, each with a name. */
async function listAnswers(gatehouse: TestGatehouse): Promise<[string, Response][]> {
  const { url, masterKey } = gatehouse;
  const { keyId, token } = await gatehouse.addKey(await gatehouse.addServer());
  const ask = (path: string, key?: string, init: RequestInit = {}) =>
    fetch(url + path, {
      ...init,
      ...INSECURE,
      headers: { ...init.headers, ...(key !== undefined && { Authorization: `Bearer ${key}` }) },
    });
  const page = await ask("/");
  const asset = /(?:href|src)="(\/assets\/[^"]+)"/.exec(await page.clone().text())?.[1] ?? "";
  const read = await ask("/v2/game/server", token);
  const etag = read.headers.get("etag") ?? "";
  const origin = { Origin: ORIGIN };
  return [
    ["200 page", page],
    ["200 asset", await ask(asset)],
    ["304 asset", await ask(asset, undefined, { headers: { "If-None-Match": "*" } })],
    ["200 reading", read],
    ["304 reading", await ask("/v2/game/server", token, { headers: { "If-None-Match": etag } })],
    ["200 HEAD", await ask("/v2/game/server", token, { method: "HEAD" })],
    ["200 own key", await ask("/v2/game/key", token)],
    ["401 error", await ask("/v2/game/server")],
    ["404 error", await ask("/nowhere")],
    ["405 error", await ask("/healthz", undefined, { method: "POST" })],
    ["500 version 1", await ask("/v1/game/server")],
    ["204 preflight", await ask("/v2/game/server", undefined, { method: "OPTIONS", headers: origin })],
    ["200 health", await ask("/healthz")],
    ["200 readiness", await ask("/readyz")],
    ["200 metrics", await ask("/metrics", masterKey)],
    ["200 document", await ask("/openapi.json")],
    ["304 document", await ask("/openapi.json", undefined, { headers: { "If-None-Match": "*" } })],
    ["200 start script of the reference", await ask("/docs/start.js")],
    ["200 admin", await ask("/admin/servers", masterKey)],
    ["204 admin", await ask(`/admin/keys/${keyId}`, masterKey, { method: "DELETE" })],
  ];
}

describe("over plain HTTP", () => {
  test("every answer forbids guessing its type, and none speaks of TLS", async () => {
    const answers = await listAnswers(plain);
    for (const [name, { status, headers }] of answers) {
      const sniffing = headers.get("x-content-type-options");
      expect([name, status, sniffing]).toEqual([name, Number(name.slice(0, 3)), "nosniff"]);
      expect([name, headers.get(HSTS)]).toEqual([name, null]);
    }
  });

  test("a trusted proxy that says https changes nothing: the header is the proxy's to send", async () => {
    const answer = await plain.get("/healthz", undefined, { "X-Forwarded-Proto": "https" });
    expect(answer.headers.get(HSTS)).toBeNull();
  });
});

test("over our own TLS every answer also tells browsers to come back over TLS only", async () => {
  for (const [name, { headers }] of await listAnswers(secure)) {
    expect([name, headers.get(HSTS)]).toEqual([name, "max-age=31536000"]);
    expect([name, headers.get("x-content-type-options")]).toEqual([name, "nosniff"]);
  }
});
