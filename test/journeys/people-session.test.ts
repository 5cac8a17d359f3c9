// People who sign in from a browser over HTTP: invitations, sessions, their short-lived tokens, and everything that must be
// refused.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/core/durations.ts";
import { StoreUnavailable } from "../../src/core/errors.ts";
import type { GameServer } from "../../src/core/game-server.ts";
import type { Person } from "../../src/core/people/person.ts";
import { METHODS } from "../../src/http/router.ts";
import { type Handlers, listRoutes } from "../../src/http/routes.ts";
import { parseConfig } from "../../src/instance/config.ts";
import { makeBackup, restoreBackup } from "../../src/maintenance/backup.ts";
import { addPerson, invite, PageBrowser, signIn, type TokenBody } from "../people.ts";
import { openSocket, writeRequest } from "../raw-socket.ts";
import { startSharedServices, stopSharedServices } from "../shared-services.ts";
import { makeTestFolder, startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { makeOldFile, OLD_SCHEMA, OLD_SECRET } from "../store/old-files.ts";
import { createOperator, expectRefusal, type Operator, readAs } from "./operator.ts";

const MASTER_KEY = "session-master-key-0123456789abcdef";
const INVALID = { code: 5008, message: "invalid_token" };
const MISSING = { code: 5007, message: "missing_token" };
const FOREIGN = { code: 5009, message: "forbidden", details: { reason: "origin" } };
const NO_ROLE = { code: 5009, message: "forbidden", details: { reason: "role" } };
const COOKIE = "gatehouse_session";

type MeBody = {
  readonly person: { readonly person_id: string; readonly name: string; readonly sessions: number };
  readonly servers: readonly {
    readonly server_id: string;
    readonly name: string;
    readonly role: string;
    readonly title: string;
  }[];
  readonly is_operator: boolean;
};
type SessionsBody = { readonly items: readonly { session_id: string; is_current: boolean; description: string }[] };
const codeOf = async (answer: Response) => ((await answer.json()) as { code: number }).code;

const STORES = [
  { store: "SQLite", findEnv: async () => ({}) },
  { store: "PostgreSQL", findEnv: startSharedServices },
];

for (const { store, findEnv } of STORES) {
  describe(`people who sign in, with ${store}`, () => {
    let gatehouse: TestGatehouse;
    let operator: Operator;
    let town: GameServer;
    let village: GameServer;

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
      town = await gatehouse.addServer({ name: "Town", community: "town" });
      village = await gatehouse.addServer({ name: "Village" });
    });
    afterAll(async () => {
      await gatehouse.stop();
      await stopSharedServices();
    });

    const readKey = (token: string) => gatehouse.get("/v2/game/key", token);
    const statusOf = async (token: string) => (await readKey(token)).status;
    const addModerator = (role = "moderator") =>
      addPerson(gatehouse, { servers: [{ serverId: town.serverId, role }], playerId: "4711" });
    async function open(role?: string): Promise<{ person: Person; browser: PageBrowser; token: string }> {
      const person = await addModerator(role);
      const browser = await signIn(gatehouse, person);
      return { person, browser, token: await browser.token(town.serverId) };
    }

    test("an invitation signs one browser in, once; used, expired, replaced and unknown ones are answered alike", async () => {
      const person = await addModerator();
      const secret = await invite(gatehouse, person);
      const browser = new PageBrowser(gatehouse.url);
      const me = await readAs<MeBody>(await browser.redeem(secret, true), 201);
      expect(me).toMatchObject({
        person: { person_id: person.personId, name: person.name, sessions: 1 },
        servers: [{ server_id: town.serverId, name: "Town", role: "moderator", title: "Moderator" }],
        is_operator: false,
      });
      expect(browser.attributes.get(COOKIE)).toBe("Path=/session; HttpOnly; SameSite=Strict; Max-Age=2592000");
      expect(browser.cookies.get(COOKIE)).toMatch(/^gtd_[0-9A-Za-z]{43}$/);
      const replaced = await invite(gatehouse, person);
      const late = await invite(gatehouse, person);
      gatehouse.clock.advance(DAY_MS);
      const unknown = `gti_${"x".repeat(43)}`;
      const texts: string[] = [];
      for (const wrong of [secret, replaced, late, unknown, "nonsense"]) {
        const answer = await new PageBrowser(gatehouse.url).redeem(wrong);
        texts.push(`${answer.status} ${await answer.text()}`);
      }
      expect(new Set(texts)).toEqual(new Set([`401 ${JSON.stringify(INVALID)}`]));
      gatehouse.clock.advance(MINUTE_MS);
    });

    test("a token for a server works as a key with the rights of the role, for fifteen minutes to the millisecond", async () => {
      const { person, browser } = await open("trial");
      const granted = await readAs<TokenBody>(await browser.grant(town.serverId));
      const { now } = gatehouse.clock;
      expect(granted).toMatchObject({
        expires_at: now + 15 * MINUTE_MS,
        expires_in: 900,
        server_id: town.serverId,
        session_expires_at: now + 30 * DAY_MS,
      });
      const own = await readAs<object>(await readKey(granted.token));
      expect(own).toMatchObject({
        key_id: `${person.personId}@${town.serverId}`,
        label: person.name,
        server_id: town.serverId,
        versions: ["v2"],
        commands: [":h", ":m", ":pm"],
        expires_at: granted.expires_at,
      });
      gatehouse.clock.advance(15 * MINUTE_MS - 1);
      expect(await statusOf(granted.token)).toBe(200);
      gatehouse.clock.advance(1);
      await expectRefusal(await readKey(granted.token), 401, INVALID);
      expect(await statusOf(await browser.token(town.serverId))).toBe(200);
    });

    test("one browser moves between the person's servers; where it has no role it is refused, and learns of no server", async () => {
      const { person, browser } = await open();
      await expectRefusal(await browser.grant(village.serverId), 403, NO_ROLE);
      await expectRefusal(await browser.grant("srv_00000000000000000000"), 403, NO_ROLE);
      const { serverId } = village;
      await gatehouse.app.store.people.update(person.personId, {
        servers: [...person.servers, { serverId, role: "viewer" }],
      });
      expect(await readAs<object>(await readKey(await browser.token(serverId)))).toMatchObject({
        server_id: serverId,
        commands: [],
      });
      const me = await readAs<MeBody>(await browser.send("POST", "/session/me"));
      expect(me.servers.map(({ server_id }) => server_id).sort()).toEqual([town.serverId, serverId].sort());
    });

    test("an operator gets every server and the admin API; a token of one kind is none of the other", async () => {
      const person = await addPerson(gatehouse, { isOperator: true });
      const browser = await signIn(gatehouse, person);
      const ofServer = await browser.token(village.serverId);
      expect(await readAs<object>(await readKey(ofServer))).toMatchObject({ commands: ["*"] });
      const granted = await readAs<TokenBody>(await browser.grant());
      expect(granted.server_id).toBeNull();
      await expectRefusal(await readKey(granted.token), 401, INVALID);
      await expectRefusal(await gatehouse.get("/admin/servers", ofServer), 401, {
        code: 5006,
        message: "invalid_master_key",
      });
      await expectRefusal(await browser.grant("srv_00000000000000000000"), 404, { code: 5020, message: "not_found" });
      const me = await readAs<MeBody>(await gatehouse.get("/session/me", granted.token));
      expect(me.is_operator).toBe(true);
      expect(me.servers).toContainEqual(
        expect.objectContaining({ server_id: town.serverId, name: "Town", role: "manager", title: "Manager" }),
      );
    });

    test("a body that is wrong is told what it must be", async () => {
      const { browser } = await open();
      const details = async (body: object) =>
        (await readAs<{ details: object }>(await browser.send("POST", "/session", body), 400)).details;
      expect(await details({ server_id: 5 })).toEqual({ server_id: "must be the id of a server (srv_…)" });
      expect(await details({ own: 1 })).toEqual({ own: expect.stringMatching(/^must be true/) });
    });

    test("who may nothing in the admin API gets no token for it", async () => {
      for (const role of ["viewer", "trial"]) {
        const { browser } = await open(role);
        await expectRefusal(await browser.grant(), 403, NO_ROLE);
      }
      for (const role of ["moderator", "head", "manager"]) {
        const { browser } = await open(role);
        expect((await browser.grant()).status).toBe(200);
      }
    });

    test("a token with another character, or with a part of another, is refused", async () => {
      const [one, other] = [await open(), await open()];
      const { token } = one;
      const mixed = other.token.slice(0, 24) + token.slice(24);
      const flipped = token.slice(0, -1) + (token.endsWith("A") ? "B" : "A");
      const asAdmin = token.replace(`.${town.serverId.slice(4)}.`, ".admin.");
      for (const wrong of [mixed, flipped, asAdmin, `${token}A`, token.slice(0, -1), token.replace("gts_", "gth_")])
        await expectRefusal(await readKey(wrong), 401, INVALID);
    });

    test("role changed, role taken, disabled, deleted, session ended: each counts at the next request", async () => {
      const { people } = gatehouse.app.store;
      const { person, browser, token } = await open();
      expect((await gatehouse.get("/v2/game/server/command", token)).status).toBe(200);
      await people.update(person.personId, { servers: [{ serverId: town.serverId, role: "viewer" }] });
      expect(await codeOf(await gatehouse.get("/v2/game/server/command", token))).toBe(5009);
      expect(await statusOf(token)).toBe(200);
      await people.update(person.personId, { servers: [] });
      await expectRefusal(await readKey(token), 403, NO_ROLE);
      await expectRefusal(await browser.grant(town.serverId), 403, NO_ROLE);

      const disabled = await open();
      expect(await statusOf(disabled.token)).toBe(200);
      await people.update(disabled.person.personId, { isDisabled: true });
      await expectRefusal(await readKey(disabled.token), 401, INVALID);
      await expectRefusal(await disabled.browser.grant(town.serverId), 401, INVALID);
      await expectRefusal(await disabled.browser.redeem(await invite(gatehouse, disabled.person)), 401, INVALID);

      const deleted = await open();
      await people.delete(deleted.person.personId);
      await expectRefusal(await readKey(deleted.token), 401, INVALID);
      await expectRefusal(await deleted.browser.send("POST", "/session/me"), 401, INVALID);
      gatehouse.clock.advance(MINUTE_MS);
    });

    test("changing a role changes what all who have it may do, at once", async () => {
      const { roles } = gatehouse.app.store;
      const role = { name: "helper", title: "Helper", sections: 0, hide: 0, commands: [":h"], may: 0 };
      await roles.put(role);
      const { token } = await open("helper");
      expect(await readAs<object>(await readKey(token))).toMatchObject({ commands: [":h"] });
      await roles.put({ ...role, commands: [":m"] });
      expect(await readAs<object>(await readKey(token))).toMatchObject({ commands: [":m"] });
    });

    /** Every route below /session that changes something. */
    const CHANGING = [
      ["POST", "/session"],
      ["DELETE", "/session"],
      ["POST", "/session/me"],
      ["POST", "/session/invitations"],
      ["POST", "/session/passkeys"],
      ["POST", "/session/passkeys/options"],
      ["POST", "/session/passkeys/sign-in"],
      ["POST", "/session/passkeys/sign-in/options"],
      ["DELETE", "/session/passkeys/psk_x0PpV3mYbL1nKcD7w5tq"],
      ["DELETE", "/session/sessions/ses_x0PpV3mYbL1nKcD7w5tq"],
    ] as const;

    test("no other route below /session changes anything", () => {
      const handlers = new Proxy({}, { get: () => ({ before: () => () => new Response() }) }) as Handlers;
      const changing = listRoutes(handlers)
        .filter(({ path }) => path === "/session" || path.startsWith("/session/"))
        .flatMap((route) =>
          METHODS.filter((method) => method !== "GET" && route[method]).map((method) => [method, route.path]),
        );
      const listed = CHANGING.map(([method, path]) => [method, path.replace(/\/(?:psk|ses)_\w+$/, "/:id")]);
      expect(changing.toSorted()).toEqual(listed.toSorted());
    });

    test("who has no role gets a token for their own sessions and passkeys, which opens nothing else", async () => {
      const person = await addPerson(gatehouse);
      const browser = await signIn(gatehouse, person);
      for (const body of [{}, { own: false }, { server_id: town.serverId }])
        await expectRefusal(await browser.send("POST", "/session", body), 403, NO_ROLE);
      const granted = await readAs<TokenBody>(await browser.send("POST", "/session", { own: true }));
      expect(granted).toMatchObject({ server_id: null, expires_in: 900 });
      const ask = (path: string) => gatehouse.get(path, granted.token);
      expect((await readAs<SessionsBody>(await ask("/session/sessions"))).items).toHaveLength(1);
      expect(await readAs<object>(await ask("/session/passkeys"))).toEqual({ items: [] });
      expect(await readAs<MeBody>(await ask("/session/me"))).toMatchObject({ servers: [] });
      await expectRefusal(await ask("/v2/game/key"), 401, INVALID);
      expect((await ask("/admin/people")).status).toBe(401);
      // Not even with a role, or as an operator.
      await gatehouse.app.store.people.update(person.personId, {
        servers: [{ serverId: town.serverId, role: "manager" }],
      });
      await expectRefusal(await ask("/v2/game/key"), 401, INVALID);
      expect((await ask("/admin/people")).status).toBe(401);
    });

    test.each(CHANGING)("%s %s is answered to our own page only", async (method, path) => {
      const { person, browser, token } = await open();
      const secret = await invite(gatehouse, person);
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
      const bodies: (object | undefined)[] = [undefined, { secret }];
      for (const headers of foreign) {
        for (const body of bodies) {
          const answer = await browser.send(method, path, body, headers);
          await expectRefusal(answer, 403, FOREIGN);
          expect(answer.headers.getSetCookie()).toEqual([]);
        }
        const withToken = { Authorization: `Bearer ${token}`, ...headers };
        await expectRefusal(await browser.send(method, path, undefined, withToken), 403, FOREIGN);
      }
      const bare = await fetch(gatehouse.url + path, {
        method,
        headers: { Cookie: `${COOKIE}=${browser.cookies.get(COOKIE)}` },
      });
      await expectRefusal(bare, 403, FOREIGN);
      const preflight = await fetch(gatehouse.url + path, {
        method: "OPTIONS",
        headers: { Origin: "https://elsewhere.example", "Access-Control-Request-Method": method },
      });
      expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([405, null]);
      expect(await statusOf(token)).toBe(200);
      expect((await new PageBrowser(gatehouse.url).redeem(secret)).status).toBe(201);
    });

    test("reads below /session take a token and no cookie, and nothing else takes a cookie", async () => {
      const { browser, token } = await open();
      for (const path of ["/session/me", "/session/sessions", "/session/passkeys"]) {
        await expectRefusal(await browser.send("GET", path), 401, MISSING);
        expect((await gatehouse.get(path, token)).status).toBe(200);
        await expectRefusal(await gatehouse.get(path, `${token}x`), 401, INVALID);
        await expectRefusal(await gatehouse.get(path, MASTER_KEY), 401, INVALID);
        const allowed = { Origin: "https://elsewhere.example" };
        expect((await gatehouse.get(path, token, allowed)).headers.get("access-control-allow-origin")).toBeNull();
      }
      for (const path of ["/v2/game/key", "/v2/game/server", "/admin/keys"])
        await expectRefusal(await browser.send("GET", path), 401, MISSING);
      const { token: apiKey } = await gatehouse.addKey(town);
      await expectRefusal(await gatehouse.get("/session/me", apiKey), 401, INVALID);
      gatehouse.clock.advance(MINUTE_MS);
    });

    test("over TLS, as a trusted proxy says, the cookie is Secure and has the prefix, and the plain one counts nothing", async () => {
      const origin = gatehouse.url.replace("http:", "https:");
      const secure = new PageBrowser(gatehouse.url, { Origin: origin, "X-Forwarded-Proto": "https" });
      await readAs(await secure.redeem(await invite(gatehouse, await addModerator()), true), 201);
      const name = `__Secure-${COOKIE}`;
      expect(secure.attributes.get(name)).toBe("Path=/session; HttpOnly; SameSite=Strict; Secure; Max-Age=2592000");
      expect((await secure.grant(town.serverId)).status).toBe(200);
      secure.cookies.set(COOKIE, secure.cookies.get(name) ?? "");
      secure.cookies.delete(name);
      await expectRefusal(await secure.grant(town.serverId), 401, MISSING);
    });

    test("two cookies of our name count as none", async () => {
      const { browser } = await open();
      browser.cookies.set("a", `1; ${COOKIE}=${browser.cookies.get(COOKIE)}`);
      await expectRefusal(await browser.grant(town.serverId), 401, MISSING);
    });

    test("signing out ends the session and its tokens at once, and deletes the cookie", async () => {
      const { browser, token } = await open();
      expect(await statusOf(token)).toBe(200);
      const cookie = browser.cookies.get(COOKIE) ?? "";
      expect((await browser.send("DELETE", "/session")).status).toBe(204);
      expect(browser.attributes.get(COOKIE)).toEndWith("Max-Age=0");
      expect(browser.cookies.has(COOKIE)).toBe(false);
      await expectRefusal(await readKey(token), 401, INVALID);
      browser.cookies.set(COOKIE, cookie);
      await expectRefusal(await browser.grant(town.serverId), 401, INVALID);
      expect((await browser.send("DELETE", "/session")).status).toBe(204);
    });

    test("signing out deletes the cookie also while the store is away, and says that it is", async () => {
      const { browser, token } = await open();
      const { sessions } = gatehouse.app.store;
      const { end } = sessions;
      sessions.end = () => Promise.reject(new StoreUnavailable("broken for a test"));
      try {
        const away = { code: 5106, message: "unavailable", retry_after: 1 };
        await expectRefusal(await browser.send("DELETE", "/session"), 503, away);
      } finally {
        sessions.end = end;
      }
      expect(browser.cookies.has(COOKIE)).toBe(false);
      expect(await statusOf(token)).toBe(200);
    });

    test("people list their own sessions and end any of them; nobody else's", async () => {
      const { person, browser, token } = await open();
      const phone = await signIn(gatehouse, person);
      const other = await open();
      const list = async () => (await readAs<SessionsBody>(await gatehouse.get("/session/sessions", token))).items;
      const [first, second] = await list();
      expect([first?.description, second?.description]).toEqual(["Firefox, Linux", "Firefox, Linux"]);
      const current = (await list()).find(({ is_current }) => is_current);
      const phones = (await list()).find(({ is_current }) => !is_current);
      const phoneToken = await phone.token(town.serverId);
      const end = (by: PageBrowser, id = "") => by.send("DELETE", `/session/sessions/${id}`);
      expect((await end(other.browser, phones?.session_id)).status).toBe(404);
      expect((await end(browser, phones?.session_id)).status).toBe(204);
      expect((await end(browser, phones?.session_id)).status).toBe(404);
      await expectRefusal(await readKey(phoneToken), 401, INVALID);
      await expectRefusal(await phone.grant(town.serverId), 401, INVALID);
      expect((await list()).map(({ session_id }) => session_id)).toEqual([current?.session_id ?? ""]);
      expect(await statusOf(token)).toBe(200);
    });

    test("a person has ten sessions: one more ends the one that was not used for the longest time", async () => {
      const person = await addModerator();
      const browsers: PageBrowser[] = [];
      for (let i = 0; i < 11; i++) {
        browsers.push(await signIn(gatehouse, person));
        gatehouse.clock.advance(2 * MINUTE_MS);
        if (i === 9) await browsers[0]?.token(town.serverId);
        gatehouse.clock.advance(1);
      }
      const statuses: number[] = [];
      for (const browser of browsers) statuses.push((await browser.grant(town.serverId)).status);
      expect(statuses).toEqual([200, 401, ...Array(9).fill(200)]);
    });

    test("a remembered session lasts thirty days after its last use", async () => {
      const { browser } = await open();
      for (let i = 0; i < 3; i++) {
        gatehouse.clock.advance(30 * DAY_MS - 1);
        const { session_expires_at } = await readAs<TokenBody>(await browser.grant(town.serverId));
        expect(session_expires_at).toBe(gatehouse.clock.now + 30 * DAY_MS);
        expect(browser.attributes.get(COOKIE)).toContain("Max-Age=2592000");
      }
      gatehouse.clock.advance(30 * DAY_MS);
      await expectRefusal(await browser.grant(town.serverId), 401, INVALID);
    });

    test("a session that is not remembered goes with the browser, and ends after twelve hours of any use", async () => {
      const person = await addModerator();
      const browser = await signIn(gatehouse, person, false);
      expect(browser.attributes.get(COOKIE)).toBe("Path=/session; HttpOnly; SameSite=Strict");
      gatehouse.clock.advance(12 * HOUR_MS - 1);
      const granted = await readAs<TokenBody>(await browser.grant(town.serverId));
      expect(granted.expires_in).toBe(0);
      expect(browser.attributes.get(COOKIE)).toBe("Path=/session; HttpOnly; SameSite=Strict");
      gatehouse.clock.advance(1);
      await expectRefusal(await browser.grant(town.serverId), 401, INVALID);
      await expectRefusal(await readKey(granted.token), 401, INVALID);
    });

    test("a browser that signs in anew is one session, not two", async () => {
      const { person, browser, token } = await open();
      await readAs(await browser.redeem(await invite(gatehouse, person), true), 201);
      await expectRefusal(await readKey(token), 401, INVALID);
      const me = await readAs<MeBody>(await browser.send("POST", "/session/me"));
      expect(me.person.sessions).toBe(1);
    });

    test("an address that guesses cookies and invitations is told to wait, and the right ones always pass", async () => {
      const { person, browser } = await open();
      const secret = await invite(gatehouse, person);
      gatehouse.clock.advance(MINUTE_MS);
      const guess = async (i: number) => {
        const guesser = new PageBrowser(gatehouse.url);
        const wrong = String(i).padStart(43, "0");
        guesser.cookies.set(COOKIE, `gtd_${wrong}`);
        return codeOf(await (i % 2 === 0 ? guesser.grant(town.serverId) : guesser.redeem(`gti_${wrong}`)));
      };
      const codes: number[] = [];
      for (let i = 0; i < 12; i++) codes.push(await guess(i));
      expect(codes).toEqual([...Array(10).fill(5008), 5107, 5107]);
      expect((await browser.grant(town.serverId)).status).toBe(200);
      expect((await new PageBrowser(gatehouse.url).redeem(secret)).status).toBe(201);
      gatehouse.clock.advance(MINUTE_MS);
    });

    test("a wrong invitation whose body comes late gives no further tries", async () => {
      const body = JSON.stringify({ secret: `gti_${"0".repeat(43)}` });
      const guess = async () => codeOf(await new PageBrowser(gatehouse.url).redeem(`gti_${"1".repeat(43)}`));
      gatehouse.clock.advance(MINUTE_MS);
      const late = await openSocket({ port: Number(new URL(gatehouse.url).port) });
      const headers = [
        "Origin: http://gatehouse.test",
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
      ];
      late.write(writeRequest("/session/invitations", headers, "POST") + body.slice(0, 9));
      // When this is answered, the request above has begun.
      expect((await fetch(`${gatehouse.url}/healthz`)).status).toBe(200);
      gatehouse.clock.advance(5_000);
      const codes: number[] = [];
      for (let i = 0; i < 11; i++) codes.push(await guess());
      late.write(body.slice(9));
      expect(JSON.parse((await late.readAnswer())?.body ?? "{}").code).toBe(5107);
      expect([...codes, await guess()]).toEqual([...Array(10).fill(5008), 5107, 5107]);
      late.destroy();
      gatehouse.clock.advance(MINUTE_MS);
    });

    test("nobody signs in more often than thirty times an hour", async () => {
      const person = await addModerator();
      for (let i = 0; i < 30; i++) await signIn(gatehouse, person);
      const secret = await invite(gatehouse, person);
      expect(await codeOf(await new PageBrowser(gatehouse.url).redeem(secret))).toBe(5107);
      gatehouse.clock.advance(HOUR_MS);
      expect((await new PageBrowser(gatehouse.url).redeem(secret)).status).toBe(201);
    });

    test("a person has 120 requests a minute for each server, and a block for each", async () => {
      const { serverId } = village;
      const person = await addPerson(gatehouse, {
        servers: [town, village].map((one) => ({ serverId: one.serverId, role: "viewer" })),
      });
      const [browser, phone] = [await signIn(gatehouse, person), await signIn(gatehouse, person)];
      const left = async (token: string) => Number((await readKey(token)).headers.get("x-ratelimit-remaining"));
      expect(await left(await browser.token(town.serverId))).toBe(119);
      expect(await left(await phone.token(town.serverId))).toBe(118);
      expect(await left(await browser.token(serverId))).toBe(119);
      const keyId = `${person.personId}@${town.serverId}`;
      for (let sent = 2; sent < 520; sent++)
        await gatehouse.app.store.limits.judge({ keyId, serverId: town.serverId }, gatehouse.clock.now, true);
      expect(await codeOf(await readKey(await browser.token(town.serverId)))).toBe(5100);
      expect(await statusOf(await browser.token(serverId))).toBe(200);
    });

    test("commands say who sent them", async () => {
      const { person, token } = await open();
      const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
      const path = "/v2/game/server/command";
      const body = JSON.stringify({ command: ":kick Somebody" });
      const sent = await fetch(gatehouse.url + path, { method: "POST", headers, body });
      const { command_id } = await readAs<{ command_id: string }>(sent, 202);
      const sent_by = { kind: "person", id: person.personId, name: person.name };
      expect(await readAs<object>(await gatehouse.get(`${path}/${command_id}`, token))).toMatchObject({
        key_id: `${person.personId}@${town.serverId}`,
        key_label: person.name,
        sent_by,
      });
      const key = await gatehouse.addKey(town, { commands: ["*"] });
      const listed = await readAs<{ items: object[] }>(await gatehouse.get(path, key.token));
      expect(listed.items[0]).toMatchObject({ command_id, sent_by });
    });

    test("who signed in and out is in the audit log, without a secret", async () => {
      const { person, browser } = await open();
      await browser.send("DELETE", "/session");
      const entries = (await operator.listAudit()).filter(({ target }) => target === person.personId);
      const actor = { kind: "person", id: person.personId, name: person.name, address: "127.0.0.1" };
      expect(entries.map((entry) => [entry.action, entry.actor])).toEqual([
        ["session.ended", actor],
        ["session.opened", actor],
      ]);
      expect(entries[1]?.details.after).toMatchObject({ signed_in_by: "invitation", description: "Firefox, Linux" });
      expect(JSON.stringify(entries)).not.toMatch(/gt[dish]_/);
    });
  });
}

