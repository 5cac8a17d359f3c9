// The contract of core/ports/people.ts as tests, and what people have to do with servers, blocks, usage, commands and the
// audit log. Every store passes this suite unchanged.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { Value } from "typebox/value";
import { DAY_MS, HOUR_MS } from "../../src/core/durations.ts";
import { NOT_FOUND, StoreUnavailable } from "../../src/core/errors.ts";
import { ALL_ABILITIES, HIDES_JOIN_KEY } from "../../src/core/keys/rights.ts";
import { OPERATOR_AUTHORITY } from "../../src/core/people/authority.ts";
import {
  callerIdOf,
  PASSKEYS_PER_PERSON_MAX,
  PEOPLE_MAX,
  type Person,
  SESSIONS_PER_PERSON_MAX,
} from "../../src/core/people/person.ts";
import { FIRST_ROLES, ROLES_MAX, type Role } from "../../src/core/people/role.ts";
import type { Actor, AuditFilter, AuditNote } from "../../src/core/ports/audit.ts";
import type { Passkey, PersonDraft, SessionDraft } from "../../src/core/ports/people.ts";
import type { Store } from "../../src/core/ports/store.ts";
import { ALL_SECTIONS } from "../../src/core/sections.ts";
import { BlockResource } from "../../src/core/wire/key.ts";
import { liftBlock, listBlocks } from "../../src/gateway/keys/manage-keys.ts";
import type { RefusableStoreHarness } from "./store-contract.ts";

const NOW = 1_800_000_000_000;
const HOUR = NOW - (NOW % HOUR_MS);
const MINUTE_MS = 60_000;
const ACTOR: Actor = { kind: "person", id: "per_boss", name: "Boss", address: "203.0.113.7" };
const NOTE: AuditNote = { at: NOW, action: "person.changed", actor: ACTOR, details: {} };
const HELPER: Role = {
  ...{ name: "helper", title: "Helper", sections: ALL_SECTIONS, hide: HIDES_JOIN_KEY, commands: [":h"], may: 3 },
};

function draftOf(name: string, change: Partial<PersonDraft> = {}): PersonDraft {
  return { name, isOperator: false, servers: [], playerId: null, chatId: null, isDisabled: false, ...change };
}

function sessionOf(name: string | number, expiresAt = NOW + DAY_MS): SessionDraft {
  return {
    ...{ sessionId: `ses_${name}`, secretHash: `secret ${name}`, isRemembered: true, chatId: "77", expiresAt },
    description: "Firefox, Windows",
  };
}

function passkeyOf(name: string | number, personId: string): Passkey {
  return {
    ...{ passkeyId: `psk_${name}`, personId, credentialId: `credential ${name}`, publicKey: "pQ", counter: 1 },
    ...{ transports: ["internal", "hybrid"], label: "Safari, iOS", createdAt: NOW, lastUsedAt: null },
  };
}

