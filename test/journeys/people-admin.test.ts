// The admin API for people: each ability opens its part and nothing else, on the person's own servers, and nobody gives,
// changes or takes more than they have.
import { describe, expect, test } from "bun:test";
import { ABILITIES, type Ability } from "../../src/core/keys/rights.ts";
import { SECTIONS } from "../../src/core/sections.ts";
import { METHODS } from "../../src/http/router.ts";
import { type Handlers, listRoutes } from "../../src/http/routes.ts";
import { MemoryArchive } from "../event-archive.ts";
import { BASE_INFO } from "../fake-game-api.ts";

import { addPerson, addSignedIn, findToken, type Outcome, putRole, type RoleDraft, sendAs, signIn } from "./person.ts";
import { openStage } from "./stage.ts";

const { gatehouse, operator } = await openStage({
  archive: new MemoryArchive(),
  env: { GATEHOUSE_WEBHOOKS_PRIVATE: "allow" },
});

/** The beginning of a picture of 64 times 32 pixels. */
const PNG_HEADER = Buffer.from("89504e470d0a1a0a0000000d494844520000004000000020080200000000000000", "hex");
const CORNERS = "left=-10&top=-10&right=10&bottom=10";
let made = 0;

async function makeServer() {
  // Lists are sorted by time first.
  gatehouse.clock.advance(1);
  const { server_id } = await operator.addServer({ name: `Town ${++made}` });
  return server_id;
}

/** A person with a role of their own on a server. */
async function makeManager(serverId: string, role: RoleDraft) {
  const name = await makeRole(role);
  return addSignedIn(gatehouse, { name: `Manager ${made}`, servers: [{ server_id: serverId, role: name }] });
}

let rolesMade = 0;

/** At most ten of them at a time: there may be twenty roles. */
async function makeRole(role: RoleDraft): Promise<string> {
  const name = `role-${++rolesMade % 10}`;
  await putRole(gatehouse, name, { sections: SECTIONS, commands: ["*"], ...role });
  return name;
}

const newKey = (server_id: string, rights: object = {}) => ({ server_id, label: "bot", sections: [], ...rights });
const newWebhook = (server_id: string, more: object = {}) => {
  return { server_id, label: "log", url: "http://127.0.0.1:1/", format: "standard", types: ["server.online"], ...more };
};

/** What a server has. */
async function furnish(serverId: string) {
  const key = (await (await gatehouse.admin("POST", "/admin/keys", newKey(serverId))).json()) as { key_id: string };
  const hook = await gatehouse.admin("POST", "/admin/webhooks", newWebhook(serverId));
  const draft = { serverId, keyId: key.key_id, text: ":h hello", idempotencyKey: undefined };
  const sentBy = { kind: "key" as const, id: key.key_id, name: "bot" };
  const accepted = await gatehouse.app.store.commands.accept({ ...draft, sentBy }, gatehouse.clock.now);
  const personId = await addPerson(gatehouse, {
    name: `Helper ${++made}`,
    servers: [{ server_id: serverId, role: "viewer" }],
  });
  return {
    serverId,
    keyId: key.key_id,
    webhookId: ((await hook.json()) as { webhook_id: string }).webhook_id,
    commandId: "receipt" in accepted ? accepted.receipt.commandId : "",
    personId,
  };
}

type Furnished = Awaited<ReturnType<typeof furnish>>;
type Request = readonly [method: string, path: string, body?: unknown];

/** The requests that each ability opens, on a server with all of this. Later ones may need what earlier ones left. */
const OPENS: Readonly<Record<Ability, (of: Furnished) => readonly Request[]>> = {
  claim: () => [],
  notes: () => [],
  exports: () => [["GET", "/admin/audit/export"]],
  alerts: ({ serverId }) => [
    ["GET", `/admin/servers/${serverId}/alerts`],
    ["PUT", `/admin/servers/${serverId}/alerts`, {}],
  ],
  webhooks: ({ serverId, webhookId }) => [
    ["GET", "/admin/webhooks"],
    ["POST", "/admin/webhooks", newWebhook(serverId)],
    ["GET", `/admin/webhooks/${webhookId}`],
    ["PATCH", `/admin/webhooks/${webhookId}`, { label: "new" }],
    ["POST", `/admin/webhooks/${webhookId}/rotate`],
    ["POST", `/admin/webhooks/${webhookId}/redeliver`, { after: "now" }],
    ["GET", `/admin/webhooks/${webhookId}/deliveries`],
    ["DELETE", `/admin/webhooks/${webhookId}`],
  ],
  keys: ({ serverId, keyId, commandId }) => [
    ["GET", "/admin/keys"],
    ["POST", "/admin/keys", newKey(serverId)],
    ["GET", `/admin/keys/${keyId}`],
    ["PATCH", `/admin/keys/${keyId}`, { label: "new" }],
    ["POST", `/admin/keys/${keyId}/rotate`],
    ["GET", "/admin/blocks"],
    ["DELETE", `/admin/blocks/${keyId}`],
    ["GET", "/admin/commands"],
    ["GET", `/admin/commands/${commandId}`],
    ["DELETE", `/admin/commands/${commandId}`],
    ["DELETE", `/admin/keys/${keyId}`],
  ],
  status: ({ serverId }) => [
    ["PATCH", `/admin/servers/${serverId}`, { name: `Renamed ${serverId}`, public_status: null }],
    ["PUT", `/admin/servers/${serverId}/map-image?${CORNERS}`, new Uint8Array(PNG_HEADER)],
    ["GET", `/admin/servers/${serverId}/map-image`],
    ["DELETE", `/admin/servers/${serverId}/map-image`],
  ],
  people: ({ serverId, personId }) => [
    ["GET", "/admin/people"],
    ["POST", "/admin/people", { name: `New ${serverId}`, servers: [{ server_id: serverId, role: "viewer" }] }],
    ["GET", `/admin/people/${personId}`],
    ["PATCH", `/admin/people/${personId}`, { player_id: "7" }],
    ["POST", `/admin/people/${personId}/invitations`],
    ["GET", `/admin/people/${personId}/sessions`],
    ["DELETE", `/admin/people/${personId}/sessions`],
    ["GET", `/admin/people/${personId}/passkeys`],
    ["DELETE", `/admin/people/${personId}/passkeys`],
    ["GET", "/admin/audit"],
    ["DELETE", `/admin/people/${personId}`],
  ],
};

