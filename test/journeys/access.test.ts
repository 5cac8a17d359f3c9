// Sections 5, 7 and 8 of the specification over HTTP: authentication, errors and the limit.
import { beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { StoreUnavailable } from "../../src/core/errors.ts";
import type { GameServer } from "../../src/core/game-server.ts";
import { mintToken } from "../../src/core/keys/token.ts";
import { toSectionSet } from "../../src/core/sections.ts";
import { BASE_INFO } from "../fake-game-api.ts";
import { startGatehouse, type TestKey } from "../start-gatehouse.ts";
import { openStage } from "./stage.ts";

const PATH = "/v2/game/server";

let server: GameServer;
let key: TestKey;

const { game: api, gatehouse } = await openStage();
beforeEach(async () => {
  api.answer = () => Response.json(BASE_INFO);
  server = await gatehouse.addServer({ community: "town" });
  key = await gatehouse.addKey(server);
  api.calls.length = 0;
});

const withHeader = (authorization: string) => gatehouse.get(PATH, undefined, { Authorization: authorization });

type ErrorBody = {
  code: number;
  upstream_message: string;
  request_id: string;
  blocked_until: number;
  details: { count: number; reset_at: number };
};
const bodyOf = (response: Response) => response.json() as Promise<ErrorBody>;

async function expectError(response: Response, status: number, body: unknown): Promise<void> {
  expect(response.status).toBe(status);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.json()).toEqual(body);
}

/** Sends all requests before the first answer is awaited. */
function askMany(times: number, token = key.token): Promise<Response[]> {
  return Promise.all(Array.from({ length: times }, () => gatehouse.get(PATH, token)));
}

