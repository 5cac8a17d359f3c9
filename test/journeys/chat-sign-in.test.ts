// Signing in with the chat platform, against a strict one on loopback: people with their chat id, owners of servers without an
// invitation, and everything that must not sign anybody in.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { MINUTE_MS } from "../../src/core/durations.ts";
import type { GameServer } from "../../src/core/game-server.ts";
import { BASE_INFO, startFakeGameApi } from "../fake-game-api.ts";
import { CLIENT, FakeOauth } from "../fake-oauth.ts";
import { addPerson, PageBrowser, signIn } from "../people.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { createOperator, readAs } from "./operator.ts";

const PAGE = "https://gatehouse.example.org";
const COOKIE = "__Secure-gatehouse_session";
const STATE = "__Secure-gatehouse_chat";
/** More digits than a double can hold. */
const OWNER = "1234567890123456789";
const CO_OWNER = "100000000000000042";

type MeBody = { person: { name: string; chat_id: string | null }; servers: { server_id: string; role: string }[] };

let platform: FakeOauth;
let gatehouse: TestGatehouse;
let server: GameServer;
const game = startFakeGameApi();

beforeAll(async () => {
  platform = new FakeOauth();
  gatehouse = await startGatehouse({
    env: {
      GATEHOUSE_PUBLIC_URL: PAGE,
      GATEHOUSE_DISCORD_CLIENT_ID: CLIENT.id,
      GATEHOUSE_DISCORD_CLIENT_SECRET: CLIENT.secret,
      GATEHOUSE_DISCORD_URL: platform.url,
      GATEHOUSE_UPSTREAM_URL: game.url,
    },
  });
});
afterAll(async () => {
  await gatehouse.stop();
  platform.stop();
  await game.stop();
});
beforeEach(async () => {
  platform.refused.length = 0;
  platform.fault = "none";
  gatehouse.clock.advance(2 * MINUTE_MS);
  const info = JSON.stringify({ ...BASE_INFO, OwnerId: 0, CoOwnerIds: [0] });
  const owned = info
    .replace('"OwnerId":0', `"OwnerId":${OWNER}`)
    .replace('"CoOwnerIds":[0]', `"CoOwnerIds":[${CO_OWNER}]`);
  game.answer = () => new Response(owned, { headers: { "Content-Type": "application/json" } });
  server = await gatehouse.addServer({ ownersSignIn: true });
});

const openPage = () => new PageBrowser(gatehouse.url, { "X-Forwarded-Proto": "https" });
/** The address of the platform that the page leads to. */
async function begin(browser: PageBrowser, query = ""): Promise<string> {
  const answer = await browser.send("GET", `/session/chat${query}`);
  expect(answer.status).toBe(302);
  return answer.headers.get("location") ?? "";
}
/** Follows the platform's way back. */
async function comeBack(browser: PageBrowser, address: string): Promise<string> {
  expect(address).toStartWith(`${PAGE}/session/chat/return?`);
  const answer = await browser.send("GET", address.slice(PAGE.length));
  return answer.status === 302 ? (answer.headers.get("location") ?? "") : String(answer.status);
}
async function signInByChat(browser = openPage()): Promise<string> {
  return comeBack(browser, platform.agree(await begin(browser)));
}
const own = { Origin: PAGE, Host: "gatehouse.example.org" };
const readMe = async (browser: PageBrowser) =>
  readAs<MeBody>(await browser.send("POST", "/session/me", undefined, own));