/** For operators alone. */
const CLOSED = ({ serverId }: Furnished): readonly Request[] => [
  ["POST", "/admin/servers", { name: "Mine", server_key: "mine-Key" }],
  ["DELETE", `/admin/servers/${serverId}`],
  ["GET", `/admin/servers/${serverId}/info`],
  ["GET", `/admin/servers/${serverId}/events`],
  ["GET", `/admin/servers/${serverId}/events/stream`],
  ["GET", `/admin/servers/${serverId}/history/players`],
  ["GET", `/admin/servers/${serverId}/map`],
  ["DELETE", "/admin/players/54"],
  ["GET", "/admin/upstream"],
  ["POST", "/admin/upstream/resume"],
  ["PUT", "/admin/roles/mine", { title: "Mine", sections: [], hide: [], commands: ["*"], may: [] }],
  ["DELETE", "/admin/roles/viewer"],
];

const FORBIDDEN = { status: 403, code: 5009, body: expect.objectContaining({ details: { reason: "role" } }) };

/** Whether the path names something of a server, which others do not see. */
const isAboutSomething = ([method, path, body]: Request) =>
  /^\/admin\/[a-z]+\/[a-z]+_/.test(path) || (method === "POST" && body !== undefined);

describe("each ability alone", () => {
  for (const ability of ABILITIES) {
    test(`${ability} opens its own part of the admin API and nothing else`, async () => {
      const serverId = await makeServer();
      const own = await furnish(serverId);
      const foreign = await furnish(await makeServer());
      // Beside another one, so that there is a token.
      const manager = await makeManager(serverId, { may: [ability, ability === "exports" ? "status" : "exports"] });
      const also: readonly Ability[] = ability === "exports" ? ["status"] : ["exports"];
      for (const other of ABILITIES.filter((one) => one !== ability && !also.includes(one))) {
        for (const [method, path, body] of OPENS[other](own)) {
          expect([method, path, await manager.send(method, path, body)]).toEqual([method, path, FORBIDDEN]);
        }
      }
      for (const [method, path, body] of CLOSED(own)) {
        expect([method, path, await manager.send(method, path, body)]).toEqual([method, path, FORBIDDEN]);
      }
      const closed = CLOSED(foreign).filter(([, path]) => path.includes(foreign.serverId));
      for (const [method, path, body] of [...OPENS[ability](foreign).filter(isAboutSomething), ...closed]) {
        const { status, code } = await manager.send(method, path, body);
        expect([method, path, status, code]).toEqual([method, path, 404, 5020]);
      }
      for (const [method, path, body] of OPENS[ability](own)) {
        const { status, body: answer } = await manager.send(method, path, body);
        expect([method, path, status, answer]).toEqual([method, path, expect.any(Number), answer]);
        expect([method, path, [200, 201, 204].includes(status)]).toEqual([method, path, true]);
      }
    });
  }

  test("claim and notes alone give no token for the admin API", async () => {
    const serverId = await makeServer();
    const person = await makeManager(serverId, { may: ["claim", "notes"] });
    expect(person.adminToken).toBeUndefined();
    expect(await findToken(person.browser, serverId)).toMatch(/^gts_/);
  });
});

describe("a token", () => {
  test("of a server is none for the admin API, and the other way round", async () => {
    const serverId = await makeServer();
    const manager = await makeManager(serverId, { may: ["keys"] });
    const forServer = await findToken(manager.browser, serverId);
    expect(await sendAs(gatehouse, forServer, "GET", "/admin/keys")).toMatchObject({ status: 401, code: 5006 });
    expect((await gatehouse.get("/v2/game/server", manager.adminToken)).status).toBe(401);
    expect((await gatehouse.get("/v2/game/server", forServer)).status).toBe(200);
  });

  test("ends with its session, its person and its right, at the next request", async () => {
    const serverId = await makeServer();
    const role = await makeRole({ may: ["keys"] });
    const servers = [{ server_id: serverId, role }];
    const ends: ((personId: string) => Promise<Response>)[] = [
      (id) => gatehouse.admin("DELETE", `/admin/people/${id}/sessions`),
      (id) => gatehouse.admin("PATCH", `/admin/people/${id}`, { disabled: true }),
      (id) => gatehouse.admin("DELETE", `/admin/people/${id}`),
      (id) => gatehouse.admin("PATCH", `/admin/people/${id}`, { servers: [] }),
      () => gatehouse.admin("DELETE", `/admin/servers/${serverId}`),
    ];
    for (const [index, end] of ends.entries()) {
      const person = await addSignedIn(gatehouse, { name: `Ends ${index}`, servers });
      expect((await person.send("GET", "/admin/keys")).status).toBe(200);
      expect((await end(person.personId)).ok).toBe(true);
      expect([401, 403]).toContain((await person.send("GET", "/admin/keys")).status);
    }
  });

  test("does nothing with a right that ended while the change waited for its turn", async () => {
    const [serverId, other] = [await makeServer(), await makeServer()];
    const manager = await makeManager(serverId, { may: ["keys", "claim", "notes"] });
    const { servers, sessions, people } = gatehouse.app.store;
    const { update } = servers;
    const { find } = sessions;
    const [isHeld, isFree, isLookedAt] = [1, 2, 3].map(() => Promise.withResolvers<void>());
    servers.update = async (...change) => {
      isHeld?.resolve();
      await isFree?.promise;
      return update.apply(servers, change);
    };
    let looks = 0;
    sessions.find = (...asked) => {
      looks++;
      isLookedAt?.resolve();
      return find.apply(sessions, asked);
    };
    try {
      const before = gatehouse.admin("PATCH", `/admin/servers/${other}`, { watch: false });
      await isHeld?.promise;
      const waiting = manager.send("POST", "/admin/keys", newKey(serverId));
      await isLookedAt?.promise;
      await people.update(manager.personId, { servers: [{ serverId, role: "viewer" }] });
      isFree?.resolve();
      expect((await before).status).toBe(200);
      expect(await waiting).toEqual(FORBIDDEN);
      expect(looks).toBe(2);
    } finally {
      servers.update = update;
      sessions.find = find;
    }
  });

  test("counts as a wrong master key when it is wrong, and the master key itself works on", async () => {
    gatehouse.clock.advance(60_000);
    const answers: Outcome[] = [];
    for (let tries = 0; tries < 11; tries++)
      answers.push(
        await sendAs(gatehouse, `gts_${"x".repeat(20)}.admin.000000000.${"x".repeat(43)}`, "GET", "/admin/keys"),
      );
    expect(answers.slice(0, 10).map(({ code }) => code)).toEqual(Array(10).fill(5006));
    expect(answers[10]).toMatchObject({ status: 429, code: 5107 });
    expect((await gatehouse.admin("GET", "/admin/keys")).status).toBe(200);
    gatehouse.clock.advance(60_000);
  });
});

