// Passkeys over HTTP, with an authenticator made of software: adding, signing in, and everything that must be refused.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { MINUTE_MS } from "../../src/core/durations.ts";
import type { Person } from "../../src/core/people/person.ts";
import { addPerson, invite, PageBrowser, SoftwarePasskey } from "../people.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { createOperator, expectRefusal, readAs } from "./operator.ts";

const INVALID = { code: 5008, message: "invalid_token" };
const NOT_HERE = { code: 5110, message: "not_configured" };
const COOKIE = "gatehouse_session";

type Options = {
  readonly challenge: string;
  readonly rpId: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
};

let gatehouse: TestGatehouse;
/** As a browser on this machine sees it: passkeys do not work for an address like 127.0.0.1. */
let page: string;
beforeAll(async () => {
  gatehouse = await startGatehouse();
  page = `http://localhost:${gatehouse.app.port}`;
});
afterAll(() => gatehouse.stop());
beforeEach(() => gatehouse.clock.advance(MINUTE_MS));

async function signIn(person: Person): Promise<PageBrowser> {
  const browser = new PageBrowser(page);
  await readAs(await browser.redeem(await invite(gatehouse, person), true), 201);
  return browser;
}
const describeNew = async (browser: PageBrowser) =>
  readAs<Options>(await browser.send("POST", "/session/passkeys/options"));
const describeUse = async (browser = new PageBrowser(page)) =>
  readAs<Options>(await browser.send("POST", "/session/passkeys/sign-in/options"));
const add = (browser: PageBrowser, body: object) => browser.send("POST", "/session/passkeys", body);
const use = (body: object, browser = new PageBrowser(page)) => browser.send("POST", "/session/passkeys/sign-in", body);

async function addPasskey(browser: PageBrowser): Promise<{ passkey: SoftwarePasskey; passkeyId: string }> {
  const passkey = new SoftwarePasskey(page);
  const body = passkey.create(await describeNew(browser));
  const { passkey_id } = await readAs<{ passkey_id: string }>(await add(browser, body), 201);
  return { passkey, passkeyId: passkey_id };
}
async function setUp() {
  const person = await addPerson(gatehouse, { isOperator: true });
  const browser = await signIn(person);
  return { person, browser, ...(await addPasskey(browser)) };
}

test("a passkey that was added signs in, on any browser, and is listed with the time of its last use", async () => {
  const { person, browser, passkey, passkeyId } = await setUp();
  const options = await describeNew(browser);
  expect(options).toMatchObject({
    rp: { id: "localhost" },
    authenticatorSelection: { residentKey: "required", userVerification: "preferred" },
    excludeCredentials: [{ id: passkey.id.toString("base64url") }],
  } as object);
  const phone = new PageBrowser(page);
  const me = await readAs<object>(await use(passkey.use(await describeUse(phone)), phone), 201);
  expect(me).toMatchObject({ person: { person_id: person.personId, passkeys: 1, sessions: 2 } });
  expect(phone.attributes.get(COOKIE)).toContain("Max-Age=2592000");
  const listed = await gatehouse.get("/session/passkeys", await phone.token());
  const { now } = gatehouse.clock;
  expect(await readAs<object>(listed)).toEqual({
    items: [{ passkey_id: passkeyId, label: "Firefox, Linux", created_at: now, last_used_at: now }],
  });
  const entries = (await createOperator(gatehouse).listAudit()).filter(({ target }) => target === person.personId);
  expect(entries.map(({ action }) => action)).toEqual(["session.opened", "passkey.added", "session.opened"]);
  expect(entries[0]?.details.after).toMatchObject({ signed_in_by: "passkey" });
});

test("a sign-in that is not to be remembered goes with the browser", async () => {
  const { passkey } = await setUp();
  const browser = new PageBrowser(page);
  const body = { ...passkey.use(await describeUse()), remember: false };
  expect((await use(body, browser)).status).toBe(201);
  expect(browser.attributes.get(COOKIE)).toBe("Path=/session; HttpOnly; SameSite=Strict");
});