describe("people", () => {
  test("the person with that chat id is signed in, and the session is as any other", async () => {
    const person = await addPerson(gatehouse, {
      chatId: platform.user.id,
      servers: [{ serverId: server.serverId, role: "viewer" }],
    });
    const browser = openPage();
    const address = await begin(browser);
    expect(browser.attributes.get(STATE)).toBe("Path=/session/chat; HttpOnly; SameSite=Lax; Secure; Max-Age=600");
    expect(await comeBack(browser, platform.agree(address))).toBe(`${PAGE}/`);
    expect(platform.refused).toEqual([]);
    expect(browser.cookies.has(STATE)).toBe(false);
    expect(browser.attributes.get(COOKIE)).toBe("Path=/session; HttpOnly; SameSite=Strict; Secure; Max-Age=2592000");
    expect((await readMe(browser)).person.name).toBe(person.name);
    const [entry] = await createOperator(gatehouse).listAudit();
    expect(entry).toMatchObject({ action: "session.opened", details: { after: { signed_in_by: "chat" } } });
    await gatehouse.app.store.people.delete(person.personId);
  });

  test("a session that is not to be remembered goes with the browser", async () => {
    const person = await addPerson(gatehouse, { chatId: platform.user.id });
    const browser = openPage();
    expect(await comeBack(browser, platform.agree(await begin(browser, "?remember=false")))).toBe(`${PAGE}/`);
    expect(browser.attributes.get(COOKIE)).toBe("Path=/session; HttpOnly; SameSite=Strict; Secure");
    await gatehouse.app.store.people.delete(person.personId);
  });

  test("nobody with that chat id, and a person who is disabled, are told the same", async () => {
    expect(await signInByChat()).toBe(`${PAGE}/#/?problem=unknown`);
    const person = await addPerson(gatehouse, { chatId: platform.user.id, isDisabled: true });
    expect(await signInByChat()).toBe(`${PAGE}/#/?problem=unknown`);
    await gatehouse.app.store.people.delete(person.personId);
  });

  test("a user who declines, and a platform that fails, lies or says too much, sign nobody in", async () => {
    const person = await addPerson(gatehouse, { chatId: platform.user.id });
    const browser = openPage();
    expect(await comeBack(browser, platform.decline(await begin(browser)))).toBe(`${PAGE}/#/?problem=cancelled`);
    for (const fault of ["token", "user", "long"] as const) {
      platform.fault = fault;
      expect(await signInByChat(browser)).toBe(`${PAGE}/#/?problem=failed`);
    }
    expect(browser.cookies.has(COOKIE)).toBe(false);
    const log = gatehouse.logLines.join("\n");
    expect(log).toContain("a sign-in with the chat platform failed");
    expect(log).not.toContain(CLIENT.secret);
    await gatehouse.app.store.people.delete(person.personId);
  });

  test("a platform that never answers is given up", async () => {
    platform.fault = "silent";
    const startedAt = performance.now();
    expect(await signInByChat()).toBe(`${PAGE}/#/?problem=failed`);
    expect(performance.now() - startedAt).toBeLessThan(12_000);
  });
});

describe("the state", () => {
  test("counts once, for ten minutes, in the browser that began, and unaltered", async () => {
    const person = await addPerson(gatehouse, { chatId: platform.user.id });
    const expired = `${PAGE}/#/?problem=expired`;
    const browser = openPage();
    const begun = await begin(browser);
    const cookie = browser.cookies.get(STATE) ?? "";
    const back = platform.agree(begun);
    // Somebody else's browser, with that state in its address.
    expect(await comeBack(openPage(), back)).toBe(expired);
    const stranger = openPage();
    await begin(stranger);
    expect(await comeBack(stranger, back)).toBe(expired);
    const altered = openPage();
    altered.cookies.set(
      STATE,
      cookie.replace(/^./, (first) => (first === "r" ? "u" : "r")),
    );
    expect(await comeBack(altered, back)).toBe(expired);
    expect(await comeBack(browser, back)).toBe(`${PAGE}/`);
    browser.cookies.set(STATE, cookie);
    expect(await comeBack(browser, back)).toBe(expired);
    const late = openPage();
    const lateBack = platform.agree(await begin(late));
    gatehouse.clock.advance(10 * MINUTE_MS);
    expect(await comeBack(late, lateBack)).toBe(expired);
    expect(platform.refused).toEqual([]);
    await gatehouse.app.store.people.delete(person.personId);
  });

  test("and a code that come a second time sign nobody in, and the audit log tells of it", async () => {
    const person = await addPerson(gatehouse, { chatId: platform.user.id });
    const expired = `${PAGE}/#/?problem=expired`;
    const browser = openPage();
    const back = platform.agree(await begin(browser));
    const cookie = browser.cookies.get(STATE) ?? "";
    expect(await comeBack(browser, back)).toBe(`${PAGE}/`);
    // With the state's cookie, and without it in another browser.
    browser.cookies.set(STATE, cookie);
    expect(await comeBack(browser, back)).toBe(expired);
    expect(await comeBack(openPage(), back)).toBe(expired);
    const again = openPage();
    const { state = "" } = Object.fromEntries(new URL(await begin(again)).searchParams);
    const { code = "" } = Object.fromEntries(new URL(back).searchParams);
    const mixed = `${PAGE}/session/chat/return?${new URLSearchParams({ code, state })}`;
    expect(await comeBack(again, mixed)).toBe(`${PAGE}/#/?problem=failed`);
    expect(again.cookies.has(COOKIE)).toBe(false);
    expect(platform.refused).toEqual(["code"]);
    const entries = (await createOperator(gatehouse).listAudit()).slice(0, 4);
    const refused = (reason: string) =>
      expect.objectContaining({
        action: "chat.refused",
        actor: expect.objectContaining({ kind: "system" }),
        details: { after: { reason } },
      });
    const opened = expect.objectContaining({ action: "session.opened" });
    expect(entries).toEqual([refused("code_refused"), refused("state_repeated"), refused("state_repeated"), opened]);
    expect(JSON.stringify(entries)).not.toContain(code);
    expect(JSON.stringify(entries)).not.toContain(state);
    await gatehouse.app.store.people.delete(person.personId);
  });

  test("an address that guesses states is told to wait", async () => {
    const outcomes: string[] = [];
    for (let i = 0; i < 12; i++)
      outcomes.push(await comeBack(openPage(), `${PAGE}/session/chat/return?code=a&state=${i}`));
    expect(outcomes).toEqual([...Array(10).fill(`${PAGE}/#/?problem=expired`), "429", "429"]);
  });
});