describe("lists show a person what is theirs", () => {
  test("of two servers with the ability, and not of the third", async () => {
    const [a, b, c] = [
      await furnish(await makeServer()),
      await furnish(await makeServer()),
      await furnish(await makeServer()),
    ];
    const role = await makeRole({ may: ["keys", "webhooks", "people", "exports"], sections: ["Queue"] });
    const servers = [a, b].map(({ serverId }) => ({ server_id: serverId, role }));
    const viewer = { server_id: c.serverId, role: "viewer" };
    const person = await addSignedIn(gatehouse, { name: "Of two", servers: [...servers, viewer] });
    const read = async (path: string) => (await person.send("GET", path)).body as { items: Record<string, string>[] };
    const idsOf = async (path: string, field: string) => (await read(path)).items.map((item) => item[field]);

    expect(await idsOf("/admin/servers", "server_id")).toEqual([a.serverId, b.serverId]);
    expect(await idsOf("/admin/keys", "key_id")).toEqual([a.keyId, b.keyId]);
    expect(await idsOf(`/admin/keys?server_id=${b.serverId}`, "key_id")).toEqual([b.keyId]);
    expect(await idsOf(`/admin/keys?server_id=${c.serverId}`, "key_id")).toEqual([]);
    expect(await idsOf("/admin/keys?label=bot", "key_id")).toEqual([a.keyId, b.keyId]);
    expect((await idsOf("/admin/webhooks", "webhook_id")).toSorted()).toEqual([a.webhookId, b.webhookId].toSorted());
    expect(await idsOf("/admin/commands", "command_id")).toEqual([b.commandId, a.commandId]);
    expect(await idsOf("/admin/commands?status=queued", "command_id")).toEqual([b.commandId, a.commandId]);
    expect(await idsOf(`/admin/commands?server_id=${a.serverId}`, "command_id")).toEqual([a.commandId]);
    expect(await idsOf("/admin/people", "person_id")).toEqual([a.personId, b.personId, person.personId]);
    expect(await idsOf(`/admin/people?server_id=${c.serverId}`, "person_id")).toEqual([]);
    expect(await person.send("GET", `/admin/servers/${c.serverId}`)).toMatchObject(FORBIDDEN);

    const me = (await person.send("GET", `/admin/people/${person.personId}`)).body as { servers: object[] };
    expect(me.servers).toHaveLength(2);
    expect(me.servers).toEqual(expect.arrayContaining(servers));
    const page = (await person.send("GET", "/admin/servers?limit=1")).body as { items: object[]; next: string };
    expect(page.items).toMatchObject([{ server_id: a.serverId }]);
    expect(await idsOf(`/admin/servers?limit=1&cursor=${page.next}`, "server_id")).toEqual([b.serverId]);
  });

  test("of blocks: keys and people of their servers", async () => {
    const [serverId, other] = [await makeServer(), await makeServer()];
    const manager = await makeManager(serverId, { may: ["keys"] });
    const blocked: string[] = [];
    for (const server of [serverId, other]) {
      const key = await operator.addKey({ server_id: server });
      const caller = `${await addPerson(gatehouse, { name: `Blocked ${server}` })}@${server}`;
      for (const keyId of [key.key_id, caller]) {
        for (let sent = 0; sent < 520; sent++)
          await gatehouse.app.store.limits.judge({ keyId, serverId: server }, gatehouse.clock.now, true);
        blocked.push(keyId);
      }
    }
    const [key = "", caller = "", otherKey = "", otherCaller = ""] = blocked;
    const list = async () => {
      const { body } = await manager.send("GET", "/admin/blocks");
      return (body as { items: { key_id: string }[] }).items.map(({ key_id }) => key_id);
    };
    expect(await list()).toEqual([key, caller]);
    const all = (await (await gatehouse.admin("GET", "/admin/blocks")).json()) as { items: object[] };
    expect(all.items).toContainEqual(
      expect.objectContaining({ key_id: caller, server_id: serverId, label: `Blocked ${serverId}` }),
    );
    for (const id of [otherKey, otherCaller])
      expect((await manager.send("DELETE", `/admin/blocks/${encodeURIComponent(id)}`)).status).toBe(404);
    for (const id of [key, caller])
      expect((await manager.send("DELETE", `/admin/blocks/${encodeURIComponent(id)}`)).status).toBe(204);
    expect(await list()).toEqual([]);
    expect(await gatehouse.app.store.limits.findBlocked([caller], gatehouse.clock.now)).toEqual(new Set());
  });

  test("a server without the counts of sections that the role does not have", async () => {
    const serverId = await makeServer();
    const manager = await makeManager(serverId, { may: ["status"], sections: [] });
    await gatehouse.admin("GET", `/admin/servers/${serverId}/info?Queue=true&ModCalls=true`);
    const { body } = await manager.send("GET", `/admin/servers/${serverId}`);
    expect(body).toMatchObject({ players: expect.any(Number), queue: null, open_modcalls: null, open_calls: null });
  });
});