test("a challenge counts once, for five minutes, and for what and whom it was made", async () => {
  const { browser, passkey } = await setUp();
  const other = await signIn(await addPerson(gatehouse));
  const options = await describeUse();
  const body = passkey.use(options);
  expect((await use(body)).status).toBe(201);
  // The same request once more is refused, and the passkey is not taken for a copy.
  await expectRefusal(await use(body), 401, INVALID);
  await expectRefusal(await use(passkey.use(options)), 401, INVALID);
  expect((await use(passkey.use(await describeUse()))).status).toBe(201);
  const late = await describeUse();
  gatehouse.clock.advance(5 * MINUTE_MS);
  await expectRefusal(await use(passkey.use(late)), 401, INVALID);
  const forAdding = await describeNew(browser);
  await expectRefusal(await use(passkey.use({ ...forAdding, rpId: "localhost" })), 401, INVALID);
  const made = new SoftwarePasskey(page).create(await describeNew(browser));
  await expectRefusal(await add(other, made), 401, INVALID);
  expect((await add(browser, made)).status).toBe(201);
  await expectRefusal(await add(browser, made), 401, INVALID);
  const invented = { ...(await describeUse()), challenge: Buffer.from("nonsense").toString("base64url") };
  await expectRefusal(await use(passkey.use(invented)), 401, INVALID);
});

test("another page, another site, another key, another person and altered bytes are refused alike", async () => {
  const { passkey } = await setUp();
  const stranger = new SoftwarePasskey(page);
  stranger.create({ ...(await describeUse()), user: { id: "" } });
  const elsewhere = new SoftwarePasskey("http://localhost:1");
  Object.assign(elsewhere, { id: passkey.id });
  const options = await describeUse();
  const right = passkey.use(options) as { id: string; response: Record<string, string> };
  const wrongs: object[] = [
    stranger.use(options),
    elsewhere.use(options),
    passkey.use({ ...options, rpId: "example.org" }),
    { ...right, response: { ...right.response, userHandle: Buffer.from("per_x").toString("base64url") } },
    { ...right, response: { ...right.response, signature: `AA${right.response.signature?.slice(2)}` } },
    { ...right, response: { ...right.response, authenticatorData: "AAAA" } },
    { ...right, response: { ...right.response, clientDataJSON: "bm9uc2Vuc2U" } },
    { ...right, id: "AAAA", rawId: "AAAA" },
  ];
  for (const wrong of wrongs) await expectRefusal(await use(wrong), 401, INVALID);
  gatehouse.clock.advance(MINUTE_MS);
  for (let i = 0; i < 10; i++) await use(stranger.use(options));
  expect((await use(stranger.use(options))).status).toBe(429);
  expect((await use(passkey.use(options))).status).toBe(201);
});

test("a counter that goes back removes the passkey, and the audit log tells of it", async () => {
  const { person, browser, passkey, passkeyId } = await setUp();
  expect((await use(passkey.use(await describeUse()))).status).toBe(201);
  passkey.counter -= 1;
  await expectRefusal(await use(passkey.use(await describeUse())), 401, INVALID);
  passkey.counter += 10;
  await expectRefusal(await use(passkey.use(await describeUse())), 401, INVALID);
  const [entry] = await createOperator(gatehouse).listAudit();
  expect(entry).toMatchObject({
    action: "passkey.copied",
    target: person.personId,
    actor: { kind: "system" },
    details: { before: { passkey_id: passkeyId, counter: 2 }, after: { counter: 2 } },
  });
  expect((await browser.grant()).status).toBe(200);
});

test("a passkey that does not count signs in again and again", async () => {
  const browser = await signIn(await addPerson(gatehouse));
  const passkey = new SoftwarePasskey(page);
  passkey.counter = 0;
  expect((await add(browser, passkey.create(await describeNew(browser)))).status).toBe(201);
  for (let i = 0; i < 3; i++) expect((await use(passkey.use(await describeUse()))).status).toBe(201);
});

