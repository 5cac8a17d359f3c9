// Operators on a listener of their own (GATEHOUSE_ADMIN_PORT): everybody's listener then knows nothing of them.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { toAbilitySet } from "../../src/core/keys/rights.ts";
import { ADMIN_SEGMENTS_MAX } from "../../src/http/router.ts";
import { MemoryArchive } from "../event-archive.ts";
import { sendRaw, writeRequest } from "../raw-socket.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";

let gatehouse: TestGatehouse;
let adminUrl: string;
let token: string;

beforeAll(async () => {
  gatehouse = await startGatehouse({ archive: new MemoryArchive(), env: { GATEHOUSE_ADMIN_PORT: "0" } });
  adminUrl = gatehouse.app.adminUrl ?? "";
  ({ token } = await gatehouse.addKey(await gatehouse.addServer()));
});
afterAll(() => gatehouse.stop());

const ask = (url: string, path: string, key?: string) =>
  fetch(url + path, key === undefined ? {} : { headers: { Authorization: `Bearer ${key}` } });

async function expectNotFound(response: Response): Promise<void> {
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ code: 5020 });
}

/** The operators' paths in other spellings, and callers' paths that begin like an operator's. */
const DISGUISED = [
  "/x\\..\\admin/servers",
  "/x/../admin/servers",
  "/x/%2e%2e/admin/servers",
  "/%61dmin/servers",
  "/admin/x/../servers",
  "/admin/../admin/servers",
  "/admin/%2e%2e/admin/servers",
  "/admin/./servers",
  "/admin/x\\..\\servers",
  "/x\\..\\metrics",
  "/x/../metrics",
  "/admin/../metrics",
  "/admin/%2E%2e/metrics",
  "/admin\\..\\metrics",
  "/admin/1/2/3/4/5/6/../../../../../../../metrics",
  "/metrics/../admin/servers",
  "/admin/../v2/game/key",
  "/admin/../healthz",
];

async function askRaw(port: number, path: string) {
  const headers = [`Authorization: Bearer ${gatehouse.masterKey}`];
  const answer = await sendRaw({ port }, writeRequest(path, headers));
  return [answer?.status, (JSON.parse(answer?.body || "{}") as { code?: number }).code];
}

describe("everybody's listener", () => {
  test.each(["/admin/servers", "/admin/keys", "/admin/nothing", "/metrics"])(
    "%s is unknown there, also with the master key",
    async (path) => {
      await expectNotFound(await ask(gatehouse.url, path, gatehouse.masterKey));
      await expectNotFound(await ask(gatehouse.url, path));
    },
  );

  test.each(DISGUISED)("%s finds nothing there", async (path) => {
    expect(await askRaw(gatehouse.app.port, path)).toEqual([404, 5020]);
  });

  test("the page is told that the admin API is elsewhere, and at the operators' address that it is there", async () => {
    const isThere = async (url: string) => (await (await ask(url, "/session/methods")).json()) as object;
    expect(await isThere(gatehouse.url)).toMatchObject({ admin: false });
    expect(await isThere(adminUrl)).toMatchObject({ admin: true });
  });

  test("wrong master keys cannot be tried there", async () => {
    for (let attempt = 0; attempt < 15; attempt++) {
      await expectNotFound(await ask(gatehouse.url, "/admin/servers", "wrong".repeat(10)));
    }
    expect((await ask(adminUrl, "/admin/servers", "wrong".repeat(10))).status).toBe(401);
  });

  test("callers are served there, with the health of the service and their part of the document", async () => {
    expect((await ask(gatehouse.url, "/v2/game/key", token)).status).toBe(200);
    expect((await ask(gatehouse.url, "/healthz")).status).toBe(200);
    expect((await ask(gatehouse.url, "/readyz")).status).toBe(200);
    const document = await (await ask(gatehouse.url, "/openapi.json")).text();
    expect(document).toContain('"/v2/game/server"');
    expect(document).not.toContain("/admin/");
    expect(document).not.toContain("/metrics");
  });
});

describe("the operators' listener", () => {
  test("has the admin API, the metrics, the health and the whole document", async () => {
    expect(new URL(adminUrl).port).not.toBe(new URL(gatehouse.url).port);
    expect((await ask(adminUrl, "/admin/servers", gatehouse.masterKey)).status).toBe(200);
    expect((await ask(adminUrl, "/metrics", gatehouse.masterKey)).status).toBe(200);
    expect((await ask(adminUrl, "/healthz")).status).toBe(200);
    expect((await ask(adminUrl, "/readyz")).status).toBe(200);
    expect(await (await ask(adminUrl, "/openapi.json")).text()).toContain('"/admin/servers"');
  });

  test("is the only one where a key that may manage webhooks does so", async () => {
    const server = await gatehouse.addServer({ name: "Town of a bot" });
    const bot = await gatehouse.addKey(server, { may: toAbilitySet(["webhooks"]) });
    expect((await ask(adminUrl, "/admin/webhooks", bot.token)).status).toBe(200);
    await expectNotFound(await ask(gatehouse.url, "/admin/webhooks", bot.token));
  });

  test.each(DISGUISED)("%s finds nothing there either", async (path) => {
    expect(await askRaw(Number(new URL(adminUrl).port), path)).toEqual([404, 5020]);
  });

  test("lets every route of the admin API through: none has more segments than the listener looks at", async () => {
    const { paths } = (await (await ask(adminUrl, "/openapi.json")).json()) as { paths: object };
    const counts = Object.keys(paths)
      .filter((path) => path.startsWith("/admin/"))
      .map((path) => path.split("/").length - 2);
    expect(counts.length).toBeGreaterThan(20);
    expect(Math.max(...counts)).toBeLessThanOrEqual(ADMIN_SEGMENTS_MAX);
  });

  test("has the dashboard, which works with an API key too", async () => {
    expect((await ask(adminUrl, "/")).headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect((await ask(adminUrl, "/v2/game/key", token)).status).toBe(200);
  });

  test("counts and limits a key together with everybody's listener", async () => {
    const first = await ask(gatehouse.url, "/v2/game/key", token);
    const second = await ask(adminUrl, "/v2/game/key", token);
    const left = [first, second].map((answer) => Number(answer.headers.get("x-ratelimit-remaining")));
    expect(left[1]).toBe(Number(left[0]) - 1);
  });
});