describe("a server in the hands of a role with status", () => {
  test("keeps its server key, community, watch and who may sign in", async () => {
    const serverId = await makeServer();
    const manager = await makeManager(serverId, { may: ["status"] });
    for (const change of [
      { server_key: "other-Key" },
      { community: "mine" },
      { watch: false },
      { owners_sign_in: true },
      { name: "Good", owners_sign_in: true },
    ])
      expect([change, await manager.send("PATCH", `/admin/servers/${serverId}`, change)]).toEqual([change, FORBIDDEN]);
    expect(await (await gatehouse.admin("GET", `/admin/servers/${serverId}`)).json()).toMatchObject({
      watch: true,
      community: null,
      owners_sign_in: false,
    });
  });

  test("does not show everybody a join key that is hidden from the role", async () => {
    const serverId = await makeServer();
    const manager = await makeManager(serverId, { may: ["status"], hide: ["JoinKey"] });
    const show = (show_join_key: boolean) =>
      manager.send("PATCH", `/admin/servers/${serverId}`, {
        public_status: { slug: serverId.slice(4).toLowerCase(), show_join_key },
      });
    expect(await show(true)).toEqual(FORBIDDEN);
    expect((await show(false)).status).toBe(200);
    expect(await show(true)).toEqual(FORBIDDEN);
  });

  test("is opened to its owners by operators", async () => {
    const serverId = await makeServer();
    const set = await gatehouse.admin("PATCH", `/admin/servers/${serverId}`, { owners_sign_in: true });
    expect([set.status, await set.json()]).toEqual([200, expect.objectContaining({ owners_sign_in: true })]);
    const { items } = await listAudit(`target=${serverId}`);
    expect(items[0]?.details).toEqual({ before: { owners_sign_in: false }, after: { owners_sign_in: true } });
    await gatehouse.admin("PATCH", `/admin/servers/${serverId}`, { owners_sign_in: false });
  });
});

describe("no key has more rights than the one who makes or changes it", () => {
  const role: RoleDraft = {
    sections: ["Players", "Queue"],
    hide: ["JoinKey"],
    commands: [":h", ":m"],
    may: ["keys", "claim", "notes"],
  };
  const good = { sections: ["Queue"], hide: ["JoinKey", "Location"], commands: [":H"] };

  test("new ones", async () => {
    const serverId = await makeServer();
    const manager = await makeManager(serverId, role);
    const make = (rights: object) =>
      manager.send("POST", "/admin/keys", { server_id: serverId, label: "bot", ...rights });
    expect(await make(good)).toMatchObject({ status: 201 });
    expect(await make({})).toEqual(FORBIDDEN);
    expect(await make({ ...good, sections: ["Queue", "Staff"] })).toEqual(FORBIDDEN);
    expect(await make({ ...good, hide: [] })).toEqual(FORBIDDEN);
    expect(await make({ ...good, commands: ["*"] })).toEqual(FORBIDDEN);
    expect(await make({ ...good, commands: [":h", ":kick"] })).toEqual(FORBIDDEN);
  });

  test("old ones, which they cannot touch either when they have more", async () => {
    const serverId = await makeServer();
    const manager = await makeManager(serverId, role);
    const within = await operator.addKey({ server_id: serverId }, { ...good });
    const above = await operator.addKey({ server_id: serverId });
    for (const change of [{ sections: ["Staff"] }, { hide: [] }, { commands: ["*"] }])
      expect([change, await manager.send("PATCH", `/admin/keys/${within.key_id}`, change)]).toEqual([
        change,
        FORBIDDEN,
      ]);
    expect((await manager.send("PATCH", `/admin/keys/${within.key_id}`, { commands: [":m"] })).status).toBe(200);
    expect((await manager.send("GET", `/admin/keys/${above.key_id}`)).status).toBe(200);
    expect(await manager.send("PATCH", `/admin/keys/${above.key_id}`, { sections: [], hide: ["JoinKey"] })).toEqual(
      FORBIDDEN,
    );
    expect(await manager.send("POST", `/admin/keys/${above.key_id}/rotate`)).toEqual(FORBIDDEN);
    expect(await manager.send("DELETE", `/admin/keys/${above.key_id}`)).toEqual(FORBIDDEN);
    expect((await operator.showKey(above)).revoked_at).toBeNull();
  });

  test("a key that may send commands may claim calls and write notes, so its maker must too", async () => {
    const serverId = await makeServer();
    const manager = await makeManager(serverId, { ...role, may: ["keys"] });
    expect(await manager.send("POST", "/admin/keys", { server_id: serverId, label: "bot", ...good })).toEqual(
      FORBIDDEN,
    );
    const silent = { server_id: serverId, label: "bot", ...good, commands: [] };
    expect((await manager.send("POST", "/admin/keys", silent)).status).toBe(201);
  });
});

test("no webhook sends more than the one who makes or changes it may read", async () => {
  const serverId = await makeServer();
  const manager = await makeManager(serverId, { may: ["webhooks"], sections: ["Queue"], hide: ["JoinKey"] });
  const make = (more: object) => manager.send("POST", "/admin/webhooks", newWebhook(serverId, more));
  expect((await make({ types: ["queue.changed", "server.offline"] })).status).toBe(201);
  // A program gets server.changed with the join key; in Discord it is not shown.
  expect(await make({ types: ["server.*"] })).toEqual(FORBIDDEN);
  const discord = { format: "discord", url: "https://discord.com/api/webhooks/1/x" };
  expect((await make({ ...discord, types: ["server.*"] })).status).toBe(201);
  for (const more of [{ types: undefined }, { types: ["player.*"] }, { types: ["alert.*"] }, { show_join_key: true }])
    expect([more, await make(more)]).toEqual([more, FORBIDDEN]);
  expect(await make({ format: "discord-status", types: undefined })).toEqual(FORBIDDEN);
  const above = await gatehouse.admin("POST", "/admin/webhooks", newWebhook(serverId, { types: ["player.*"] }));
  const { webhook_id } = (await above.json()) as { webhook_id: string };
  const path = `/admin/webhooks/${webhook_id}`;
  expect(await manager.send("PATCH", path, { url: "http://127.0.0.1:2/" })).toEqual(FORBIDDEN);
  expect(await manager.send("POST", `${path}/rotate`)).toEqual(FORBIDDEN);
  expect(await manager.send("POST", `${path}/redeliver`, { after: "earliest" })).toEqual(FORBIDDEN);
  expect(await manager.send("DELETE", path)).toEqual(FORBIDDEN);
});

