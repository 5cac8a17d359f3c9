// What one instance changes of people, roles and servers counts with the next request of the admin API, of a session and of a
// sign-in on every other. Each test takes several turns, because an instance also learns of changes by itself after a while.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { PageBrowser } from "../people.ts";
import { SseReader } from "../stream-reader.ts";
import { endFleets, expectStatus, type Fleet, type Home, startBacking, startFleet } from "./fleet.ts";

const TURNS = 5;
const WHOLE = { sections: ["Players"], hide: [], commands: ["*"], may: ["keys", "people"] };

let fleet: Fleet;
let home: Home;
let made = 0;

beforeAll(async () => {
  const { addresses } = await startBacking();
  fleet = await startFleet({ ...addresses, count: 2 });
  home = await fleet.addServer();
});
afterAll(endFleets);

/** By the master key, on one of the two instances. Returns the body. */
async function admin(at: number, method: string, path: string, body?: object, status = 200) {
  return expectStatus(await fleet.at(at).admin(method, path, body), status);
}

const putRole = (at: number, name: string, more: object = {}) =>
  admin(at, "PUT", `/roles/${name}`, { title: name, ...WHOLE, ...more });

async function addPerson(role: string): Promise<string> {
  const servers = [{ server_id: home.serverId, role }];
  return (await admin(0, "POST", "/people", { name: `Person ${++made}`, servers }, 201)).person_id;
}

/** A person who is signed in. Their browser sends everything to the second instance from now on. */
async function signIn(personId: string): Promise<PageBrowser> {
  const { url } = await admin(1, "POST", `/people/${personId}/invitations`, undefined, 201);
  const browser = new PageBrowser(fleet.at(0).url);
  expect((await browser.redeem(url.split("/").at(-1), true)).status).toBe(201);
  const other = new PageBrowser(fleet.at(1).url);
  for (const [name, value] of browser.cookies) other.cookies.set(name, value);
  return other;
}

test("a person who is new is invited, signs in and acts on any instance at once", async () => {
  await putRole(0, "fleet-new");
  for (let turn = 0; turn < TURNS; turn++) {
    const browser = await signIn(await addPerson("fleet-new"));
    const token = await browser.token(home.serverId);
    expectStatus(await fleet.at(0).read({ token }, "?Players=true"), 200);
    expectStatus(await fleet.at(0).ask("GET", "/admin/people", await browser.token()), 200);
  }
});

test("a right that a role loses is lost on every instance at once, and one that it gets is there", async () => {
  await putRole(0, "fleet-changed");
  const browser = await signIn(await addPerson("fleet-changed"));
  const [token, key] = [await browser.token(), { server_id: home.serverId, label: "bot", sections: [], commands: [] }];
  for (let turn = 0; turn < TURNS; turn++) {
    await putRole(0, "fleet-changed", { may: ["people"] });
    expect((await fleet.at(1).ask("POST", "/admin/keys", token, key)).status).toBe(403);
    await putRole(0, "fleet-changed");
    expectStatus(await fleet.at(1).ask("POST", "/admin/keys", token, key), 201);
  }
});

test("a person who is disabled is signed out on every instance at once", async () => {
  await putRole(0, "fleet-disabled");
  for (let turn = 0; turn < TURNS; turn++) {
    const personId = await addPerson("fleet-disabled");
    const browser = await signIn(personId);
    const token = await browser.token();
    await admin(0, "PATCH", `/people/${personId}`, { disabled: true });
    expect((await fleet.at(1).ask("GET", "/admin/people", token)).status).toBe(401);
    expect((await browser.grant(home.serverId)).status).toBe(401);
  }
});

test("a change that takes another instance's change back is made", async () => {
  const path = `/servers/${home.serverId}`;
  for (let turn = 0; turn < TURNS; turn++) {
    await putRole(0, "fleet-back", { commands: [":h"] });
    await putRole(1, "fleet-back");
    const { items } = await admin(0, "GET", "/roles");
    expect(items).toContainEqual(expect.objectContaining({ name: "fleet-back", ...WHOLE }));
    await admin(0, "PATCH", path, { name: "Renamed" });
    await admin(1, "PATCH", path, { name: home.town });
    expect((await admin(0, "GET", path)).name).toBe(home.town);
  }
});

test("an open stream on one instance ends when another narrows the role", async () => {
  await putRole(0, "fleet-stream");
  const browser = await signIn(await addPerson("fleet-stream"));
  const headers = { Authorization: `Bearer ${await browser.token(home.serverId)}` };
  const reader = new SseReader(await fetch(`${fleet.at(1).url}/v2/game/server/events/stream`, { headers }));
  expect((await reader.next())?.event).toBe("hello");
  await putRole(0, "fleet-stream", { sections: [] });
  for (let last = await reader.next(); last; last = await reader.next()) expect(last.event).not.toBe("hello");
});
