// Signing in from a browser over HTTP: remembered devices, their short-lived tokens, one-time links, and everything that must
// be refused.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseConfig } from "../../src/config.ts";
import { DAY_MS, MINUTE_MS } from "../../src/core/durations.ts";
import { StoreUnavailable } from "../../src/core/errors.ts";
import { makeBackup, restoreBackup } from "../../src/maintenance/backup.ts";
import { startRedis, stopRedisServers } from "../redis-server.ts";
import { makeTestFolder, startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import {
  createOperator,
  expectRefusal,
  type NewKeyBody,
  type Operator,
  readAs,
  type ServerBody,
} from "./operator.ts";

const MASTER_KEY = "session-master-key-0123456789abcdef";
const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const INVALID = { code: 5008, message: "invalid_token" };
const FOREIGN = { code: 5009, message: "forbidden", details: { reason: "origin" } };

type AnyBody = { readonly code: number; readonly details?: object };
const parseBody = async (answer: Response) => (await answer.json()) as AnyBody;

type SessionBody = {
  readonly token: string;
  readonly expires_at: number;
  readonly expires_in: number;
  readonly key_id: string;
  readonly device_id: string;
  readonly device_expires_at: number;
};
type DeviceBody = {
  readonly device_id: string;
  readonly created_at: number;
  readonly last_used_at: number | null;
  readonly expires_at: number;
  readonly description: string;
};

/** What a browser keeps and sends by itself. */
class Browser {
  cookie: string | undefined;
  /** The attributes of the last cookie that was set. */
  attributes = "";

  constructor(
    readonly url: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  async send(method: string, path: string, headers: Record<string, string> = {}, body?: object) {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        Origin: this.url,
        "Sec-Fetch-Site": "same-origin",
        "User-Agent": FIREFOX,
        ...(this.cookie !== undefined && { Cookie: `other=1; ${this.cookie}; more=2` }),
        ...(body && { "Content-Type": "application/json" }),
        ...this.headers,
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const [, cookie, attributes] = /^([^;]+); (.*)$/.exec(response.headers.get("set-cookie") ?? "") ?? [];
    if (cookie !== undefined) {
      this.cookie = cookie.endsWith("=") ? undefined : cookie;
      this.attributes = attributes ?? "";
    }
    return response;
  }

  async remember(token: string): Promise<SessionBody> {
    return readAs(await this.send("POST", "/session/devices", { Authorization: `Bearer ${token}` }), 201);
  }

  renew(headers: Record<string, string> = {}): Promise<Response> {
    return this.send("POST", "/session", headers);
  }

  redeem(link: string, remember?: boolean): Promise<Response> {
    return this.send("POST", "/session/links", {}, { link, ...(remember !== undefined && { remember }) });
  }
}

const STORES = [
  { store: "SQLite", findEnv: async () => ({}) },
  { store: "Redis", findEnv: async () => ({ GATEHOUSE_STORE: (await startRedis()).url }) },
];

for (const { store, findEnv } of STORES) {
  describe(`signing in with ${store}`, () => {
    let gatehouse: TestGatehouse;
    let operator: Operator;
    let town: ServerBody;

    beforeAll(async () => {
      gatehouse = await startGatehouse({
        env: {
          GATEHOUSE_MASTER_KEY: MASTER_KEY,
          GATEHOUSE_SECRET: "session-secret-0123456789abcdefghijk",
          GATEHOUSE_CORS_ORIGINS: "https://elsewhere.example",
          GATEHOUSE_TRUST_PROXY: "127.0.0.1",
          ...(await findEnv()),
        },
      });
      operator = createOperator(gatehouse);
      town = await operator.addServer({ community: "town" });
    });
    afterAll(async () => {
      await gatehouse.stop();
      await stopRedisServers();
    });

    const readKey = (token: string, headers: Record<string, string> = {}) =>
      gatehouse.get("/v2/game/key", token, headers);
    const statusOf = async (token: string) => (await readKey(token)).status;
    const listDevices = async ({ key_id }: { key_id: string }) => {
      const answer = await gatehouse.admin("GET", `/admin/keys/${key_id}/devices`);
      return (await readAs<{ items: DeviceBody[] }>(answer)).items;
    };
    const makeLink = async ({ key_id }: { key_id: string }) => {
      const made = await gatehouse.admin("POST", `/admin/keys/${key_id}/links`);
      const { url, expires_at } = await readAs<{ url: string; expires_at: number }>(made, 201);
      return { url, expires_at, secret: url.slice(url.lastIndexOf("/") + 1) };
    };
    async function openRemembered(
      body: object = {},
    ): Promise<{ key: NewKeyBody; browser: Browser; session: SessionBody }> {
      const key = await operator.addKey(town, body);
      const browser = new Browser(gatehouse.url);
      return { key, browser, session: await browser.remember(key.token) };
    }

    test("a remembered device gets short-lived tokens that work as the key, and the operator sees it", async () => {
      const { key, browser, session } = await openRemembered({ commands: [":h"], sections: ["Players"] });
      const { now } = gatehouse.clock;
      expect(session).toMatchObject({
        key_id: key.key_id,
        expires_at: now + 15 * MINUTE_MS,
        expires_in: 900,
        device_expires_at: now + 30 * DAY_MS,
      });
      expect(browser.attributes).toBe("Path=/session; HttpOnly; SameSite=Strict; Max-Age=2592000");
      expect(browser.cookie).toMatch(/^gatehouse_device=gtd_[0-9A-Za-z]{43}$/);
      const own = await readAs(await readKey(session.token));
      expect(own).toEqual(await readAs(await readKey(key.token)));
      const renewed = await readAs<SessionBody>(await browser.renew());
      expect(renewed.device_id).toBe(session.device_id);
      const [device] = await listDevices(key);
      expect(device).toEqual({
        device_id: session.device_id,
        created_at: now,
        last_used_at: now,
        expires_at: now + 30 * DAY_MS,
        description: "Firefox, Linux",
      });
      const forbidden = await gatehouse.get("/v2/game/server?Staff=true", session.token);
      expect([forbidden.status, (await parseBody(forbidden)).code]).toEqual([403, 5011]);
    });

    test("requests with the key and with its session tokens are counted and blocked together", async () => {
      const { key, session } = await openRemembered();
      const left = async (token: string) =>
        Number((await readKey(token)).headers.get("x-ratelimit-remaining"));
      expect(await left(key.token)).toBe(119);
      expect(await left(session.token)).toBe(118);
      for (let sent = 2; sent < 520; sent++) {
        await gatehouse.app.store.limits.judge(
          { keyId: key.key_id, serverId: town.server_id },
          gatehouse.clock.now,
          true,
        );
      }
      expect((await parseBody(await readKey(session.token))).code).toBe(5100);
      expect((await operator.showKey(key)).usage.requests).toBe(3 + 1);
    });

    test("a session token expires to the millisecond, is renewed, and opens nothing but the API", async () => {
      const { browser, session } = await openRemembered();
      gatehouse.clock.advance(15 * MINUTE_MS - 1);
      expect(await statusOf(session.token)).toBe(200);
      gatehouse.clock.advance(1);
      await expectRefusal(await readKey(session.token), 401, INVALID);
      const renewed = await readAs<SessionBody>(await browser.renew());
      expect(await statusOf(renewed.token)).toBe(200);
      const again = await browser.send("POST", "/session/devices", {
        Authorization: `Bearer ${renewed.token}`,
      });
      await expectRefusal(again, 401, INVALID);
      for (const path of ["/admin/servers", "/metrics"])
        expect((await gatehouse.get(path, renewed.token)).status).toBe(401);
    });

    test("a session token with another character, or another device in it, is refused", async () => {
      const [one, other] = [await openRemembered(), await openRemembered()];
      const { token } = one.session;
      const mixed = other.session.token.slice(0, 24) + token.slice(24);
      const flipped = token.slice(0, -1) + (token.endsWith("A") ? "B" : "A");
      for (const wrong of [mixed, flipped, `${token}A`, token.slice(0, -1), token.replace("gts_", "gth_")])
        await expectRefusal(await readKey(wrong), 401, INVALID);
    });

    test("only our own page is answered: no cookie, link or key helps another one", async () => {
      const { key, browser, session } = await openRemembered();
      const { secret } = await makeLink(key);
      const { host, port } = new URL(gatehouse.url);
      const foreign: Record<string, string>[] = [
        { Origin: "" },
        { Origin: "null" },
        { Origin: "https://elsewhere.example" },
        { Origin: `http://127.0.0.1:${Number(port) + 1}` },
        { Origin: `http://x.${host}` },
        { Origin: `${gatehouse.url}/` },
        { Origin: `ftp://${host}` },
        { "Sec-Fetch-Site": "cross-site" },
        { "Sec-Fetch-Site": "same-site" },
        { "Sec-Fetch-Site": "none" },
        // The browser uses TLS, so a page over plain HTTP is another one.
        { "X-Forwarded-Proto": "https" },
      ];
      for (const headers of foreign) {
        await expectRefusal(await browser.renew(headers), 403, FOREIGN);
        await expectRefusal(await browser.send("DELETE", "/session", headers), 403, FOREIGN);
        const withToken = { Authorization: `Bearer ${key.token}`, ...headers };
        await expectRefusal(await browser.send("POST", "/session/devices", withToken), 403, FOREIGN);
        const redeemed = await browser.send("POST", "/session/links", headers, { link: secret });
        await expectRefusal(redeemed, 403, FOREIGN);
        expect(redeemed.headers.get("set-cookie")).toBeNull();
      }
      const bare = await fetch(`${gatehouse.url}/session`, {
        method: "POST",
        headers: { Cookie: browser.cookie ?? "" },
      });
      await expectRefusal(bare, 403, FOREIGN);
      expect(await statusOf(session.token)).toBe(200);
      expect(await listDevices(key)).toHaveLength(1);
      expect((await new Browser(gatehouse.url).redeem(secret)).status).toBe(201);
    });

    test("CORS never applies, also not for an origin that the operator allows", async () => {
      const { browser } = await openRemembered();
      const allowed = { Origin: "https://elsewhere.example" };
      expect(
        (await gatehouse.get("/v2/game/key", undefined, allowed)).headers.get("access-control-allow-origin"),
      ).not.toBeNull();
      const answer = await browser.renew(allowed);
      expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
      const preflight = await fetch(`${gatehouse.url}/session`, {
        method: "OPTIONS",
        headers: { ...allowed, "Access-Control-Request-Method": "POST" },
      });
      expect(preflight.status).toBe(405);
      expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
    });

    test("the API takes no cookie", async () => {
      const { browser } = await openRemembered();
      for (const path of ["/v2/game/key", "/v2/game/server", "/admin/keys", "/session"]) {
        const answer = await browser.send("GET", path);
        expect([path, answer.status]).toEqual([path, path === "/session" ? 405 : 401]);
      }
    });

    test("over TLS, as a trusted proxy says, the cookie is Secure and has the prefix, and the plain one counts nothing", async () => {
      const key = await operator.addKey(town);
      const origin = gatehouse.url.replace("http:", "https:");
      const secure = new Browser(gatehouse.url, { Origin: origin, "X-Forwarded-Proto": "https" });
      await secure.remember(key.token);
      expect(secure.attributes).toBe("Path=/session; HttpOnly; SameSite=Strict; Secure; Max-Age=2592000");
      expect(secure.cookie).toMatch(/^__Secure-gatehouse_device=gtd_/);
      expect((await secure.renew()).status).toBe(200);
      secure.cookie = secure.cookie?.replace("__Secure-", "");
      expect((await parseBody(await secure.renew())).code).toBe(5007);
    });

    test("two cookies of our name count as none", async () => {
      const [one, other] = [await openRemembered(), await openRemembered()];
      one.browser.cookie = `${one.browser.cookie}; ${other.browser.cookie}`;
      expect((await parseBody(await one.browser.renew())).code).toBe(5007);
    });

    test("signing out ends the device and its tokens at once, and deletes the cookie", async () => {
      const { key, browser, session } = await openRemembered();
      expect(await statusOf(session.token)).toBe(200);
      const { cookie } = browser;
      expect((await browser.send("DELETE", "/session")).status).toBe(204);
      expect(browser.attributes).toEndWith("Max-Age=0");
      expect(browser.cookie).toBeUndefined();
      await expectRefusal(await readKey(session.token), 401, INVALID);
      browser.cookie = cookie;
      await expectRefusal(await browser.renew(), 401, INVALID);
      expect(await listDevices(key)).toEqual([]);
      expect(await statusOf(key.token)).toBe(200);
      expect((await browser.send("DELETE", "/session")).status).toBe(204);
    });

    test("signing out deletes the cookie also while the store is away, and says that it is", async () => {
      const { browser, session } = await openRemembered();
      const { devices } = gatehouse.app.store;
      const { end } = devices;
      devices.end = () => Promise.reject(new StoreUnavailable("broken for a test"));
      try {
        const away = { code: 5106, message: "unavailable", retry_after: 1 };
        await expectRefusal(await browser.send("DELETE", "/session"), 503, away);
      } finally {
        devices.end = end;
      }
      expect(browser.cookie).toBeUndefined();
      expect(await statusOf(session.token)).toBe(200);
    });

    test("an operator ends a device at once; another key's id does not find it", async () => {
      const { key, browser, session } = await openRemembered();
      const other = await operator.addKey(town);
      expect(await statusOf(session.token)).toBe(200);
      const end = (keyId: string) =>
        gatehouse.admin("DELETE", `/admin/keys/${keyId}/devices/${session.device_id}`);
      expect((await end(other.key_id)).status).toBe(404);
      expect((await end(key.key_id)).status).toBe(204);
      expect((await end(key.key_id)).status).toBe(404);
      await expectRefusal(await readKey(session.token), 401, INVALID);
      await expectRefusal(await browser.renew(), 401, INVALID);
    });

    test("a device is refused with its key: suspended, expired, revoked, rotated, wrong address", async () => {
      const suspended = await openRemembered();
      await operator.changeKey(suspended.key, { suspended: true });
      for (const answer of [await suspended.browser.renew(), await readKey(suspended.session.token)])
        expect(await parseBody(answer)).toMatchObject({ code: 5009, details: { reason: "suspended" } });
      await operator.changeKey(suspended.key, { suspended: false });
      expect((await suspended.browser.renew()).status).toBe(200);

      const revoked = await openRemembered();
      await operator.revoke(revoked.key);
      await expectRefusal(await revoked.browser.renew(), 401, INVALID);
      await expectRefusal(await readKey(revoked.session.token), 401, INVALID);
      expect(await listDevices(revoked.key)).toEqual([]);

      const rotated = await openRemembered();
      const link = await makeLink(rotated.key);
      await operator.rotate(rotated.key);
      await expectRefusal(await rotated.browser.renew(), 401, INVALID);
      await expectRefusal(await readKey(rotated.session.token), 401, INVALID);
      await expectRefusal(await new Browser(gatehouse.url).redeem(link.secret), 401, INVALID);

      const elsewhere = await openRemembered();
      await operator.changeKey(elsewhere.key, { ip_allow: ["203.0.113.7"] });
      expect(await parseBody(await elsewhere.browser.renew())).toMatchObject({
        details: { reason: "address" },
      });

      const graced = await openRemembered();
      await operator.rotate(graced.key, { grace_seconds: 60 });
      const late = await new Browser(gatehouse.url).remember(graced.key.token);
      expect(late.device_expires_at).toBe(gatehouse.clock.now + MINUTE_MS);
      const expiring = await openRemembered({ expires_at: gatehouse.clock.now + MINUTE_MS });
      expect((await graced.browser.renew()).status).toBe(200);
      gatehouse.clock.advance(MINUTE_MS);
      for (const { browser, session } of [graced, expiring]) {
        await expectRefusal(await browser.renew(), 401, INVALID);
        await expectRefusal(await readKey(session.token), 401, INVALID);
      }
      await expectRefusal(await readKey(late.token), 401, INVALID);
    });

    test("a device has to sign in again after 30 days", async () => {
      const { browser } = await openRemembered();
      gatehouse.clock.advance(30 * DAY_MS - 1);
      const last = await readAs<SessionBody>(await browser.renew());
      expect(last.expires_in).toBe(0);
      gatehouse.clock.advance(1);
      await expectRefusal(await browser.renew(), 401, INVALID);
      await expectRefusal(await readKey(last.token), 401, INVALID);
    });

    test("a browser that signs in anew is one device, not two", async () => {
      const { key, browser, session } = await openRemembered();
      const next = await browser.remember(key.token);
      expect((await listDevices(key)).map(({ device_id }) => device_id)).toEqual([next.device_id]);
      await expectRefusal(await readKey(session.token), 401, INVALID);
    });

    test("a link signs one browser in, once; used, expired and unknown links are answered alike", async () => {
      const key = await operator.addKey(town);
      const { url, secret, expires_at } = await makeLink(key);
      expect(url).toBe(`${gatehouse.url}/#/link/${secret}`);
      expect(secret).toMatch(/^gtl_[0-9A-Za-z]{43}$/);
      expect(expires_at).toBe(gatehouse.clock.now + 10 * MINUTE_MS);
      const browser = new Browser(gatehouse.url);
      const session = await readAs<SessionBody>(await browser.redeem(secret, true), 201);
      expect(await statusOf(session.token)).toBe(200);
      expect(browser.attributes).toContain("Max-Age=2592000");
      expect((await browser.renew()).status).toBe(200);

      const late = await makeLink(key);
      gatehouse.clock.advance(10 * MINUTE_MS);
      const unknown = `gtl_${"x".repeat(43)}`;
      const answers = [secret, late.secret, unknown, "nonsense"].map((link) =>
        new Browser(gatehouse.url).redeem(link),
      );
      const texts = await Promise.all(
        (await Promise.all(answers)).map(async (answer) => `${answer.status} ${await answer.text()}`),
      );
      expect(new Set(texts)).toEqual(new Set([`401 ${JSON.stringify(INVALID)}`]));
    });

    test("a link that is not to be remembered ends with the browser, and after 12 hours", async () => {
      const key = await operator.addKey(town);
      const browser = new Browser(gatehouse.url);
      const session = await readAs<SessionBody>(await browser.redeem((await makeLink(key)).secret), 201);
      expect(browser.attributes).toBe("Path=/session; HttpOnly; SameSite=Strict");
      expect(session.device_expires_at).toBe(gatehouse.clock.now + DAY_MS / 2);
    });

    test("a link of a suspended key is refused and stays open; one of a revoked key is gone", async () => {
      const key = await operator.addKey(town);
      const { secret } = await makeLink(key);
      await operator.changeKey(key, { suspended: true });
      expect((await new Browser(gatehouse.url).redeem(secret)).status).toBe(403);
      await operator.changeKey(key, { suspended: false });
      expect((await new Browser(gatehouse.url).redeem(secret)).status).toBe(201);
      const other = await makeLink(key);
      await operator.revoke(key);
      await expectRefusal(await new Browser(gatehouse.url).redeem(other.secret), 401, INVALID);
      expect((await gatehouse.admin("POST", `/admin/keys/${key.key_id}/links`)).status).toBe(409);
    });

    test("an address that guesses cookies or links is told to wait, and the right ones always pass", async () => {
      const { key, browser } = await openRemembered();
      const { secret } = await makeLink(key);
      gatehouse.clock.advance(MINUTE_MS);
      const guess = async (i: number) => {
        const guesser = new Browser(gatehouse.url);
        guesser.cookie = `gatehouse_device=gtd_${String(i).padStart(43, "0")}`;
        const answer =
          i % 2 === 0 ? await guesser.renew() : await guesser.redeem(`gtl_${String(i).padStart(43, "0")}`);
        return (await parseBody(answer)).code;
      };
      const codes: number[] = [];
      for (let i = 0; i < 12; i++) codes.push(await guess(i));
      expect(codes).toEqual([...Array(10).fill(5008), 5107, 5107]);
      expect((await browser.renew()).status).toBe(200);
      expect((await new Browser(gatehouse.url).redeem(secret)).status).toBe(201);
      gatehouse.clock.advance(MINUTE_MS);
    });

    test("a key signs in 20 devices in an hour, not more, and has 20 at most", async () => {
      const key = await operator.addKey(town);
      for (let i = 0; i < 20; i++) await new Browser(gatehouse.url).remember(key.token);
      const headers = { Authorization: `Bearer ${key.token}` };
      const refused = await new Browser(gatehouse.url).send("POST", "/session/devices", headers);
      expect([refused.status, (await parseBody(refused)).code]).toEqual([429, 5107]);
      gatehouse.clock.advance(60 * MINUTE_MS);
      await new Browser(gatehouse.url).remember(key.token);
      expect(await listDevices(key)).toHaveLength(20);
    });

    test("who signed in, out, made a link and ended a device is in the audit log, without a secret", async () => {
      const { key, browser } = await openRemembered();
      const { secret } = await makeLink(key);
      const other = new Browser(gatehouse.url);
      const { device_id } = await readAs<SessionBody>(await other.redeem(secret), 201);
      await browser.send("DELETE", "/session");
      await gatehouse.admin("DELETE", `/admin/keys/${key.key_id}/devices/${device_id}`);
      const entries = (await operator.listAudit()).filter(({ target }) => target === key.key_id);
      expect(entries.map(({ action, actor }) => [action, actor.fingerprint === key.key_id])).toEqual([
        ["device.ended", false],
        ["device.signed_out", true],
        ["device.signed_in", true],
        ["link.created", false],
        ["device.signed_in", true],
        ["key.created", false],
      ]);
      expect(entries[2]?.details.after).toMatchObject({
        device_id,
        signed_in_by: "link",
        description: "Firefox, Linux",
      });
      expect(JSON.stringify(entries)).not.toMatch(/gt[dlsh]_/);
    });

    test("the master key is never remembered", async () => {
      const headers = { Authorization: `Bearer ${MASTER_KEY}` };
      await expectRefusal(
        await new Browser(gatehouse.url).send("POST", "/session/devices", headers),
        401,
        INVALID,
      );
    });
  });
}

describe("addresses", () => {
  test("with a listener for operators, /session is on everybody's, and the links lead to the public address", async () => {
    const gatehouse = await startGatehouse({
      env: { GATEHOUSE_ADMIN_PORT: "0", GATEHOUSE_PUBLIC_URL: "https://gatehouse.example.org" },
    });
    const { keyId, token } = await gatehouse.addKey(await gatehouse.addServer());
    const browser = new Browser(gatehouse.url);
    await browser.remember(token);
    expect((await browser.renew()).status).toBe(200);
    const path = `/admin/keys/${keyId}/links`;
    expect((await gatehouse.admin("POST", path)).status).toBe(404);
    const headers = { Authorization: `Bearer ${gatehouse.masterKey}` };
    const made = await fetch(gatehouse.app.adminUrl + path, { method: "POST", headers });
    const { url } = await readAs<{ url: string }>(made, 201);
    expect(url).toStartWith("https://gatehouse.example.org/#/link/gtl_");
    await gatehouse.stop();
  });

  test("a device is still signed in after a restart", async () => {
    const first = await startGatehouse();
    const { token } = await first.addKey(await first.addServer());
    const browser = new Browser(first.url);
    await browser.remember(token);
    await first.app.stop();
    const second = await startGatehouse({ folder: first.folder, clock: first.clock });
    const returned = new Browser(second.url);
    returned.cookie = browser.cookie;
    expect((await returned.renew()).status).toBe(200);
    await second.stop();
  });

  test("a restored backup has no signed-in devices and no open links, and its keys work", async () => {
    const root = makeTestFolder();
    const secret = "session-secret-0123456789abcdefghijk";
    const envOf = (name: string) => ({ GATEHOUSE_SECRET: secret, GATEHOUSE_DATA_DIR: join(root, name) });
    const start = (name: string) => startGatehouse({ folder: join(root, name), env: envOf(name) });
    const first = await start("old");
    const { keyId, token } = await first.addKey(await first.addServer());
    const browser = new Browser(first.url);
    await browser.remember(token);
    const { url } = await readAs<{ url: string }>(
      await first.admin("POST", `/admin/keys/${keyId}/links`),
      201,
    );
    await first.app.stop();
    makeBackup(parseConfig(envOf("old")), join(root, "backup.db"));
    restoreBackup(parseConfig(envOf("new")), join(root, "backup.db"));
    const second = await start("new");
    const returned = new Browser(second.url);
    returned.cookie = browser.cookie;
    await expectRefusal(await returned.renew(), 401, INVALID);
    await expectRefusal(await returned.redeem(url.slice(url.lastIndexOf("/") + 1)), 401, INVALID);
    expect((await second.get("/v2/game/key", token)).status).toBe(200);
    await second.app.stop();
    rmSync(root, { recursive: true, force: true });
  });
});