describe("people in the hands of a role with people", () => {
  /** A manager who may do what `trial` may, and people. */
  async function makeStaff() {
    const [a, b] = [await makeServer(), await makeServer()];
    const role: RoleDraft = { may: ["people", "claim", "notes"], commands: [":h", ":m", ":pm"], hide: ["JoinKey"] };
    const manager = await makeManager(a, role);
    const add = (roles: Record<string, string>, more = {}) => {
      const servers = Object.entries(roles).map(([server_id, name]) => ({ server_id, role: name }));
      return addPerson(gatehouse, { name: `Person ${++made}`, servers, ...more });
    };
    const setRole = (id: string, servers: object[]) => manager.send("PATCH", `/admin/people/${id}`, { servers });
    return { a, b, manager, add, setRole };
  }

  test("are made with roles on the manager's server, within the manager's own", async () => {
    const { a, b, manager } = await makeStaff();
    const make = (servers: object[], more = {}) =>
      manager.send("POST", "/admin/people", { name: `Made ${++made}`, servers, ...more });
    expect(await make([{ server_id: a, role: "trial" }])).toMatchObject({
      status: 201,
      body: { servers: [{ server_id: a, role: "trial" }] },
    });
    expect(await make([{ server_id: a, role: "moderator" }])).toEqual(FORBIDDEN);
    expect(await make([{ server_id: a, role: "trial" }], { is_operator: true })).toEqual(FORBIDDEN);
    expect(
      await make([
        { server_id: a, role: "trial" },
        { server_id: b, role: "viewer" },
      ]),
    ).toMatchObject({ status: 404 });
    expect(await make([])).toMatchObject({ status: 400, code: 5104 });
    expect(await make([{ server_id: a, role: "nothing" }])).toMatchObject({ status: 400, code: 5104 });
  });

  test("keep their roles on other servers, which the manager does not see", async () => {
    const { a, b, manager, add, setRole } = await makeStaff();
    const id = await add({ [a]: "viewer", [b]: "manager" });
    const shown = { person_id: id, servers: [{ server_id: a, role: "viewer" }] };
    expect(await manager.send("GET", `/admin/people/${id}`)).toMatchObject({ status: 200, body: shown });
    expect(await setRole(id, [{ server_id: a, role: "trial" }])).toMatchObject({ status: 200 });
    const servers = async () => {
      const body = (await (await gatehouse.admin("GET", `/admin/people/${id}`)).json()) as { servers: object[] };
      return body.servers;
    };
    expect(await servers()).toEqual(
      expect.arrayContaining([
        { server_id: a, role: "trial" },
        { server_id: b, role: "manager" },
      ]),
    );
    expect(await setRole(id, [{ server_id: b, role: "viewer" }])).toMatchObject({ status: 404 });
    expect(await setRole(id, [])).toMatchObject({ status: 200, body: { servers: [] } });
    expect(await servers()).toEqual([{ server_id: b, role: "manager" }]);
    expect((await manager.send("GET", `/admin/people/${id}`)).status).toBe(404);
  });

  test("are not signed out, renamed, invited or deleted when they have a role elsewhere, or one above", async () => {
    const { a, b, manager, add } = await makeStaff();
    const elsewhere = await add({ [a]: "viewer", [b]: "viewer" });
    const above = await add({ [a]: "moderator" });
    for (const id of [elsewhere, above]) {
      const path = `/admin/people/${id}`;
      for (const [method, rest, body] of [
        ["PATCH", "", { name: "Other" }],
        ["PATCH", "", { chat_id: "12345" }],
        ["PATCH", "", { player_id: "12345" }],
        ["PATCH", "", { disabled: true }],
        ["DELETE", ""],
        ["POST", "/invitations"],
        ["GET", "/sessions"],
        ["DELETE", "/sessions"],
        ["DELETE", "/sessions/ses_none"],
        ["GET", "/passkeys"],
        ["DELETE", "/passkeys"],
        ["DELETE", "/passkeys/psk_none"],
      ] as const)
        expect([method, rest, await manager.send(method, path + rest, body)]).toEqual([method, rest, FORBIDDEN]);
    }
    expect(await manager.send("PATCH", `/admin/people/${above}`, { servers: [] })).toEqual(FORBIDDEN);
    const lower = [{ server_id: a, role: "viewer" }];
    expect(await manager.send("PATCH", `/admin/people/${above}`, { servers: lower })).toEqual(FORBIDDEN);
    expect(
      (await manager.send("PATCH", `/admin/people/${elsewhere}`, { servers: [{ server_id: a, role: "trial" }] }))
        .status,
    ).toBe(200);
  });

  test("do not become more than the manager, the manager included", async () => {
    const { a, manager, add, setRole } = await makeStaff();
    const id = await add({ [a]: "viewer" });
    for (const role of ["moderator", "head", "manager"]) {
      expect([role, await setRole(id, [{ server_id: a, role }])]).toEqual([role, FORBIDDEN]);
      expect([role, await setRole(manager.personId, [{ server_id: a, role }])]).toEqual([role, FORBIDDEN]);
    }
    expect(await manager.send("PATCH", `/admin/people/${id}`, { is_operator: true })).toEqual(FORBIDDEN);
    expect(await manager.send("PATCH", `/admin/people/${manager.personId}`, { is_operator: true })).toEqual(FORBIDDEN);
    expect((await setRole(id, [{ server_id: a, role: "trial" }])).status).toBe(200);
  });

  test("who are operators cannot be touched, and without a role there not be seen", async () => {
    const { a, manager, add, setRole } = await makeStaff();
    const here = await add({ [a]: "viewer" }, { is_operator: true });
    const hidden = await add({}, { is_operator: true });
    for (const body of [{ name: "Other" }, { servers: [] }, { is_operator: false }, { disabled: true }])
      expect([body, await manager.send("PATCH", `/admin/people/${here}`, body)]).toEqual([body, FORBIDDEN]);
    expect(await setRole(here, [{ server_id: a, role: "trial" }])).toEqual(FORBIDDEN);
    for (const rest of ["", "/sessions", "/passkeys"])
      expect([rest, await manager.send("DELETE", `/admin/people/${here}${rest}`)]).toEqual([rest, FORBIDDEN]);
    expect(await manager.send("POST", `/admin/people/${here}/invitations`)).toEqual(FORBIDDEN);
    for (const method of ["GET", "DELETE"])
      expect((await manager.send(method, `/admin/people/${hidden}`)).status).toBe(404);
    expect((await manager.send("PATCH", `/admin/people/${hidden}`, { name: "x" })).status).toBe(404);
  });
});

