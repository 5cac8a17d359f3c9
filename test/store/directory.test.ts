// Several instances on one PostgreSQL: what one changes, the others know after they have caught up.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { StoreUnavailable } from "../../src/core/errors.ts";
import { DEFAULT_SETTINGS } from "../../src/core/keys/key-settings.ts";
import { SlugTaken } from "../../src/core/ports/servers.ts";
import type { DatabaseStore } from "../../src/database/store/store.ts";
import { openTestPostgres } from "../open-store.ts";
import { type PostgresServer, startPostgres, stopPostgresServers } from "../postgres-server.ts";

const NOW = 1_800_000_000_000;
let server: PostgresServer;
let url: string;
let first: DatabaseStore;
let second: DatabaseStore;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(stopPostgresServers);
beforeEach(async () => {
  url = await server.createDatabase();
  first = await openTestPostgres({ url });
  second = await openTestPostgres({ url });
});
afterEach(async () => {
  await first.close();
  await second.close();
});

async function addKey(tokenHash: string, serverId?: string) {
  const draft = { name: "One", community: null, serverKey: "a-b" };
  const id = serverId ?? (await first.servers.create(draft, NOW)).serverId;
  const rights = { ...DEFAULT_SETTINGS, serverId: id, label: "bot", tokenHash };
  const key = await first.keys.create(rights, NOW);
  if (!key) throw new Error("no key");
  return key;
}

describe("another instance", () => {
  test("knows a new server and key, a changed, revoked and blocked key, and a deleted server", async () => {
    const key = await addKey("hash-1");
    await second.directory.catchUp();
    expect(second.servers.find(key.serverId)?.name).toBe("One");
    expect(await second.keys.find("hash-1", NOW)).toMatchObject({ keyId: key.keyId });
    const known = second.keys.version;
    await first.keys.update(key.keyId, { isSuspended: true });
    await second.directory.catchUp();
    expect(second.keys.version).not.toBe(known);
    expect(second.keys.find("hash-1", NOW)).toMatchObject({ grant: { isSuspended: true } });
    await first.blocks.save(key.keyId, NOW + 1);
    await second.directory.catchUp();
    expect(second.blocks.find(key.keyId)).toBe(NOW + 1);
    await first.keys.revoke(key.keyId, NOW);
    await second.directory.catchUp();
    expect([await second.keys.find("hash-1", NOW), second.blocks.find(key.keyId)]).toEqual([undefined, 0]);
    await addKey("hash-2", key.serverId);
    expect(await second.keys.find("hash-2", NOW)).toBeDefined();
    await first.servers.delete(key.serverId, NOW);
    await second.directory.catchUp();
    expect([second.servers.find(key.serverId), await second.keys.find("hash-2", NOW)]).toEqual([undefined, undefined]);
  });

  test("finds a key and a server that were made a moment ago, without being told", async () => {
    const { serverId } = await addKey("hash-1");
    expect(await second.keys.find("hash-1", NOW)).toMatchObject({ serverId });
  });

  test("reads everything when it missed more versions than are listed", async () => {
    const key = await addKey("hash-1");
    await second.directory.catchUp();
    await second.keys.find("hash-1", NOW);
    await first.keys.update(key.keyId, { isSuspended: true });
    await server.ask("DELETE FROM gatehouse.changes", url);
    await server.ask("UPDATE gatehouse.directory SET version = version + 20000", url);
    await second.directory.catchUp();
    expect(second.keys.find("hash-1", NOW)).toMatchObject({ grant: { isSuspended: true } });
  });

  test("reads everything after the database was away, also at the version that it knows", async () => {
    const key = await addKey("hash-1");
    await second.directory.catchUp();
    await second.keys.find("hash-1", NOW);
    // As on a replica that missed a change, and got another one of the same number since.
    await server.ask("UPDATE gatehouse.keys SET suspended = 1", url);
    await second.directory.catchUp();
    expect(second.keys.find("hash-1", NOW)).toMatchObject({ keyId: key.keyId, grant: { isSuspended: false } });
    second.directory.distrust();
    await second.directory.catchUp();
    expect(second.keys.find("hash-1", NOW)).toMatchObject({ keyId: key.keyId, grant: { isSuspended: true } });
  });

  test("reads everything when the database is an older one than before", async () => {
    const key = await addKey("hash-1");
    await second.directory.catchUp();
    await server.ask("DELETE FROM gatehouse.servers", url);
    await server.ask("UPDATE gatehouse.directory SET version = 1", url);
    await second.directory.catchUp();
    expect(second.servers.find(key.serverId)).toBeUndefined();
  });

  test("never remembers a key as it was before a change, however a lookup and the change meet", async () => {
    const key = await addKey("hash-1");
    for (let round = 0; round < 30; round++) {
      const isSuspended = round % 2 === 0;
      await Promise.all([
        second.keys.find("hash-1", NOW),
        first.keys.update(key.keyId, { isSuspended }),
        second.directory.catchUp(),
        second.keys.update(key.keyId, { label: `round ${round}` }),
      ]);
      await second.directory.catchUp();
      expect(await second.keys.find("hash-1", NOW)).toMatchObject({
        label: `round ${round}`,
        grant: { isSuspended },
      });
    }
  });
});