test("a removed passkey, and one of a person who is disabled or deleted, sign nobody in", async () => {
  const removed = await setUp();
  const other = await signIn(await addPerson(gatehouse));
  const path = `/session/passkeys/${removed.passkeyId}`;
  expect((await other.send("DELETE", path)).status).toBe(404);
  expect((await removed.browser.send("DELETE", path)).status).toBe(204);
  expect((await removed.browser.send("DELETE", path)).status).toBe(404);
  await expectRefusal(await use(removed.passkey.use(await describeUse())), 401, INVALID);
  const disabled = await setUp();
  const { people } = gatehouse.app.store;
  await people.update(disabled.person.personId, { isDisabled: true });
  await expectRefusal(await use(disabled.passkey.use(await describeUse())), 401, INVALID);
  await people.update(disabled.person.personId, { isDisabled: false });
  expect((await use(disabled.passkey.use(await describeUse()))).status).toBe(201);
  await people.delete(disabled.person.personId);
  await expectRefusal(await use(disabled.passkey.use(await describeUse())), 401, INVALID);
});

test("a person has ten passkeys, and a credential is one person's", async () => {
  const { browser, passkey } = await setUp();
  const other = await signIn(await addPerson(gatehouse));
  const taken = await add(other, passkey.create(await describeNew(other)));
  expect([taken.status, ((await taken.json()) as { code: number }).code]).toEqual([409, 5104]);
  for (let i = 1; i < 10; i++) await addPasskey(browser);
  const full = await browser.send("POST", "/session/passkeys/options");
  expect([full.status, ((await full.json()) as { code: number }).code]).toEqual([409, 5104]);
});

test("adding one needs to be signed in, by cookie or token", async () => {
  const { browser } = await setUp();
  const guest = new PageBrowser(page);
  for (const path of ["/session/passkeys/options", "/session/passkeys"])
    await expectRefusal(await guest.send("POST", path, {}), 401, { code: 5007, message: "missing_token" });
  const headers = { Authorization: `Bearer ${await browser.token()}` };
  expect((await guest.send("POST", "/session/passkeys/options", undefined, headers)).status).toBe(200);
});

describe("where passkeys do not work", () => {
  test("an address like 127.0.0.1 is told so", async () => {
    const browser = new PageBrowser(gatehouse.url);
    await readAs(await browser.redeem(await invite(gatehouse, await addPerson(gatehouse)), true), 201);
    await expectRefusal(await browser.send("POST", "/session/passkeys/options"), 501, NOT_HERE);
    await expectRefusal(await browser.send("POST", "/session/passkeys/sign-in/options"), 501, NOT_HERE);
  });

  test("with a public address the one who asks elsewhere is told which, unless they do not work there either", async () => {
    const ask = async (publicUrl: string) => {
      const other = await startGatehouse({ env: { GATEHOUSE_PUBLIC_URL: publicUrl } });
      const browser = new PageBrowser(`http://localhost:${other.app.port}`);
      const answer = await browser.send("POST", "/session/passkeys/sign-in/options");
      await other.stop();
      expect(answer.status).toBe(501);
      return answer.json();
    };
    const address = "https://gatehouse.example.org";
    expect(await ask(address)).toEqual({ ...NOT_HERE, details: { address } });
    expect(await ask("http://gatehouse.example.org")).toEqual(NOT_HERE);
  });

  test("with a public address passkeys are for that one, and only over TLS", async () => {
    const origin = "https://gatehouse.example.org";
    const host = { Host: "gatehouse.example.org" };
    const path = "/session/passkeys/sign-in/options";
    const ask = async (env: Record<string, string>, headers: Record<string, string>) => {
      const other = await startGatehouse({ env });
      const local = `http://localhost:${other.app.port}`;
      const answer = await new PageBrowser(other.url, { Origin: local, Host: new URL(local).host, ...headers }).send(
        "POST",
        path,
      );
      await other.stop();
      return [answer.status, ((await answer.json()) as Partial<Options>).rpId];
    };
    expect(await ask({ GATEHOUSE_PUBLIC_URL: origin }, { Origin: origin, ...host })).toEqual([
      200,
      "gatehouse.example.org",
    ]);
    expect(await ask({ GATEHOUSE_PUBLIC_URL: origin }, {})).toEqual([501, undefined]);
    const plain = "http://gatehouse.example.org";
    expect(await ask({ GATEHOUSE_PUBLIC_URL: plain }, { Origin: plain, ...host })).toEqual([501, undefined]);
    expect(await ask({}, { Origin: origin, ...host })).toEqual([501, undefined]);
    expect(await ask({}, {})).toEqual([200, "localhost"]);
  });
});