test("who manages one server cannot act as the owner of another", async () => {
  const [own, other] = [await makeServer(), await makeServer()];
  const manager = await makeManager(own, { may: [...ABILITIES] });
  await gatehouse.admin("PATCH", `/admin/servers/${other}`, { owners_sign_in: true });
  const owner = { chat_id: String(BASE_INFO.OwnerId), servers: [{ server_id: own, role: "viewer" }] };
  const id = await addPerson(gatehouse, { name: "Owner", ...owner });
  expect(await manager.send("POST", `/admin/people/${id}/invitations`)).toEqual(FORBIDDEN);
  expect(await manager.send("PATCH", `/admin/people/${id}`, { chat_id: null })).toEqual(FORBIDDEN);
  await gatehouse.admin("DELETE", `/admin/people/${id}`);
  expect(await manager.send("POST", "/admin/people", { name: "Like the owner", ...owner })).toEqual(FORBIDDEN);
  const harmless = { name: "Harmless", servers: owner.servers };
  const made = await manager.send("POST", "/admin/people", harmless);
  const path = `/admin/people/${(made.body as { person_id: string }).person_id}`;
  expect(await manager.send("PATCH", path, { chat_id: owner.chat_id })).toEqual(FORBIDDEN);
  await gatehouse.admin("PATCH", `/admin/servers/${other}`, { owners_sign_in: false });
  expect((await manager.send("PATCH", path, { chat_id: owner.chat_id })).status).toBe(200);
  await gatehouse.admin("DELETE", path);
});

test("who manages people of a server without being its manager cannot act on its owner", async () => {
  const serverId = await makeServer();
  await gatehouse.admin("PATCH", `/admin/servers/${serverId}`, { owners_sign_in: true });
  const manager = await makeManager(serverId, { may: ["people"] });
  const viewer = [{ server_id: serverId, role: await makeRole({ commands: [] }) }];
  const chat_id = String(BASE_INFO.OwnerId);
  expect(await manager.send("POST", "/admin/people", { name: "Mask", servers: viewer, chat_id })).toEqual(FORBIDDEN);
  const made = await manager.send("POST", "/admin/people", { name: "Plain", servers: viewer });
  const plain = `/admin/people/${(made.body as { person_id: string }).person_id}`;
  expect(await manager.send("PATCH", plain, { chat_id })).toEqual(FORBIDDEN);
  const owner = `/admin/people/${await addPerson(gatehouse, { name: "Real owner", servers: viewer, chat_id })}`;
  for (const change of [{ disabled: true }, { chat_id: null }, { name: "Nobody" }])
    expect(await manager.send("PATCH", owner, change)).toEqual(FORBIDDEN);
  for (const [method, path] of [
    ["POST", `${owner}/invitations`],
    ["DELETE", `${owner}/sessions`],
    ["DELETE", owner],
  ] as const)
    expect(await manager.send(method, path)).toEqual(FORBIDDEN);
  const chief = await addSignedIn(gatehouse, {
    name: "Chief",
    servers: [{ server_id: serverId, role: "manager" }],
  });
  expect((await chief.send("PATCH", owner, { disabled: true })).status).toBe(200);
  expect((await chief.send("DELETE", owner)).status).toBe(204);
});

describe("an operator person", () => {
  test("may do what the master key may, and is named in the audit log", async () => {
    const person = await addSignedIn(gatehouse, { name: "Olga", is_operator: true });
    const created = await person.send("POST", "/admin/servers", { name: "Olga's", server_key: "olga-Key" });
    const { server_id: serverId } = created.body as { server_id: string };
    expect((await person.send("GET", `/admin/servers/${serverId}/info`)).status).toBe(200);
    expect((await person.send("GET", `/admin/servers/${serverId}/events`)).status).toBe(200);
    expect(
      (await person.send("PUT", "/admin/roles/mine", { title: "Mine", sections: [], hide: [], commands: [], may: [] }))
        .status,
    ).toBe(200);
    expect((await person.send("DELETE", "/admin/roles/mine")).status).toBe(204);
    const { items } = await listAudit(`actor=${person.personId}`);
    expect(items.map(({ action }) => action)).toEqual([
      "role.deleted",
      "role.changed",
      "server.created",
      "session.opened",
    ]);
    expect(items[0]?.actor).toEqual({ kind: "person", id: person.personId, name: "Olga", address: "127.0.0.1" });
    expect((await person.send("DELETE", `/admin/servers/${serverId}`)).status).toBe(200);
  });

  test("sees the health and the metrics of the instance, which a manager does not", async () => {
    const operated = await addSignedIn(gatehouse, { name: "Odette", is_operator: true });
    const manager = await makeManager(await makeServer(), { may: [...ABILITIES] });
    expect((await operated.send("GET", "/metrics")).status).toBe(200);
    expect(await manager.send("GET", "/metrics")).toMatchObject({ status: 401, code: 5006 });
    for (const person of [operated, manager]) expect((await person.send("GET", "/readyz")).status).toBe(200);
  });

  test("loses an open stream with the right", async () => {
    const server_id = await makeServer();
    const person = await addSignedIn(gatehouse, { name: "Oleg", is_operator: true });
    const stream = await gatehouse.get(`/admin/servers/${server_id}/events/stream`, person.adminToken);
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toContain("event: hello");
    await gatehouse.admin("PATCH", `/admin/people/${person.personId}`, { is_operator: false });
    gatehouse.clock.advance(1_000);
    let text = "";
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) text += part.value;
    expect(text).toContain("event: bye");
  });
});