describe("5 authentication", () => {
  test("5.1 the scheme is Bearer in any case", async () => {
    expect((await withHeader(`Bearer ${key.token}`)).status).toBe(200);
    expect((await withHeader(`bEaReR   ${key.token}`)).status).toBe(200);
  });

  test("5.2 no token, another scheme or an empty token is 401/5007", async () => {
    const missing = { code: 5007, message: "missing_token" };
    const none = await gatehouse.get(PATH);
    expect(none.headers.get("www-authenticate")).toBe("Bearer");
    await expectError(none, 401, missing);
    for (const header of [
      "Bearer",
      "Bearer ",
      "Basic dXNlcjpwYXNz",
      key.token,
      `Token ${key.token}`,
      `Bearer${key.token}`,
    ]) {
      await expectError(await withHeader(header), 401, missing);
    }
  });

  test("5.3 a malformed, unknown, revoked or expired token, or more than one value, is 401/5008", async () => {
    const invalid = { code: 5008, message: "invalid_token" };
    const unknown = mintToken((size) => crypto.getRandomValues(new Uint8Array(size)));
    const mistyped = key.token.slice(0, -1) + (key.token.endsWith("0") ? "1" : "0");
    const revoked = await gatehouse.addKey(server);
    await gatehouse.app.store.keys.revoke(revoked.keyId, gatehouse.clock.now);
    const expired = await gatehouse.addKey(server, { expiresAt: gatehouse.clock.now });
    const tokens = [unknown, mistyped, revoked.token, expired.token, "x", "x".repeat(300), `${key.token} ${key.token}`];
    for (const token of [...tokens, `${key.token},${key.token}`, `${key.token}, Bearer ${key.token}`]) {
      const response = await withHeader(`Bearer ${token}`);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      await expectError(response, 401, invalid);
    }
  });

  test("a key that expires or is revoked is refused on the very next request, even while its answer is cached", async () => {
    const mortal = await gatehouse.addKey(server, { expiresAt: gatehouse.clock.now + 1000 });
    expect((await gatehouse.get(PATH, mortal.token)).status).toBe(200);
    gatehouse.clock.advance(1000);
    expect((await gatehouse.get(PATH, mortal.token)).status).toBe(401);
    expect((await gatehouse.get(PATH, key.token)).status).toBe(200);
    await gatehouse.app.store.keys.revoke(key.keyId, gatehouse.clock.now);
    expect((await gatehouse.get(PATH, key.token)).status).toBe(401);
  });

  test("5.4 an invalid master key is 401/5006 where a master key is required", async () => {
    await expectError(await gatehouse.get("/metrics", "wrong"), 401, {
      code: 5006,
      message: "invalid_master_key",
    });
    await expectError(await gatehouse.get("/metrics"), 401, { code: 5007, message: "missing_token" });
    const masterKey = readFileSync(join(gatehouse.folder, "master.key"), "utf8").trim();
    expect((await gatehouse.get("/metrics", masterKey)).status).toBe(200);
  });

  test("5.5 and 9.4: a key without the version is 403/5010, whatever else is wrong", async () => {
    const { token } = await gatehouse.addKey(server, { versions: ["v1"], sections: 0 });
    const response = await gatehouse.get("/v2/other/game/server?Players=true", token);
    await expectError(response, 403, {
      code: 5010,
      message: "api_version_forbidden",
      details: { versions: ["v1"] },
    });
  });

  test("5.5 a suspended key, a foreign address or another community is 403/5009, and says which", async () => {
    const forbiddenBy = (details: object) => ({ code: 5009, message: "forbidden", details });
    const suspended = await gatehouse.addKey(server, { sections: 0 });
    await gatehouse.app.store.keys.update(suspended.keyId, { isSuspended: true });
    await expectError(
      await gatehouse.get(`${PATH}?Players=true`, suspended.token),
      403,
      forbiddenBy({ reason: "suspended" }),
    );
    const elsewhere = await gatehouse.addKey(server, { ipAllow: ["10.0.0.0/8"] });
    const seen = forbiddenBy({ reason: "address", seen: "127.0.0.1" });
    await expectError(await gatehouse.get(PATH, elsewhere.token), 403, seen);
    const here = await gatehouse.addKey(server, { ipAllow: ["10.0.0.0/8", "127.0.0.1"] });
    expect((await gatehouse.get(PATH, here.token)).status).toBe(200);
    await expectError(
      await gatehouse.get("/v2/Town/game/server", key.token),
      403,
      forbiddenBy({ reason: "community" }),
    );
  });

  test("a server without a community accepts any segment", async () => {
    const open = await gatehouse.addServer({ community: null });
    const { token } = await gatehouse.addKey(open);
    expect((await gatehouse.get("/v2/whatever_1-x/game/server", token)).status).toBe(200);
  });

  test("5.5 a section outside the key's rights is 403/5011, but only when it is requested with true", async () => {
    const { token } = await gatehouse.addKey(server, { sections: toSectionSet(["Players"]) });
    for (const [query, ...sections] of [
      ["Players=true&Staff=true", "Staff"],
      ["Vehicles=true&Players=true&Staff=true&Queue=1", "Staff", "Vehicles"],
      ["Vehicles=true&Players=true&Staff=true&Queue=1", "Staff", "Vehicles"],
    ]) {
      const forbidden = { code: 5011, message: "query_param_forbidden", details: { sections } };
      await expectError(await gatehouse.get(`${PATH}?${query}`, token), 403, forbidden);
    }
    expect((await gatehouse.get(`${PATH}?Players=true&Staff=1`, token)).status).toBe(200);
  });

  test("a forbidden request counts, has the limit's headers, and causes no call to the game API", async () => {
    const { token } = await gatehouse.addKey(server, { sections: 0 });
    const response = await gatehouse.get(`${PATH}?Players=true`, token);
    expect(response.headers.get("x-ratelimit-remaining")).toBe("119");
    expect(api.calls).toHaveLength(0);
  });

  test("5.6 an expired server key is reported as upstream code 2002 inside 5019", async () => {
    api.answer = () => Response.json({ code: 2002, message: "The key is invalid." }, { status: 403 });
    await expectError(await gatehouse.get(PATH, key.token), 400, {
      code: 5019,
      message: "game_api_error",
      upstream_code: 2002,
      upstream_message: "The key is invalid.",
    });
  });
});