describe("addresses", () => {
  test("with a listener for operators, /session is on everybody's", async () => {
    const gatehouse = await startGatehouse({ env: { GATEHOUSE_ADMIN_PORT: "0" } });
    const person = await addPerson(gatehouse, { isOperator: true });
    const browser = await signIn(gatehouse, person);
    expect((await browser.grant()).status).toBe(200);
    await gatehouse.stop();
  });

  test("a person is still signed in after a restart", async () => {
    const first = await startGatehouse();
    const person = await addPerson(first, { isOperator: true });
    const browser = await signIn(first, person);
    await first.app.stop();
    const second = await startGatehouse({ folder: first.folder, clock: first.clock });
    const returned = new PageBrowser(second.url);
    returned.cookies.set(COOKIE, browser.cookies.get(COOKIE) ?? "");
    expect((await returned.grant()).status).toBe(200);
    await second.stop();
  });

  test("a restored backup has no sessions and no open invitations, and its people are there", async () => {
    const root = makeTestFolder();
    const secret = "session-secret-0123456789abcdefghijk";
    const envOf = (name: string) => ({ GATEHOUSE_SECRET: secret, GATEHOUSE_DATA_DIR: join(root, name) });
    const start = (name: string) => startGatehouse({ folder: join(root, name), env: envOf(name) });
    const first = await start("old");
    const person = await addPerson(first, { isOperator: true });
    const browser = await signIn(first, person);
    const open = await invite(first, person);
    await first.app.stop();
    makeBackup(parseConfig(envOf("old")), join(root, "backup.db"));
    restoreBackup(parseConfig(envOf("new")), join(root, "backup.db"));
    const second = await start("new");
    const returned = new PageBrowser(second.url);
    returned.cookies.set(COOKIE, browser.cookies.get(COOKIE) ?? "");
    await expectRefusal(await returned.grant(), 401, INVALID);
    await expectRefusal(await returned.redeem(open), 401, INVALID);
    expect((await signIn(second, person)).cookies.has(COOKIE)).toBe(true);
    await second.app.stop();
    rmSync(root, { recursive: true, force: true });
  });
});

test("a folder of 0.2 loses its remembered browsers and links, and the log says so once", async () => {
  const folder = makeTestFolder();
  const env = { GATEHOUSE_SECRET: OLD_SECRET, GATEHOUSE_MASTER_KEY: MASTER_KEY };
  makeOldFile(join(folder, "gatehouse.db"), OLD_SCHEMA);
  const told: number[] = [];
  for (let start = 0; start < 2; start++) {
    const gatehouse = await startGatehouse({ folder, env });
    told.push(gatehouse.logLines.filter((line) => line.includes("people take their place")).length);
    await gatehouse.app.stop();
  }
  expect(told).toEqual([1, 0]);
  rmSync(folder, { recursive: true, force: true });
});