test("a person is shown with the usage on each server, as far as it is seen", async () => {
  const [own, other] = [await makeServer(), await makeServer()];
  const roles = [own, other].map((server_id) => ({ server_id, role: "trial" }));
  const { personId, browser } = await addSignedIn(gatehouse, { name: "Busy", servers: roles });
  const counted = { requests: 2, refusals: { 5009: 1 } };
  for (const serverId of [own, other]) {
    const token = await browser.token(serverId);
    await (await gatehouse.get("/v2/game/server", token)).text();
    expect((await sendAs(gatehouse, token, "POST", "/v2/game/server/command", { command: ":kick x" })).status).toBe(
      403,
    );
  }
  const hours = [{ hour: gatehouse.clock.now - (gatehouse.clock.now % 3_600_000), ...counted }];
  const shown = async (answer: Promise<Outcome>) => ((await answer).body as { usage: object[] }).usage;
  const read = { status: 200, code: 0, body: await (await gatehouse.admin("GET", `/admin/people/${personId}`)).json() };
  expect(await shown(Promise.resolve(read))).toEqual(
    expect.arrayContaining([own, other].map((server_id) => ({ server_id, ...counted, hours }))),
  );
  const manager = await makeManager(own, { may: ["people", "keys"] });
  expect(await shown(manager.send("GET", `/admin/people/${personId}`))).toEqual([
    { server_id: own, ...counted, hours },
  ]);
});

describe("people and roles of an operator", () => {
  const post = (body: object) => gatehouse.admin("POST", "/admin/people", body);
  const codes = async (answer: Response) => [answer.status, ((await answer.json()) as { code: number }).code];

  test("have names and chat ids of their own, without case", async () => {
    const id = await addPerson(gatehouse, { name: "Unique Name", chat_id: "99887766" });
    expect(await codes(await post({ name: "UNIQUE name" }))).toEqual([409, 5104]);
    expect(await codes(await post({ name: "Another", chat_id: "99887766" }))).toEqual([409, 5104]);
    const other = await addPerson(gatehouse, { name: "Second" });
    expect(await codes(await gatehouse.admin("PATCH", `/admin/people/${other}`, { name: "unique NAME" }))).toEqual([
      409, 5104,
    ]);
    expect((await gatehouse.admin("PATCH", `/admin/people/${id}`, { name: "Unique name" })).status).toBe(200);
  });

  test("name servers and roles that exist, each server once", async () => {
    const server_id = await makeServer();
    for (const [servers, code] of [
      [[{ server_id: "srv_none", role: "viewer" }], "no_server"],
      [[{ server_id, role: "nothing" }], "no_role"],
      [
        [
          { server_id, role: "viewer" },
          { server_id, role: "trial" },
        ],
        "server_twice",
      ],
    ] as const) {
      const answer = await post({ name: `Wrong ${code}`, servers });
      expect([answer.status, await answer.json()]).toEqual([
        400,
        expect.objectContaining({ code: 5104, reasons: { servers: { code, position: expect.any(Number) } } }),
      ]);
    }
  });

  test("roles: at most twenty, the five stay, and one in use too", async () => {
    const server_id = await makeServer();
    const body = { title: "x", sections: [], hide: [], commands: [], may: [] };
    const put = (name: string) => gatehouse.admin("PUT", `/admin/roles/${name}`, body);
    const list = async () =>
      ((await (await gatehouse.admin("GET", "/admin/roles")).json()) as { items: { name: string }[] }).items;
    expect((await list()).slice(0, 5).map(({ name }) => name)).toEqual([
      "viewer",
      "trial",
      "moderator",
      "head",
      "manager",
    ]);
    const added: string[] = [];
    while ((await list()).length < 20) {
      const name = `extra-${added.length}`;
      expect((await put(name)).status).toBe(200);
      added.push(name);
    }
    expect(await codes(await put("one-more"))).toEqual([409, 5104]);
    expect((await put(added[0] ?? "")).status).toBe(200);
    const id = await addPerson(gatehouse, { name: "Has extra", servers: [{ server_id, role: added[0] ?? "" }] });
    expect(await codes(await gatehouse.admin("DELETE", `/admin/roles/${added[0]}`))).toEqual([409, 5104]);
    await gatehouse.admin("DELETE", `/admin/people/${id}`);
    expect(await codes(await gatehouse.admin("DELETE", "/admin/roles/viewer"))).toEqual([409, 5104]);
    expect(await codes(await gatehouse.admin("DELETE", "/admin/roles/unknown"))).toEqual([404, 5020]);
    expect(await codes(await put("Wrong%20Name"))).toEqual([400, 5104]);
    for (const name of added) expect((await gatehouse.admin("DELETE", `/admin/roles/${name}`)).status).toBe(204);
  });

  test("each change leaves one audit entry, without a secret, and none when nothing changes", async () => {
    const server_id = await makeServer();
    const viewer = [{ server_id, role: "viewer" }];
    const id = await addPerson(gatehouse, { name: "Audited", servers: viewer });
    const path = `/admin/people/${id}`;
    await gatehouse.admin("PATCH", path, { servers: viewer, name: "Audited" });
    await gatehouse.admin("PATCH", path, { servers: [{ server_id, role: "trial" }] });
    const person = await signIn(gatehouse, id);
    await gatehouse.admin("DELETE", `${path}/sessions`);
    await gatehouse.admin("DELETE", `${path}/sessions`);
    await gatehouse.admin("DELETE", path);
    const { items } = await listAudit(`target=${id}`);
    expect(items.map(({ action, details }) => [action, details])).toEqual([
      ["person.deleted", { before: expect.objectContaining({ name: "Audited" }) }],
      ["session.ended", { before: { sessions: "all" } }],
      ["session.opened", expect.anything()],
      ["person.invited", { after: { expires_at: expect.any(Number) } }],
      ["person.changed", { before: { servers: viewer }, after: { servers: [{ server_id, role: "trial" }] } }],
      ["person.created", { after: expect.objectContaining({ name: "Audited", servers: viewer }) }],
    ]);
    expect(JSON.stringify(items)).not.toMatch(/gt[dis]_/);
    for (const secret of person.browser.cookies.values()) expect(JSON.stringify(items)).not.toContain(secret);
  });
});