export function describePeople(name: string, createHarness: () => Promise<RefusableStoreHarness>): void {
  describe(`${name} fulfils the contract of people`, () => {
    let harness: RefusableStoreHarness;
    let store: Store;

    beforeEach(async () => {
      harness = await createHarness();
      store = await harness.open();
    });
    afterEach(() => harness.dispose());

    async function reopen(): Promise<void> {
      await harness.crash();
      store = await harness.open();
    }

    async function addPerson(personName: string, change: Partial<PersonDraft> = {}): Promise<Person> {
      const person = await store.people.create(draftOf(personName, change), NOW);
      if ("refused" in person) throw new Error(person.refused);
      return person;
    }

    async function addServer(serverName = "One"): Promise<string> {
      return (await store.servers.create({ name: serverName, community: null, serverKey: "a-b" }, NOW)).serverId;
    }

    async function namesOf(filter: { serverId?: string; name?: string } = {}): Promise<string[]> {
      return (await store.people.list({ limit: 99, ...filter }, NOW)).items.map((person) => person.name);
    }

    async function countNotes(): Promise<number> {
      return (await store.audit.list({ limit: 99 })).items.length;
    }

    async function sessionIds(personId: string, now = NOW): Promise<string[]> {
      return (await store.sessions.list(personId, now)).map(({ sessionId }) => sessionId);
    }

    async function hasEnded(session: string | number, now = NOW): Promise<boolean> {
      const { sessionId, secretHash } = sessionOf(session);
      const found = [await store.sessions.find(sessionId, now), await store.sessions.findBySecret(secretHash, now)];
      expect(found[0]).toEqual(found[1]);
      return found[0] === undefined;
    }

    describe("people", () => {
      test("a person is found with all fields at once, by id and chat id, also after a crash", async () => {
        const serverId = await addServer();
        const draft = draftOf("Zoë", {
          ...{ isOperator: true, servers: [{ serverId, role: "head" }], playerId: "7", chatId: "8" },
        });
        const { version } = store.keys;
        const person = await store.people.create(draft, NOW, NOTE);
        if ("refused" in person) throw new Error(person.refused);
        expect(person).toEqual({ ...draft, personId: expect.stringMatching(/^per_[0-9A-Za-z]{20}$/), createdAt: NOW });
        expect(store.keys.version).not.toBe(version);
        for (let round = 0; round < 2; round++) {
          expect(store.people.find(person.personId)).toEqual(person);
          expect(store.people.findByChatId("8")).toEqual(person);
          expect([...store.people.all()]).toEqual([person]);
          await reopen();
        }
        expect(store.people.find("per_none")).toBeUndefined();
        expect(store.people.findByChatId("9")).toBeUndefined();
        const [entry] = (await store.audit.list({ limit: 9 })).items;
        expect(entry).toMatchObject({ target: person.personId, actor: ACTOR });
      });

      test("a name without case and a chat id belong to one person, also when several want them at once", async () => {
        const zoe = await addPerson("Zoë", { chatId: "8" });
        for (const taken of ["zoë", "ZOË", "Zoe\u0308", " Zoë ", "Zo\u200bë", "\u202eZoë"])
          expect(await store.people.create(draftOf(taken), NOW, NOTE)).toEqual({ refused: "name_taken" });
        expect(await store.people.create(draftOf("Ann", { chatId: "8" }), NOW, NOTE)).toEqual({
          refused: "chat_id_taken",
        });
        const made = await Promise.all([1, 2, 3].map(() => store.people.create(draftOf("Ann"), NOW)));
        expect(made.filter((one) => "refused" in one)).toEqual([{ refused: "name_taken" }, { refused: "name_taken" }]);
        const ann = made.find((one) => "personId" in one) as Person;
        expect(await store.people.update(ann.personId, { name: "ZOË" }, NOTE)).toEqual({ refused: "name_taken" });
        expect(await store.people.update(ann.personId, { chatId: "8" }, NOTE)).toEqual({ refused: "chat_id_taken" });
        expect(await countNotes()).toBe(0);
        // Their own are no hindrance, and what somebody gave up is free.
        expect(await store.people.update(zoe.personId, { name: "ZOË", chatId: "9" })).toMatchObject({ name: "ZOË" });
        expect(await store.people.update(ann.personId, { chatId: "8" })).toMatchObject({ chatId: "8" });
        expect(store.people.findByChatId("8")?.name).toBe("Ann");
        await store.people.delete(zoe.personId);
        expect(await store.people.create(draftOf("zoë", { chatId: "9" }), NOW)).toMatchObject({ name: "zoë" });
      });

      test("at most PEOPLE_MAX people are there, and one who leaves makes room", async () => {
        // Changes of people come one after another, and none waits for longer than a query may.
        for (let from = 0; from < PEOPLE_MAX; from += 20)
          await Promise.all(Array.from({ length: 20 }, (_, index) => addPerson(`Person ${from + index}`)));
        expect(await store.people.create(draftOf("One more"), NOW, NOTE)).toEqual({ refused: "full" });
        expect([...store.people.all()]).toHaveLength(PEOPLE_MAX);
        const [first] = store.people.all();
        await store.people.delete(first?.personId ?? "");
        expect(await store.people.create(draftOf("One more"), NOW)).toMatchObject({ name: "One more" });
      });

      test("a change takes effect at once, changes the version of the keys and survives a crash; the rest stays", async () => {
        const [one, two] = [await addServer("One"), await addServer("Two")];
        const { personId } = await addPerson("Ann", { servers: [{ serverId: one, role: "viewer" }], playerId: "7" });
        const { version } = store.keys;
        const servers = [one, two].toSorted().map((serverId) => ({ serverId, role: "head" }));
        const changed = await store.people.update(personId, { servers, isOperator: true }, NOTE);
        expect(changed).toMatchObject({ name: "Ann", servers, isOperator: true, playerId: "7" });
        expect(store.keys.version).not.toBe(version);
        expect(await store.people.update(personId, { playerId: null })).toMatchObject({ servers, playerId: null });
        await reopen();
        expect(store.people.find(personId)).toMatchObject({ servers, isOperator: true, playerId: null });
        expect(await store.people.update("per_none", { name: "x" }, NOTE)).toBeUndefined();
        expect(await countNotes()).toBe(1);
      });

      test("a role on a server that is gone, and a role that is gone, are left out", async () => {
        const [gone, kept] = [await addServer("Gone"), await addServer("Kept")];
        await store.servers.delete(gone, NOW);
        const servers = [
          { serverId: gone, role: "head" },
          { serverId: kept, role: "head" },
        ];
        const { personId } = await addPerson("Ann", { servers });
        expect(store.people.find(personId)?.servers).toEqual([{ serverId: kept, role: "head" }]);
        await store.people.update(personId, { servers: [{ serverId: kept, role: "gone" }] });
        expect(store.people.find(personId)?.servers).toEqual([]);
      });

      test("deleting a server takes its role from everybody, and no other role, also after a crash", async () => {
        const [gone, kept] = [await addServer("Gone"), await addServer("Kept")];
        const servers = [gone, kept].toSorted().map((serverId) => ({ serverId, role: "viewer" }));
        const people = [await addPerson("Ann", { servers }), await addPerson("Bob", { servers })];
        await store.servers.delete(gone, NOW);
        for (let round = 0; round < 2; round++) {
          for (const { personId } of people)
            expect(store.people.find(personId)?.servers).toEqual([{ serverId: kept, role: "viewer" }]);
          expect(await namesOf({ serverId: gone })).toEqual([]);
          await reopen();
        }
      });

      test("a deleted person is gone with sessions, passkeys and invitation, also after a crash", async () => {
        const { personId } = await addPerson("Ann", { chatId: "8" });
        await store.sessions.add(personId, sessionOf(1), NOW);
        await store.passkeys.add(passkeyOf(1, personId), "challenge 1", NOW + 1);
        await store.invitations.add(personId, "invitation", NOW + DAY_MS);
        const { version } = store.keys;
        expect(await store.people.delete(personId, NOTE)).toBe(true);
        expect(store.keys.version).not.toBe(version);
        for (let round = 0; round < 2; round++) {
          expect(store.people.find(personId)).toBeUndefined();
          expect(store.people.findByChatId("8")).toBeUndefined();
          expect(await hasEnded(1)).toBe(true);
          expect(await store.passkeys.findByCredential("credential 1")).toBeUndefined();
          expect(await store.invitations.find("invitation", NOW)).toBeUndefined();
          await reopen();
        }
        expect(await store.people.delete(personId, NOTE)).toBe(false);
        expect(await store.sessions.add(personId, sessionOf(2), NOW, NOTE)).toBe(false);
        expect(await store.invitations.add(personId, "another", NOW + 1, NOTE)).toBe(false);
        expect(await store.passkeys.add(passkeyOf(2, personId), "challenge 2", NOW + 1, NOTE)).toBe("used");
        expect(await countNotes()).toBe(1);
      });

      test("disabling ends sessions and the invitation, and keeps from signing in until it is undone", async () => {
        const { personId } = await addPerson("Ann");
        await store.sessions.add(personId, sessionOf(1), NOW);
        await store.invitations.add(personId, "invitation", NOW + DAY_MS);
        await store.passkeys.add(passkeyOf(1, personId), "challenge 1", NOW + 1);
        await store.people.update(personId, { isDisabled: true });
        expect(await hasEnded(1)).toBe(true);
        expect(await store.invitations.redeem("invitation", sessionOf(2), NOW)).toBe(false);
        expect(await store.sessions.add(personId, sessionOf(3), NOW)).toBe(false);
        const challenge = { value: "challenge 2", expiresAt: NOW + 1 };
        expect(await store.passkeys.signIn("psk_1", 2, challenge, sessionOf(4), NOW)).toBe(false);
        await store.people.update(personId, { isDisabled: false });
        expect(await sessionIds(personId)).toEqual([]);
        expect(await store.invitations.find("invitation", NOW)).toBeUndefined();
        expect(await store.sessions.add(personId, sessionOf(5), NOW)).toBe(true);
      });

      test("who becomes an operator does so without an invitation that somebody else has made, and signed out", async () => {
        const { personId } = await addPerson("Ann");
        await store.invitations.add(personId, "invitation", NOW + DAY_MS);
        await store.sessions.add(personId, sessionOf(1), NOW);
        await store.people.update(personId, { name: "Anna" });
        expect(await store.invitations.find("invitation", NOW)).toBe(personId);
        await store.people.update(personId, { isOperator: true });
        expect(await store.invitations.find("invitation", NOW)).toBeUndefined();
        expect(await sessionIds(personId)).toEqual([]);
        await store.sessions.add(personId, sessionOf(2), NOW);
        await store.people.update(personId, { isOperator: true });
        expect(await sessionIds(personId)).toEqual(["ses_2"]);
      });

      test("a role that is added or raised ends the invitation, one that is lowered or taken does not", async () => {
        const [here, there] = [await addServer(), await addServer()];
        const give = async (roles: readonly (readonly [string, string])[]) => {
          await store.invitations.add(personId, "invitation", NOW + DAY_MS);
          await store.people.update(personId, { servers: roles.map(([serverId, role]) => ({ serverId, role })) });
          return (await store.invitations.find("invitation", NOW)) !== undefined;
        };
        const { personId } = await addPerson("Ann", { servers: [{ serverId: here, role: "trial" }] });
        expect(await give([[here, "viewer"]])).toBe(true);
        expect(await give([[here, "moderator"]])).toBe(false);
        const both = [
          [here, "moderator"],
          [there, "viewer"],
        ] as const;
        expect(await give(both)).toBe(false);
        expect(await give(both)).toBe(true);
        expect(await give([])).toBe(true);
        expect(await sessionIds(personId)).toEqual([]);
      });

      test("nothing is done to a person who is no longer as it was judged", async () => {
        const serverId = await addServer();
        const servers = [{ serverId, role: "viewer" }];
        const judged = await addPerson("Ann", { servers });
        const { personId } = judged;
        for (const now of [{ servers: [{ serverId, role: "head" }] }, { isOperator: true }, { chatId: "99" }]) {
          await store.people.update(personId, { servers, isOperator: false, chatId: null });
          expect(await store.invitations.add(personId, "invitation", NOW + 1, NOTE, judged)).toBe(true);
          await store.people.update(personId, now);
          expect(await store.people.update(personId, { name: "Eve" }, NOTE, judged)).toEqual({ refused: "changed" });
          expect(await store.invitations.add(personId, "another", NOW + 1, NOTE, judged)).toBe(false);
          expect(await store.people.delete(personId, NOTE, judged)).toBe(false);
        }
        expect(await store.invitations.find("another", NOW)).toBeUndefined();
        expect(store.people.find(personId)).toMatchObject({ name: "Ann", chatId: "99" });
        await store.people.update(personId, { servers, chatId: null });
        expect(await store.people.update(personId, { name: "Eve" }, NOTE, judged)).toMatchObject({ name: "Eve" });
        expect(await store.people.delete(personId, NOTE, judged)).toBe(true);
      });

      test("people are listed oldest first, in pages, by server, and by a part of the name without case", async () => {
        const serverId = await addServer();
        const servers = [{ serverId, role: "viewer" }];
        for (const [index, personName] of ["Ärger", "Bob", "bÄRbel", "Ann"].entries())
          await addPerson(personName, index % 2 === 0 ? { servers } : {});
        expect(await namesOf()).toEqual(["Ärger", "Bob", "bÄRbel", "Ann"]);
        expect(await namesOf({ name: "är" })).toEqual(["Ärger", "bÄRbel"]);
        expect(await namesOf({ serverId })).toEqual(["Ärger", "bÄRbel"]);
        expect(await namesOf({ serverId, name: "B" })).toEqual(["bÄRbel"]);
        expect(await namesOf({ name: "%" })).toEqual([]);
        const first = await store.people.list({ limit: 1, name: "b" }, NOW);
        const second = await store.people.list({ limit: 1, name: "b", cursor: first.next ?? "" }, NOW);
        expect([first, second].map(({ items }) => items[0]?.name)).toEqual(["Bob", "bÄRbel"]);
        expect(second.next).toBeNull();
      });

      test("details have the counts of what works now, and when they were last seen", async () => {
        const { personId } = await addPerson("Ann");
        expect(await store.people.findDetails(personId, NOW)).toMatchObject({
          ...{ personId, lastSeenAt: null, passkeys: 0, sessions: 0 },
        });
        await store.sessions.add(personId, sessionOf(1, NOW + 5), NOW);
        await store.sessions.add(personId, sessionOf(2), NOW + 1);
        await store.passkeys.add(passkeyOf(1, personId), "challenge", NOW + 1);
        const details = { lastSeenAt: NOW + 1, passkeys: 1 };
        expect(await store.people.findDetails(personId, NOW + 4)).toMatchObject({ ...details, sessions: 2 });
        expect(await store.people.findDetails(personId, NOW + 5)).toMatchObject({ ...details, sessions: 1 });
        const { items } = await store.people.list({ limit: 9 }, NOW + 5);
        expect(items).toMatchObject([{ personId, ...details, sessions: 1 }]);
        expect(await store.people.findDetails("per_none", NOW)).toBeUndefined();
      });

      test("when the change or its note cannot be written, neither is, and memory stays as it was", async () => {
        const { personId } = await addPerson("Ann");
        await store.sessions.add(personId, sessionOf(1), NOW);
        for (const what of ["notes", "changes"] as const) {
          await harness.refuse(what);
          const changes = [
            store.people.create(draftOf("Bob"), NOW, NOTE),
            store.people.update(personId, { name: "Eve", isDisabled: true }, NOTE),
            store.people.delete(personId, NOTE),
            ...(what === "notes" ? [store.roles.put(HELPER, NOTE)] : []),
            store.sessions.add(personId, sessionOf(2), NOW, NOTE),
            store.sessions.end(personId, undefined, NOW, NOTE),
            store.invitations.add(personId, "invitation", NOW + 1, NOTE),
            store.passkeys.add(passkeyOf(1, personId), "challenge", NOW + 1, NOTE),
          ];
          for (const { reason, status } of (await Promise.allSettled(changes)) as PromiseRejectedResult[])
            expect([status, reason]).toEqual(["rejected", expect.any(StoreUnavailable)]);
          await harness.allow();
        }
        for (let round = 0; round < 2; round++) {
          expect([...store.people.all()].map((person) => person.name)).toEqual(["Ann"]);
          expect(store.roles.find("helper")).toBeUndefined();
          expect(await sessionIds(personId)).toEqual(["ses_1"]);
          expect(await store.passkeys.list(personId)).toEqual([]);
          expect(await countNotes()).toBe(0);
          await reopen();
        }
        expect(await store.passkeys.add(passkeyOf(1, personId), "challenge", NOW + 1)).toBe("done");
      });
    });

    describe("roles", () => {
      test("five are there at first, in their order", () => {
        expect(store.roles.all()).toEqual(FIRST_ROLES);
        expect(store.roles.find("manager")).toEqual(FIRST_ROLES[4]);
        expect(store.roles.find("helper")).toBeUndefined();
      });

      test("a changed one stays changed and a new one is there, at once and after a crash", async () => {
        const viewer = { ...HELPER, name: "viewer", commands: ['"', "*"], may: ALL_ABILITIES };
        const { version } = store.keys;
        for (const role of [{ ...HELPER, name: "zz" }, HELPER, viewer])
          expect(await store.roles.put(role, NOTE)).toBe("done");
        expect(store.keys.version).not.toBe(version);
        for (let round = 0; round < 2; round++) {
          expect(store.roles.find("viewer")).toEqual(viewer);
          expect(
            store.roles
              .all()
              .slice(1)
              .map((role) => role.name),
          ).toEqual([...["trial", "moderator", "head", "manager", "helper", "zz"]]);
          await reopen();
        }
        const { items } = await store.audit.list({ limit: 9 });
        expect(items.map(({ target }) => target)).toEqual(["role_viewer", "role_helper", "role_zz"]);
      });

      test("at most ROLES_MAX are there; those can be changed, and one that goes makes room", async () => {
        for (let index = FIRST_ROLES.length; index < ROLES_MAX; index++)
          expect(await store.roles.put({ ...HELPER, name: `role-${index}` })).toBe("done");
        expect(await store.roles.put({ ...HELPER, name: "one-more" }, NOTE)).toBe("full");
        expect(await store.roles.put({ ...HELPER, name: "role-7", title: "Seven" })).toBe("done");
        expect(await store.roles.delete("role-8")).toBe("done");
        expect(await store.roles.put({ ...HELPER, name: "one-more" })).toBe("done");
        expect(await countNotes()).toBe(0);
      });

      test("one that somebody has stays, and others can be deleted", async () => {
        const serverId = await addServer();
        await store.roles.put(HELPER);
        const { personId } = await addPerson("Ann", { servers: [{ serverId, role: "helper" }] });
        expect(await store.roles.delete("helper", NOTE)).toBe("used");
        expect(await store.roles.delete("nothing", NOTE)).toBe("unknown");
        expect(await countNotes()).toBe(0);
        await store.people.update(personId, { servers: [] });
        expect(await store.roles.delete("helper", NOTE)).toBe("done");
        expect(store.roles.find("helper")).toBeUndefined();
        await reopen();
        expect(store.roles.all()).toEqual(FIRST_ROLES);
      });

      test("a role that is given and deleted at once is either there or given to nobody", async () => {
        const serverId = await addServer();
        await store.roles.put(HELPER);
        const [person, deleted] = await Promise.all([
          addPerson("Ann", { servers: [{ serverId, role: "helper" }] }),
          store.roles.delete("helper"),
        ]);
        const servers = store.people.find(person.personId)?.servers ?? [];
        expect([deleted, servers.length]).toEqual(deleted === "used" ? ["used", 1] : ["done", 0]);
      });
    });

    describe("sessions", () => {
      let personId: string;
      beforeEach(async () => {
        ({ personId } = await addPerson("Ann"));
      });

      test("a session is found by its id and its secret, and is listed, also after a crash", async () => {
        expect(await store.sessions.add(personId, sessionOf(1), NOW, NOTE)).toBe(true);
        const { secretHash, ...shown } = sessionOf(1);
        for (let round = 0; round < 2; round++) {
          const found = await store.sessions.find("ses_1", NOW);
          expect(found).toEqual({ ...shown, personId, createdAt: NOW, lastUsedAt: NOW });
          expect(await store.sessions.findBySecret(secretHash, NOW)).toEqual(found);
          expect(await store.sessions.list(personId, NOW)).toEqual(found ? [found] : []);
          await reopen();
        }
        expect(await store.sessions.find("ses_2", NOW)).toBeUndefined();
        expect(await store.sessions.findBySecret("ses_1", NOW)).toBeUndefined();
      });

      test("it ends at its expiry, to the millisecond, and a use of then does not bring it back", async () => {
        await store.sessions.add(personId, sessionOf(1, NOW + DAY_MS), NOW);
        expect([await hasEnded(1, NOW + DAY_MS - 1), await hasEnded(1, NOW + DAY_MS)]).toEqual([false, true]);
        await store.sessions.recordUse("ses_1", NOW + DAY_MS, NOW + 9 * DAY_MS);
        expect(await hasEnded(1, NOW + DAY_MS)).toBe(true);
      });

      test("a use moves its end and is seen with the person, at most once a minute", async () => {
        await store.sessions.add(personId, sessionOf(1), NOW);
        await store.sessions.recordUse("ses_1", NOW + MINUTE_MS - 1, NOW + 5 * DAY_MS);
        expect(await store.sessions.find("ses_1", NOW)).toMatchObject({ lastUsedAt: NOW, expiresAt: NOW + DAY_MS });
        const later = NOW + MINUTE_MS;
        await store.sessions.recordUse("ses_1", later, NOW + 5 * DAY_MS);
        await store.sessions.recordUse("ses_none", later, NOW + 5 * DAY_MS);
        await reopen();
        expect(await store.sessions.find("ses_1", NOW)).toMatchObject({
          ...{ lastUsedAt: later, expiresAt: NOW + 5 * DAY_MS },
        });
        expect((await store.people.findDetails(personId, NOW))?.lastSeenAt).toBe(later);
      });

      test("one that is ended is gone at once, changes the version of the keys, and leaves one note; others stay", async () => {
        const other = (await addPerson("Bob")).personId;
        for (const each of [1, 2, 3]) await store.sessions.add(personId, sessionOf(each), NOW);
        await store.sessions.add(other, sessionOf(4), NOW);
        expect(await store.sessions.end(other, "ses_1", NOW, NOTE)).toBe(0);
        const { version } = store.keys;
        const ends = [1, 2, 3].map(() => store.sessions.end(personId, "ses_1", NOW, NOTE));
        expect((await Promise.all(ends)).toSorted()).toEqual([0, 0, 1]);
        expect(store.keys.version).not.toBe(version);
        await reopen();
        expect([await hasEnded(1), await hasEnded(2)]).toEqual([true, false]);
        expect(await store.sessions.end(personId, undefined, NOW, NOTE)).toBe(2);
        expect(await store.sessions.end(personId, undefined, NOW, NOTE)).toBe(0);
        expect(await sessionIds(other)).toEqual(["ses_4"]);
        expect(await countNotes()).toBe(2);
      });

      test("one more than SESSIONS_PER_PERSON_MAX ends the least recently used; expired ones do not count", async () => {
        await store.sessions.add(personId, sessionOf("short", NOW + 1), NOW);
        for (let each = 0; each < SESSIONS_PER_PERSON_MAX; each++)
          await store.sessions.add(personId, sessionOf(each), NOW + 1 + each);
        const later = NOW + HOUR_MS;
        await store.sessions.recordUse("ses_0", later, NOW + DAY_MS);
        await store.sessions.add(personId, sessionOf("new"), later + 1);
        const ids = await sessionIds(personId, later + 1);
        expect(ids).toHaveLength(SESSIONS_PER_PERSON_MAX);
        expect(ids.slice(0, 3)).toEqual(["ses_new", "ses_0", `ses_${SESSIONS_PER_PERSON_MAX - 1}`]);
        expect(await hasEnded(1, later)).toBe(true);
      });

      test("one that is added while its person is deleted or disabled does not stay", async () => {
        await Promise.all([
          store.sessions.add(personId, sessionOf(1), NOW),
          store.people.update(personId, { isDisabled: true }),
          store.sessions.add(personId, sessionOf(2), NOW),
        ]);
        expect([await hasEnded(1), await hasEnded(2)]).toEqual([true, true]);
      });

      test("uses and ends of many sessions at once all succeed", async () => {
        for (let each = 0; each < 6; each++) await store.sessions.add(personId, sessionOf(each), NOW);
        const works: Promise<unknown>[] = [];
        for (let each = 0; each < 6; each++)
          works.push(store.sessions.recordUse(`ses_${each}`, NOW + MINUTE_MS, NOW + DAY_MS));
        works.push(store.people.update(personId, { isDisabled: true }), store.people.delete(personId));
        await Promise.all(works);
        expect(await sessionIds(personId)).toEqual([]);
      });
    });

    describe("invitations", () => {
      let personId: string;
      beforeEach(async () => {
        ({ personId } = await addPerson("Ann"));
      });

      test("one signs in once, also when several redeem it at once, and after a crash", async () => {
        expect(await store.invitations.add(personId, "one", NOW + 5, NOTE)).toBe(true);
        await reopen();
        expect(await store.invitations.find("one", NOW)).toBe(personId);
        const redeemed = [1, 2, 3].map((each) => store.invitations.redeem("one", sessionOf(each), NOW, NOTE));
        expect((await Promise.all(redeemed)).toSorted()).toEqual([false, false, true]);
        expect(await sessionIds(personId)).toHaveLength(1);
        expect(await store.invitations.find("one", NOW)).toBeUndefined();
        await reopen();
        expect(await store.invitations.redeem("one", sessionOf(4), NOW)).toBe(false);
        expect(await countNotes()).toBe(2);
      });

      test("a new one ends the old one, and each ends at its time", async () => {
        const other = (await addPerson("Bob")).personId;
        await store.invitations.add(personId, "one", NOW + 5);
        await store.invitations.add(other, "other", NOW + 5);
        await store.invitations.add(personId, "two", NOW + 5);
        expect(await store.invitations.find("one", NOW)).toBeUndefined();
        expect(await store.invitations.redeem("one", sessionOf(1), NOW)).toBe(false);
        expect([await store.invitations.find("two", NOW + 4), await store.invitations.find("two", NOW + 5)]).toEqual([
          personId,
          undefined,
        ]);
        expect(await store.invitations.redeem("two", sessionOf(1), NOW + 5)).toBe(false);
        expect(await store.invitations.find("other", NOW)).toBe(other);
      });
    });

    describe("passkeys", () => {
      let personId: string;
      beforeEach(async () => {
        ({ personId } = await addPerson("Ann"));
      });

      test("one is found by its credential with all fields, and listed, also after a crash", async () => {
        const passkey = { ...passkeyOf(1, personId), counter: 2 ** 32 - 1 };
        expect(await store.passkeys.add(passkey, "challenge", NOW + 1, NOTE)).toBe("done");
        await reopen();
        expect(await store.passkeys.findByCredential("credential 1")).toEqual(passkey);
        expect(await store.passkeys.list(personId)).toEqual([passkey]);
        expect(await store.passkeys.findByCredential("psk_1")).toBeUndefined();
      });

      test("a credential is one person's, a challenge counts once, and a person has at most PASSKEYS_PER_PERSON_MAX", async () => {
        const other = (await addPerson("Bob")).personId;
        const add = (passkey: Passkey, challenge: string) => store.passkeys.add(passkey, challenge, NOW + 1, NOTE);
        expect(await add(passkeyOf(1, personId), "a")).toBe("done");
        expect(await add(passkeyOf(2, personId), "a")).toBe("used");
        expect(await add({ ...passkeyOf(3, other), credentialId: "credential 1" }, "b")).toBe("taken");
        for (let each = 1; each < PASSKEYS_PER_PERSON_MAX; each++)
          expect(await add(passkeyOf(`more ${each}`, personId), `c ${each}`)).toBe("done");
        expect(await add(passkeyOf(4, personId), "d")).toBe("full");
        expect(await add(passkeyOf(4, other), "e")).toBe("done");
        expect(await countNotes()).toBe(PASSKEYS_PER_PERSON_MAX + 1);
      });

      test("a sign-in stores the counter and adds the session, once for a challenge, also of several at once", async () => {
        await store.passkeys.add(passkeyOf(1, personId), "a", NOW + 1);
        const challenge = { value: "b", expiresAt: NOW + DAY_MS };
        const signIns = [1, 2, 3].map((each) =>
          store.passkeys.signIn("psk_1", 5, challenge, sessionOf(each), NOW + 2, NOTE),
        );
        expect((await Promise.all(signIns)).toSorted()).toEqual([false, false, true]);
        await reopen();
        expect(await store.passkeys.list(personId)).toMatchObject([{ counter: 5, lastUsedAt: NOW + 2 }]);
        expect(await sessionIds(personId)).toHaveLength(1);
        expect(await store.challenges.use("b", NOW + DAY_MS, NOW)).toBe(false);
        expect(await store.passkeys.signIn("psk_2", 5, { ...challenge, value: "c" }, sessionOf(4), NOW)).toBe(false);
        expect(await countNotes()).toBe(1);
      });

      test("one or all of a person are ended, and sign nobody in any more", async () => {
        const other = (await addPerson("Bob")).personId;
        for (const each of [1, 2, 3]) await store.passkeys.add(passkeyOf(each, personId), `a ${each}`, NOW + 1);
        await store.passkeys.add(passkeyOf(4, other), "a 4", NOW + 1);
        expect(await store.passkeys.delete(other, "psk_1", NOTE)).toBe(0);
        expect(await store.passkeys.delete(personId, "psk_1", NOTE)).toBe(1);
        const challenge = { value: "b", expiresAt: NOW + 1 };
        expect(await store.passkeys.signIn("psk_1", 5, challenge, sessionOf(1), NOW)).toBe(false);
        expect(await store.passkeys.delete(personId, undefined, NOTE)).toBe(2);
        expect(await store.passkeys.delete(personId, undefined, NOTE)).toBe(0);
        expect(await store.passkeys.list(other)).toHaveLength(1);
        expect(await countNotes()).toBe(2);
      });
    });

    test("a challenge is used once, by one of several at once, never after its end, also after a crash", async () => {
      const uses = [1, 2, 3].map(() => store.challenges.use("a", NOW + 5, NOW));
      expect((await Promise.all(uses)).toSorted()).toEqual([false, false, true]);
      await reopen();
      expect(await store.challenges.use("a", NOW + 5, NOW)).toBe(false);
      expect([await store.challenges.isUsed("a"), await store.challenges.isUsed("b")]).toEqual([true, false]);
      expect(await store.challenges.use("b", NOW + 5, NOW + 5)).toBe(false);
      expect(await store.challenges.use("b", NOW + 5, NOW + 4)).toBe(true);
    });

    test("tidying deletes what has expired, and nothing that still counts", async () => {
      const { personId } = await addPerson("Ann");
      const other = (await addPerson("Bob")).personId;
      await store.sessions.add(personId, sessionOf("old", NOW + 5), NOW);
      await store.sessions.add(personId, sessionOf("new", NOW + 6), NOW);
      await store.invitations.add(personId, "old", NOW + 5);
      await store.invitations.add(other, "new", NOW + 6);
      await store.challenges.use("old", NOW + 5, NOW);
      await store.challenges.use("new", NOW + 6, NOW);
      await store.tidy({ now: NOW + 5, usage: 0, audit: 0, commands: 0 });
      // Asked about the past, what is there would be found.
      expect(await sessionIds(personId, NOW)).toEqual(["ses_new"]);
      expect(await store.invitations.find("old", NOW)).toBeUndefined();
      expect(await store.invitations.find("new", NOW)).toBe(other);
      expect([
        await store.challenges.use("old", NOW + 5, NOW),
        await store.challenges.use("new", NOW + 6, NOW),
      ]).toEqual([true, false]);
      expect([...store.people.all()]).toHaveLength(2);
    });

    describe("a person on a server", () => {
      let serverId: string;
      let personId: string;
      let callerId: string;
      beforeEach(async () => {
        serverId = await addServer();
        ({ personId } = await addPerson("Ann"));
        callerId = callerIdOf(personId, serverId);
      });

      const usage = (keyId: string) => ({ keyId, hour: HOUR, lastUsedAt: NOW, counts: new Map([[0, 3]]) });

      async function block(keyId: string, of: string): Promise<void> {
        for (let request = 0; request < 520; request++) await store.limits.judge({ keyId, serverId: of }, NOW, true);
      }

      const listBlocked = async () => (await store.limits.listBlocks(NOW)).map(({ keyId }) => keyId);

      test("is blocked like a key, also after a crash, until the block is lifted", async () => {
        await block(callerId, serverId);
        await reopen();
        expect(await listBlocked()).toEqual([callerId]);
        await store.limits.liftBlock(callerId, NOW, NOTE);
        expect(await listBlocked()).toEqual([]);
        await reopen();
        expect(await listBlocked()).toEqual([]);
      });

      test("is counted; who does not exist is not", async () => {
        const unknown = [callerIdOf("per_none", serverId), callerIdOf(personId, "srv_none"), personId];
        await store.usage.add([callerId, ...unknown].map(usage));
        await store.usage.add([usage(callerId)]);
        expect(await store.usage.read(callerId, HOUR)).toEqual([{ hour: HOUR, code: 0, count: 6 }]);
        for (const id of unknown) expect(await store.usage.read(id, HOUR)).toEqual([]);
      });

      test.each([
        ["person", () => store.people.delete(personId)],
        ["server", () => store.servers.delete(serverId, NOW)],
      ])("loses block and usage when the %s is deleted; others keep theirs", async (what, remove) => {
        const other = what === "person" ? (await addPerson("Bob")).personId : personId;
        const kept = callerIdOf(other, what === "person" ? serverId : await addServer("Two"));
        for (const id of [callerId, kept]) await block(id, serverId);
        await store.usage.add([callerId, kept].map(usage));
        await remove();
        await reopen();
        expect(await listBlocked()).toEqual([kept]);
        expect(await store.usage.read(callerId, HOUR)).toEqual([]);
        expect(await store.usage.read(kept, HOUR)).toHaveLength(1);
        await block(callerId, serverId);
        await reopen();
        expect(await listBlocked()).toEqual([kept]);
      });

      test("is named among the blocks, which an operator lifts", async () => {
        await block(callerId, serverId);
        const act = { actor: ACTOR, authority: OPERATOR_AUTHORITY, now: NOW };
        const { items } = await listBlocks(store, { limit: 9 }, act);
        expect(items).toMatchObject([{ key_id: callerId, server_id: serverId, label: "Ann" }]);
        expect(Value.Check(BlockResource, items[0])).toBe(true);
        const deps = { store, randomBytes };
        expect(await liftBlock(deps, callerIdOf("per_none", serverId), act)).toBe(NOT_FOUND);
        expect(await liftBlock(deps, callerId, act)).toBeUndefined();
        expect((await listBlocks(store, { limit: 9 }, act)).items).toEqual([]);
        expect((await store.audit.list({ limit: 9, serverIds: [serverId] })).items).toMatchObject([
          { action: "block.lifted", target: callerId },
        ]);
      });

      test("has its name among the labels", async () => {
        const labels = await store.keys.listLabels([callerId, callerIdOf("per_none", serverId), "key_none"]);
        expect([...labels]).toEqual([[callerId, "Ann"]]);
      });

      test("is the sender of a command, under the name of that time", async () => {
        const sentBy = { kind: "person", id: personId, name: "Ann" } as const;
        const draft = { serverId, keyId: callerId, text: ":h Hi", idempotencyKey: undefined };
        const accepted = await store.commands.accept({ ...draft, sentBy }, NOW);
        const old = await store.commands.accept(draft, NOW);
        if (!("receipt" in accepted) || !("receipt" in old)) throw new Error("declined");
        await store.people.update(personId, { name: "Eve" });
        await store.people.delete(personId);
        await reopen();
        expect(await store.commands.find(accepted.receipt.commandId)).toMatchObject({ sentBy, keyId: callerId });
        const { items } = await store.commands.list({ limit: 9 });
        expect(items.map((command) => command.sentBy)).toEqual([{ kind: "key", id: callerId, name: "" }, sentBy]);
        expect(await store.commands.claim(serverId, NOW, 1)).toMatchObject({ command: { sentBy } });
      });
    });

    test("whether a server's owners sign in by themselves is kept, and is false unless it is told otherwise", async () => {
      const serverId = await addServer();
      expect(store.servers.find(serverId)?.ownersSignIn).toBe(false);
      await store.servers.update(serverId, { ownersSignIn: true });
      await store.servers.update(serverId, { name: "Renamed" });
      await reopen();
      expect(store.servers.find(serverId)).toMatchObject({ name: "Renamed", ownersSignIn: true });
    });

    describe("the audit log is filtered", () => {
      const ann: Actor = { kind: "person", id: "per_ann", name: "Änn Master", address: "" };
      const master: Actor = { kind: "master", id: "0123abcd", name: "master key", address: "" };
      const notes: [target: string, note: AuditNote][] = [
        ["key_1", { at: NOW, action: "key.created", actor: master, details: { after: { label: 'The "Ä" bot' } } }],
        ["srv_1", { at: NOW + 1, action: "server.changed", actor: ann, details: {}, serverId: "srv_1" }],
        ["key_2", { at: NOW + 2, action: "key.revoked", actor: ann, details: {}, serverId: "srv_2" }],
        ["key_1", { at: NOW + 1, action: "key.changed", actor: master, details: { before: { n: 100 } } }],
      ];

      beforeEach(async () => {
        for (const [target, note] of notes) await store.audit.add(target, note);
      });

      const CASES: readonly [AuditFilter, expected: string[]][] = [
        [{}, ["key.changed", "key.revoked", "server.changed", "key.created"]],
        [{ actor: "per_ann" }, ["key.revoked", "server.changed"]],
        [{ actor: "änn" }, ["key.revoked", "server.changed"]],
        [{ actor: "master" }, ["key.changed", "key.created"]],
        [{ actor: "0123abcd" }, ["key.changed", "key.created"]],
        [{ actor: "0123" }, []],
        [{ action: "key.revoked" }, ["key.revoked"]],
        [{ action: "key" }, []],
        [{ target: "key_1" }, ["key.changed", "key.created"]],
        [{ from: NOW + 1 }, ["key.changed", "key.revoked", "server.changed"]],
        [{ from: NOW + 1, to: NOW + 2 }, ["key.changed", "server.changed"]],
        [{ query: "CHANGED" }, ["key.changed", "server.changed"]],
        [{ query: 'the "ä' }, ["key.created"]],
        [{ query: "100" }, ["key.changed"]],
        [{ query: "KEY_1" }, ["key.changed", "key.created"]],
        [{ query: "after" }, []],
        [{ query: "%" }, []],
        [{ serverIds: ["srv_1", "srv_2"] }, ["key.revoked", "server.changed"]],
        [{ serverIds: ["srv_2"], actor: "per_ann", query: "key" }, ["key.revoked"]],
        [{ serverIds: [] }, []],
      ];

      test("by who, what and when, in pages without gaps and repeats", async () => {
        for (const [filter, expected] of CASES)
          for (const limit of [1, 2, 9]) expect([filter, await readActions(limit, filter)]).toEqual([filter, expected]);
      });

      async function readActions(limit: number, filter: AuditFilter): Promise<string[]> {
        const actions: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await store.audit.list({ limit, cursor, ...filter });
          expect(page.items.length).toBeLessThanOrEqual(limit);
          actions.push(...page.items.map(({ action }) => action));
          cursor = page.next ?? undefined;
        } while (cursor !== undefined);
        return actions;
      }

      test("and an entry knows its server, if it is about one", async () => {
        const { items } = await store.audit.list({ limit: 2, target: "srv_1" });
        expect(items).toMatchObject([{ serverId: "srv_1" }]);
        const [entry] = (await store.audit.list({ limit: 1 })).items;
        expect(entry && "serverId" in entry).toBe(false);
      });
    });
  });
}