test("an address that makes us ask the platform again and again is told to wait", async () => {
  const outcomes: string[] = [];
  for (let i = 0; i < 21; i++) {
    const browser = openPage();
    const { state } = Object.fromEntries(new URL(await begin(browser)).searchParams);
    outcomes.push(await comeBack(browser, `${PAGE}/session/chat/return?code=invented&state=${state}`));
  }
  expect(outcomes).toEqual([...Array(20).fill(`${PAGE}/#/?problem=failed`), "429"]);
  expect(platform.refused).toHaveLength(20);
});

describe("owners of a server", () => {
  test("sign in as its manager without an invitation, under the name that they have there, made unique", async () => {
    for (const [index, id] of [OWNER, CO_OWNER].entries()) {
      platform.user = { id, username: "owner", global_name: "Sam\u202e\u0007  the Owner" };
      const browser = openPage();
      expect(await signInByChat(browser)).toBe(`${PAGE}/`);
      const me = await readMe(browser);
      expect(me.person).toMatchObject({ name: index === 0 ? "Sam the Owner" : "Sam the Owner 2", chat_id: id });
      expect(me.servers).toContainEqual(
        expect.objectContaining({ server_id: server.serverId, role: "manager", title: "Manager" }),
      );
      const answer = await browser.send("POST", "/session", { server_id: server.serverId }, own);
      const { token } = await readAs<{ token: string }>(answer);
      expect(await readAs<object>(await gatehouse.get("/v2/game/key", token))).toMatchObject({ commands: ["*"] });
    }
    const [, made] = await createOperator(gatehouse).listAudit();
    expect(made).toMatchObject({ action: "person.created", actor: { kind: "system" } });
    for (const id of [OWNER, CO_OWNER]) {
      const person = gatehouse.app.store.people.findByChatId(id);
      expect(person?.servers).toEqual([]);
    }
  });

  test("are its managers as long as they own it and it lets them in, judged at each renewal", async () => {
    platform.user = { id: OWNER, username: "owner", global_name: null };
    const browser = openPage();
    await signInByChat(browser);
    const renew = (headers = own) => browser.send("POST", "/session", { server_id: server.serverId }, headers);
    expect((await renew()).status).toBe(200);
    const { token } = await readAs<{ token: string }>(await renew());
    expect((await gatehouse.get("/v2/game/key", token)).status).toBe(200);
    await gatehouse.app.store.servers.update(server.serverId, { ownersSignIn: false });
    expect((await gatehouse.get("/v2/game/key", token)).status).toBe(403);
    expect((await renew()).status).toBe(403);
    await gatehouse.app.store.servers.update(server.serverId, { ownersSignIn: true });
    expect((await renew()).status).toBe(200);
    game.answer = () => Response.json({ ...BASE_INFO, OwnerId: 1, CoOwnerIds: [] });
    gatehouse.clock.advance(2 * MINUTE_MS);
    expect((await renew()).status).toBe(403);
  });

  test("of a server that does not let them in are strangers", async () => {
    for (const other of [...gatehouse.app.store.servers.all()])
      await gatehouse.app.store.servers.update(other.serverId, { ownersSignIn: false });
    platform.user = { id: CO_OWNER, username: "owner", global_name: null };
    const known = gatehouse.app.store.people.findByChatId(CO_OWNER);
    if (known) await gatehouse.app.store.people.delete(known.personId);
    expect(await signInByChat()).toBe(`${PAGE}/#/?problem=unknown`);
    expect(gatehouse.app.store.people.findByChatId(CO_OWNER)).toBeUndefined();
  });

  test("are owners only in a session that the chat platform vouched for", async () => {
    const id = "100000000000000077";
    game.answer = () => new Response(JSON.stringify(BASE_INFO).replace(/"OwnerId":\d+/, `"OwnerId":${id}`));
    const owned = await gatehouse.addServer({ ownersSignIn: true });
    const person = await addPerson(gatehouse, { chatId: id });
    const invited = await signIn(gatehouse, person);
    expect((await invited.grant(owned.serverId)).status).toBe(403);
    platform.user = { id, username: "owner", global_name: null };
    const byChat = openPage();
    await signInByChat(byChat);
    const grant = () => byChat.send("POST", "/session", { server_id: owned.serverId }, own);
    expect((await grant()).status).toBe(200);
    expect((await invited.grant(owned.serverId)).status).toBe(403);
    // The id that was vouched for is no longer the person's.
    await gatehouse.app.store.people.update(person.personId, { chatId: null });
    expect((await grant()).status).toBe(403);
  });

  test("are its managers whatever lower role they were given there, and keep one that contains it", async () => {
    const id = "100000000000000099";
    game.answer = () => new Response(JSON.stringify(BASE_INFO).replace(/"OwnerId":\d+/, `"OwnerId":${id}`));
    const owned = await gatehouse.addServer({ ownersSignIn: true });
    const { serverId } = owned;
    const person = await addPerson(gatehouse, { chatId: id, servers: [{ serverId, role: "viewer" }] });
    platform.user = { id, username: "owner", global_name: null };
    const browser = openPage();
    await signInByChat(browser);
    const roleThere = async () => (await readMe(browser)).servers.find((one) => one.server_id === serverId)?.role;
    const granted = await browser.send("POST", "/session", { server_id: serverId }, own);
    const { token } = await readAs<{ token: string }>(granted);
    expect(await roleThere()).toBe("manager");
    expect(await readAs<object>(await gatehouse.get("/v2/game/key", token))).toMatchObject({ commands: ["*"] });
    const { roles } = gatehouse.app.store;
    const manager = roles.find("manager");
    if (!manager) throw new Error("there is no manager");
    await roles.put({ ...manager, name: "chief" });
    await gatehouse.app.store.people.update(person.personId, { servers: [{ serverId, role: "chief" }] });
    expect(await roleThere()).toBe("chief");
    await gatehouse.app.store.servers.update(serverId, { ownersSignIn: false });
    await gatehouse.app.store.people.update(person.personId, { servers: [{ serverId, role: "viewer" }] });
    expect(await roleThere()).toBe("viewer");
    expect(await readAs<object>(await gatehouse.get("/v2/game/key", token))).toMatchObject({ commands: [] });
  });
});

test("the sign-in page offers what is set up", async () => {
  const offered = async (at: TestGatehouse, host?: string) =>
    readAs<object>(await at.get("/session/methods", undefined, host === undefined ? {} : { Host: host }));
  expect(await offered(gatehouse)).toEqual({ passkeys: false, chat: false, admin: true });
  expect(await offered(gatehouse, "gatehouse.example.org")).toEqual({ passkeys: true, chat: true, admin: true });
  const plain = await startGatehouse();
  expect(await offered(plain)).toEqual({ passkeys: false, chat: false, admin: true });
  expect(await offered(plain, `localhost:${plain.app.port}`)).toEqual({ passkeys: true, chat: false, admin: true });
  expect((await plain.get("/session/chat")).status).toBe(501);
  expect((await plain.get("/session/chat/return?code=a&state=b")).status).toBe(501);
  await plain.stop();
});