type Audit = {
  readonly items: readonly { id: string; action: string; target: string; actor: object; details: object }[];
};

async function listAudit(query: string): Promise<Audit> {
  const answer = await gatehouse.admin("GET", `/admin/audit?${query}`);
  return (await answer.json()) as Audit;
}

describe("the audit log", () => {
  test("is filtered by actor, action, target, time and text", async () => {
    const serverId = await makeServer();
    gatehouse.clock.advance(1_000);
    const start = gatehouse.clock.now;
    const manager = await makeManager(serverId, { may: ["keys", "claim", "notes"] });
    const made = await manager.send("POST", "/admin/keys", newKey(serverId, { label: 'The "Red" bot' }));
    const { key_id } = made.body as { key_id: string };
    gatehouse.clock.advance(1_000);
    await gatehouse.admin("PATCH", `/admin/keys/${key_id}`, { suspended: true });
    const actions = async (query: string) =>
      (await listAudit(`from=${start}&${query}`)).items.map(({ action }) => action);
    expect(await actions(`target=${key_id}`)).toEqual(["key.changed", "key.created"]);
    expect(await actions(`target=${key_id}&action=key.created`)).toEqual(["key.created"]);
    expect(await actions(`actor=${manager.personId}&action=key.created`)).toEqual(["key.created"]);
    expect(await actions(`actor=master&target=${key_id}`)).toEqual(["key.changed"]);
    expect(await actions("actor=MANAGER&action=key.created")).toEqual(["key.created"]);
    expect(await actions(`target=${key_id}&to=${gatehouse.clock.now}`)).toEqual(["key.created"]);
    expect(await actions(`target=${key_id}&query=${encodeURIComponent('"red"')}`)).toEqual(["key.created"]);
    expect(await actions("query=no-such-text")).toEqual([]);
    for (const wrong of ["from=x", "to=-1", "actor=", `query=${"x".repeat(101)}`, "from=5&to=5", "action=a&action=b"])
      expect([wrong, (await gatehouse.admin("GET", `/admin/audit?${wrong}`)).status]).toEqual([wrong, 400]);
  });

  test("is shown to who manages the people of a server as far as it is about that server", async () => {
    const [own, other] = [await makeServer(), await makeServer()];
    const manager = await makeManager(own, { may: ["people"] });
    const [mine, foreign] = [await operator.addKey({ server_id: own }), await operator.addKey({ server_id: other })];
    const webhook = await gatehouse.admin("POST", "/admin/webhooks", newWebhook(own));
    const { webhook_id } = (await webhook.json()) as { webhook_id: string };
    await gatehouse.admin("PUT", `/admin/servers/${own}/alerts`, {});
    const { body } = await manager.send("GET", "/admin/audit");
    const { items } = body as Audit;
    expect(items.map(({ action, target }) => [action, target])).toEqual(
      [
        ["server.alerts_set", own],
        ["webhook.created", webhook_id],
        ["key.created", mine.key_id],
        ["session.opened", manager.personId],
        ["person.invited", manager.personId],
        ["person.created", manager.personId],
        ["server.created", own],
      ].filter(([action]) => action !== "session.opened"),
    );
    const { items: foreignItems } = await listAudit(`target=${foreign.key_id}`);
    expect((await manager.send("GET", `/admin/audit/${items[0]?.id}`)).status).toBe(200);
    expect((await manager.send("GET", `/admin/audit/${foreignItems[0]?.id}`)).status).toBe(404);
  });

  test("is downloaded as CSV and as lines of JSON, with the filters, as far as the one who asks may", async () => {
    const [own, other] = [await makeServer(), await makeServer()];
    const manager = await makeManager(own, { may: ["exports"] });
    const hostile = '=HYPERLINK("x")\nnew, line';
    const mine = await operator.addKey({ server_id: own }, { label: '=HYPERLINK("x"), line' });
    const foreign = await operator.addKey({ server_id: other });
    const csv = await gatehouse.get("/admin/audit/export?action=key.created", manager.adminToken);
    expect([csv.status, csv.headers.get("content-type"), csv.headers.get("content-disposition")]).toEqual([
      200,
      "text/csv",
      'attachment; filename="gatehouse-audit.csv"',
    ]);
    const lines = (await csv.text()).split("\r\n");
    expect(lines[0]).toBe('"id","at","action","actor_kind","actor_id","actor_name","address","target","details"');
    expect(lines).toHaveLength(3);
    expect(lines[1]).toContain(mine.key_id);
    expect(lines[1]).toMatch(/^"aud_\w+","\d{4}-\d\d-\d\dT/);
    expect(hostile).toContain("=HYPERLINK");
    const jsonl = await gatehouse.get("/admin/audit/export?format=jsonl&action=key.created", manager.adminToken);
    const entries = (await jsonl.text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { target: string });
    expect(entries.map(({ target }) => target)).toEqual([mine.key_id]);
    const all = await (await gatehouse.admin("GET", "/admin/audit/export?format=jsonl")).text();
    expect(all).toContain(foreign.key_id);
    expect((await gatehouse.admin("GET", "/admin/audit/export?format=xml")).status).toBe(400);
  });

  test("a download has every entry once, over many pages", async () => {
    const target = { kind: "system", id: "gatehouse", name: "Gatehouse", address: "" } as const;
    for (let index = 0; index < 450; index++)
      await gatehouse.app.store.audit.add(`page-${index}`, { at: 5, action: "test.paged", actor: target, details: {} });
    const text = await (await gatehouse.admin("GET", "/admin/audit/export?format=jsonl&action=test.paged")).text();
    const targets = text
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { target: string }).target);
    expect(targets).toEqual(Array.from({ length: 450 }, (_, index) => `page-${449 - index}`));
  });
});

test("every route of the admin API says what a person needs for it", () => {
  const handlers = new Proxy({}, { get: () => ({ before: () => () => new Response() }) }) as Handlers;
  const undeclared = listRoutes(handlers)
    .filter(({ path }) => path.startsWith("/admin"))
    .flatMap((route) =>
      METHODS.filter((method) => route[method] && !("need" in route[method])).map(
        (method) => `${method} ${route.path}`,
      ),
    );
  expect(undeclared).toEqual([]);
});