describe("another instance, of people,", () => {
  const draft = { name: "Ann", isOperator: false, playerId: null, isDisabled: false };
  const role = { name: "helper", title: "Helper", sections: 1, hide: 0, commands: [], may: 0 };

  async function addPerson(chatId: string | null = null) {
    const { serverId } = await first.servers.create({ name: "One", community: null, serverKey: "a-b" }, NOW);
    const servers = [{ serverId, role: "viewer" }];
    const person = await first.people.create({ ...draft, servers, chatId }, NOW);
    if ("refused" in person) throw new Error(person.refused);
    return { serverId, person };
  }

  function sessionOf(name: string) {
    const [sessionId, secretHash] = [`ses_${name}`, `secret ${name}`];
    return { sessionId, secretHash, isRemembered: true, chatId: null, expiresAt: NOW + 9, description: "" };
  }

  test("knows a new, changed, blocked and deleted person, a changed role, and a server that is gone", async () => {
    const { person, serverId } = await addPerson("8");
    const { personId } = person;
    await second.directory.catchUp();
    expect([second.people.find(personId), second.people.findByChatId("8")]).toEqual([person, person]);
    await first.people.update(personId, { chatId: null, isOperator: true });
    await first.roles.put({ ...role, name: "viewer" });
    await first.roles.put(role);
    await first.blocks.save(`${personId}@${serverId}`, NOW + 1);
    const known = second.keys.version;
    await second.directory.catchUp();
    expect(second.keys.version).not.toBe(known);
    expect(second.people.find(personId)).toMatchObject({ chatId: null, isOperator: true });
    expect(second.people.findByChatId("8")).toBeUndefined();
    expect(second.roles.find("viewer")?.title).toBe("Helper");
    expect(second.roles.find("helper")).toEqual(role);
    expect(second.blocks.find(`${personId}@${serverId}`)).toBe(NOW + 1);
    await first.servers.delete(serverId, NOW);
    await first.roles.delete("helper");
    await second.directory.catchUp();
    expect(second.people.find(personId)?.servers).toEqual([]);
    expect(second.blocks.find(`${personId}@${serverId}`)).toBe(0);
    expect(second.roles.find("helper")).toBeUndefined();
    await first.people.delete(personId);
    await second.directory.catchUp();
    expect([...second.people.all()]).toEqual([]);
  });

  test("learns of the end of a session, by whatever ends it", async () => {
    const { personId } = (await addPerson()).person;
    const ends = [
      () => first.sessions.end(personId, "ses_1", NOW),
      () => first.people.update(personId, { isDisabled: true }),
      () => first.people.delete(personId),
    ];
    for (const [index, end] of ends.entries()) {
      if (index < 2) await first.sessions.add(personId, sessionOf(String(index + 1)), NOW);
      await second.directory.catchUp();
      const known = second.keys.version;
      await end();
      await second.directory.catchUp();
      expect(second.keys.version).not.toBe(known);
      expect(await second.sessions.find(`ses_${index + 1}`, NOW)).toBeUndefined();
    }
  });

  test("reads all people and roles again when it missed too much, and when it distrusts what it knows", async () => {
    const { personId } = (await addPerson("8")).person;
    await first.roles.put(role);
    await second.directory.catchUp();
    await server.ask("UPDATE gatehouse.people SET name = 'Eve', chat_id = '9'", url);
    await server.ask("DELETE FROM gatehouse.roles WHERE name = 'helper'", url);
    second.directory.distrust();
    await second.directory.catchUp();
    expect(second.people.findByChatId("9")).toMatchObject({ personId, name: "Eve" });
    expect(second.people.findByChatId("8")).toBeUndefined();
    expect(second.roles.find("helper")).toBeUndefined();
    await server.ask("DELETE FROM gatehouse.people", url);
    await server.ask("UPDATE gatehouse.directory SET version = version + 20000", url);
    await second.directory.catchUp();
    expect([...second.people.all()]).toEqual([]);
  });

  test("and this one never give a name, a chat id, an invitation or a challenge twice", async () => {
    const both = [first, second];
    const drafts = both.map((store, index) =>
      store.people.create({ ...draft, name: index === 0 ? "ANN" : "ann", servers: [], chatId: null }, NOW),
    );
    const made = await Promise.all(drafts);
    expect(made.filter((one) => "refused" in one)).toEqual([{ refused: "name_taken" }]);
    const personId = made.flatMap((one) => ("personId" in one ? [one.personId] : []))[0] ?? "";
    const others = await Promise.all(
      both.map((store, index) =>
        store.people.create({ ...draft, name: `Other ${index}`, servers: [], chatId: "8" }, NOW),
      ),
    );
    expect(others.filter((one) => "refused" in one)).toEqual([{ refused: "chat_id_taken" }]);
    await first.invitations.add(personId, "invitation", NOW + 1);
    const redeemed = both.map((store, index) => store.invitations.redeem("invitation", sessionOf(`${index}`), NOW));
    expect((await Promise.all(redeemed)).toSorted()).toEqual([false, true]);
    const used = both.map((store) => store.challenges.use("challenge", NOW + 1, NOW));
    expect((await Promise.all(used)).toSorted()).toEqual([false, true]);
  });

  test("and this one may use, end and add sessions of one person at the same time, without a deadlock", async () => {
    const { personId } = (await addPerson()).person;
    for (let round = 0; round < 8; round++) {
      const now = NOW + round * 60_000;
      await first.sessions.add(personId, { ...sessionOf(`${round}`), expiresAt: now + 3_600_000 }, now);
      const uses = [first, second].map((store) =>
        store.sessions.recordUse(`ses_${round}`, now + 60_000, now + 3_600_000),
      );
      await Promise.all([
        ...uses,
        second.people.update(personId, { isDisabled: true }),
        first.people.update(personId, { isDisabled: false }),
        second.sessions.end(personId, undefined, now),
      ]);
    }
    await first.directory.catchUp();
    await first.people.update(personId, { isDisabled: true });
    expect(await second.sessions.list(personId, NOW)).toEqual([]);
  });
});

test("two servers never get one slug, also from two instances at once", async () => {
  const draft = {
    name: "One",
    community: null,
    serverKey: "a-b",
    publicStatus: { slug: "a", showsJoinKey: false },
  };
  const made = await Promise.allSettled([first, second].map((store) => store.servers.create(draft, NOW)));
  expect(made.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(made.find(({ status }) => status === "rejected")).toMatchObject({ reason: expect.any(SlugTaken) });
});

test("while PostgreSQL is away, keys in use are known and others are unavailable; back, all is known again", async () => {
  const key = await addKey("hash-1");
  await addKey("hash-2", key.serverId);
  await first.keys.find("hash-1", NOW);
  await server.kill();
  expect(first.keys.find("hash-1", NOW)).toMatchObject({ keyId: key.keyId });
  await expect(Promise.resolve(first.keys.find("hash-2", NOW))).rejects.toBeInstanceOf(StoreUnavailable);
  await expect(first.keys.revoke(key.keyId, NOW)).rejects.toBeInstanceOf(StoreUnavailable);
  await server.start();
  expect(await first.keys.find("hash-2", NOW)).toBeDefined();
  await first.keys.revoke(key.keyId, NOW);
  expect(await first.keys.find("hash-1", NOW)).toBeUndefined();
});
