// Operators on a listener of their own (GATEHOUSE_ADMIN_PORT): everybody's listener then knows nothing of them.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sendRaw, writeRequest } from "../faults/raw-socket.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";

let gatehouse: TestGatehouse;
let adminUrl: string;
let token: string;

beforeAll(async () => {
  gatehouse = await startGatehouse({ env: { GATEHOUSE_ADMIN_PORT: "0" } });
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

describe("everybody's listener", () => {
  test.each(["/admin/servers", "/admin/keys", "/admin/nothing", "/metrics"])(
    "%s is unknown there, also with the master key",
    async (path) => {
      await expectNotFound(await ask(gatehouse.url, path, gatehouse.masterKey));
      await expectNotFound(await ask(gatehouse.url, path));
    },
  );

  test("no spelling of the path finds the admin API there", async () => {
    const headers = [`Authorization: Bearer ${gatehouse.masterKey}`];
    for (const path of [
      "/x\\..\\admin/servers",
      "/x/../admin/servers",
      "/%61dmin/servers",
      "/x\\..\\metrics",
    ]) {
      const answer = await sendRaw({ port: gatehouse.app.port }, writeRequest(path, headers));
      expect([path, answer?.status]).toEqual([path, 404]);
    }
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