describe("7 and 8: the limit", () => {
  test("every counted answer has the limit, the remaining requests, the reset in epoch seconds, and its bucket", async () => {
    const response = await gatehouse.get(PATH, key.token);
    expect(response.headers.get("x-ratelimit-limit")).toBe("120");
    expect(response.headers.get("x-ratelimit-remaining")).toBe("119");
    expect(response.headers.get("x-ratelimit-bucket")).toBe("server");
    const resetAt = Math.ceil((gatehouse.clock.now + 60_000) / 1000);
    expect(response.headers.get("x-ratelimit-reset")).toBe(String(resetAt));
  });

  test("7.2 and 8.2: the 121st request of a window is 429/5016 with count, excess and reset", async () => {
    const startedAt = gatehouse.clock.now;
    const answers = await askMany(120);
    expect(answers.every((answer) => answer.status === 200)).toBe(true);
    gatehouse.clock.advance(15_500);
    const refused = await gatehouse.get(PATH, key.token);
    expect(refused.headers.get("retry-after")).toBe("45");
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("0");
    await expectError(refused, 429, {
      code: 5016,
      message: "rate_limit_exceeded",
      retry_after: 45,
      details: { limit: 120, count: 121, excess: 1, reset_at: startedAt + 60_000 },
    });
  });

  test("at the exact millisecond of reset_at a new window begins", async () => {
    await askMany(121);
    gatehouse.clock.advance(59_999);
    expect((await gatehouse.get(PATH, key.token)).status).toBe(429);
    gatehouse.clock.advance(1);
    const fresh = await gatehouse.get(PATH, key.token);
    expect(fresh.status).toBe(200);
    expect(fresh.headers.get("x-ratelimit-remaining")).toBe("119");
  });

  test("8.3 the limit is counted for each key: both path forms and both methods share one bucket; another key of the server has its own", async () => {
    await gatehouse.get(PATH, key.token);
    await gatehouse.get("/v2/town/game/server", key.token);
    await fetch(gatehouse.url + PATH, { method: "HEAD", headers: { Authorization: `Bearer ${key.token}` } });
    const mine = await gatehouse.get(PATH, key.token);
    expect(mine.headers.get("x-ratelimit-remaining")).toBe("116");
    const other = await gatehouse.addKey(server);
    expect((await gatehouse.get(PATH, other.token)).headers.get("x-ratelimit-remaining")).toBe("119");
  });

  test("requests that are refused before the limit are not counted", async () => {
    await gatehouse.get("/v2/game/server/", key.token);
    await fetch(gatehouse.url + PATH, { method: "PUT", headers: { Authorization: `Bearer ${key.token}` } });
    const counted = await gatehouse.get(PATH, key.token);
    expect(counted.headers.get("x-ratelimit-remaining")).toBe("119");
  });

  test("a thousand parallel requests admit exactly 120, and the refused carry 121, 122, … once each", async () => {
    const answers = await askMany(1000);
    const refused = answers.filter((answer) => answer.status === 429);
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(120);
    const bodies = await Promise.all(refused.map(bodyOf));
    const limited = bodies.filter((body) => body.code === 5016);
    const counts = limited.map((body) => body.details.count).sort((a, b) => a - b);
    expect(counts).toEqual(Array.from({ length: 399 }, (_, i) => 121 + i));
    expect(new Set(limited.map((body) => body.details.reset_at)).size).toBe(1);
    expect(bodies.filter((body) => body.code === 5100)).toHaveLength(1000 - 120 - 399);
  });
});

describe("7.4 the spam block", () => {
  test("the request with excess 400 gets the block, with no limit headers", async () => {
    await askMany(519);
    const blocked = await gatehouse.get(PATH, key.token);
    expect(blocked.headers.get("retry-after")).toBe("300");
    expect(blocked.headers.get("x-ratelimit-limit")).toBeNull();
    const until = gatehouse.clock.now + 300_000;
    const body = { code: 5100, message: "spam_blocked", blocked_until: until, retry_after: 300 };
    await expectError(blocked, 429, body);
    gatehouse.clock.advance(299_999);
    await expectError(await gatehouse.get(PATH, key.token), 429, { ...body, retry_after: 1 });
    gatehouse.clock.advance(1);
    const free = await gatehouse.get(PATH, key.token);
    expect(free.status).toBe(200);
    expect(free.headers.get("x-ratelimit-remaining")).toBe("119");
  });

  test("8.4 each counting window inside a block that passes 120 adds one minute, once", async () => {
    await askMany(520);
    const until = gatehouse.clock.now + 300_000;
    await askMany(120);
    const untilOf = async () => (await bodyOf(await gatehouse.get(PATH, key.token))).blocked_until;
    expect(await untilOf()).toBe(until + 60_000);
    await askMany(300);
    expect(await untilOf()).toBe(until + 60_000);
    gatehouse.clock.advance(60_000);
    await askMany(121);
    expect(await untilOf()).toBe(until + 120_000);
  });

  test("one key's block does not affect the other keys of the server", async () => {
    await askMany(520);
    const other = await gatehouse.addKey(server);
    expect((await gatehouse.get(PATH, other.token)).status).toBe(200);
  });

  test("a blocked key is refused before its rights are checked", async () => {
    const limited = await gatehouse.addKey(server, { versions: [] });
    await askMany(520, limited.token);
    expect((await bodyOf(await gatehouse.get(PATH, limited.token))).code).toBe(5100);
  });

  test("a block survives a restart", async () => {
    const first = await startGatehouse({ env: { GATEHOUSE_UPSTREAM_URL: api.url } });
    const owned = await first.addKey(await first.addServer());
    for (let i = 0; i < 520; i++) await first.get(PATH, owned.token);
    await first.app.stop();
    const { folder, clock } = first;
    const second = await startGatehouse({ folder, clock, env: { GATEHOUSE_UPSTREAM_URL: api.url } });
    expect((await bodyOf(await second.get(PATH, owned.token))).code).toBe(5100);
    await second.stop();
  });
});

describe("7 errors", () => {
  test("7.1 every error is JSON with an integer code and a string message", async () => {
    const forbidden = await gatehouse.addKey(server, { versions: [] });
    const answers = [
      await gatehouse.get(PATH),
      await gatehouse.get(PATH, "x"),
      await gatehouse.get(PATH, forbidden.token),
      await gatehouse.get("/v1/x"),
      await gatehouse.get("/nowhere"),
      await fetch(gatehouse.url + PATH, { method: "POST" }),
    ];
    for (const answer of answers) {
      const body = (await answer.json()) as Record<string, unknown>;
      expect(answer.headers.get("content-type")).toBe("application/json");
      expect(Number.isInteger(body.code)).toBe(true);
      expect(typeof body.message).toBe("string");
    }
  });

  test("an unknown path is 404/5020, with or without a key; so is a trailing slash", async () => {
    for (const path of [
      "/nowhere",
      "/v2",
      "/v2/game",
      "/v2/game/server/",
      "/v2/a/b/game/server",
      "/v2/é/game/server",
    ]) {
      await expectError(await gatehouse.get(path, key.token), 404, { code: 5020, message: "not_found" });
    }
  });

  test("a known path with a wrong method is 405/5101 and says which are allowed, before the key is checked", async () => {
    for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const response = await fetch(gatehouse.url + PATH, { method });
      expect(response.headers.get("allow")).toBe("GET, HEAD");
      await expectError(response, 405, { code: 5101, message: "method_not_allowed" });
    }
  });

  test("an unexpected exception is 500/5017 with a request id and no stack; the log has the rest", async () => {
    const broken = gatehouse.app.store.servers.readServerKey;
    gatehouse.app.store.servers.readServerKey = () => Promise.reject(new Error("secret detail"));
    const response = await gatehouse.get(PATH, key.token);
    gatehouse.app.store.servers.readServerKey = broken;
    expect(response.status).toBe(500);
    const body = await bodyOf(response);
    expect(Object.keys(body)).toEqual(["code", "message", "request_id"]);
    expect(body.code).toBe(5017);
    expect(body.request_id).toMatch(/^req_/);
    expect(response.headers.get("x-request-id")).toBe(body.request_id);
    const logged = gatehouse.logLines.find((line) => line.includes(body.request_id));
    expect(logged).toContain("secret detail");
  });

  test("an answer has an X-Request-Id exactly when the log has a line about it", async () => {
    const quiet = await gatehouse.get("/nothing-here", key.token);
    expect(quiet.status).toBe(404);
    expect(quiet.headers.get("x-request-id")).toBeNull();
    const talkative = await startGatehouse({ env: { GATEHOUSE_LOG_LEVEL: "debug" } });
    for (const path of ["/nothing-here", "/healthz"]) {
      const id = (await talkative.get(path)).headers.get("x-request-id");
      expect(id).toMatch(/^req_/);
      expect(talkative.logLines.filter((line) => line.includes(`"${id}"`))).toHaveLength(1);
    }
    await talkative.stop();
    const { store } = gatehouse.app;
    const { find } = store.servers;
    store.servers.find = () => {
      throw new StoreUnavailable("not now");
    };
    const answers = await Promise.all(Array.from({ length: 20 }, () => gatehouse.get(PATH, key.token)));
    store.servers.find = find;
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(503));
    const ids = answers.map(({ headers }) => headers.get("x-request-id")).filter((id) => id !== null);
    const told = ids.filter((id) => gatehouse.logLines.some((line) => line.includes(`"${id}"`)));
    expect(ids).toEqual(told);
    expect(ids.length).toBeLessThan(20);
  });

  test("7.3 an upstream message is cleaned, capped and free of the server key", async () => {
    const mine = await gatehouse.addServer({ serverKey: "precious-Secret" });
    const { token } = await gatehouse.addKey(mine);
    const message = `bad \u001b[31mkey\r\n precious-Secret ${"x".repeat(600)}`;
    api.answer = () => Response.json({ error: message, code: 9999 }, { status: 500 });
    const body = await bodyOf(await gatehouse.get(PATH, token));
    expect(body).toMatchObject({ code: 5019, upstream_code: 9999 });
    expect(body.upstream_message).not.toContain("precious-Secret");
    expect(body.upstream_message).not.toMatch(/[\p{Cc}]/u);
    expect(body.upstream_message.length).toBeLessThanOrEqual(500);
  });
});
