// Random changes of roles, people and servers, and between them random requests of people: for the admin API and for servers.
// Whatever happens, a request is answered if and only if the role of that moment allows it, and changes what it says and nothing
// else. An open stream ends when its reader may see less than it shows.
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { ABILITIES } from "../../src/core/keys/rights.ts";
import { MemoryArchive } from "../event-archive.ts";
import { type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { addSignedIn, findToken, type Outcome, type SignedInPerson, sendAs, signIn } from "../journeys/person.ts";
import { repeat } from "../long.ts";
import { type PostgresServer, startPostgres, stopPostgresServers } from "../postgres-server.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { SseReader } from "../stream-reader.ts";

const SECTION_NAMES = ["Players", "Queue", "Staff"];
const COMMAND_NAMES = [":h", ":m", "*"];
const FIELDS = ["JoinKey", "Location"];
const ROLE_NAMES = ["model-a", "model-b", "model-c"];
const PEOPLE = 3;
const SERVERS = 2;

type Rights = { sections: string[]; hide: string[]; commands: string[]; may: string[] };
const EVERYTHING: Rights = { sections: SECTION_NAMES, hide: [], commands: ["*"], may: [...ABILITIES] };
const NOTHING: Rights = { sections: [], hide: [], commands: [], may: [] };

type ModelPerson = { signedIn: SignedInPerson; name: string; isOperator: boolean; roles: Map<string, string> };
type ModelStream = { reader: SseReader; signedIn: SignedInPerson; serverId: string; rights: Rights };
type ModelKey = { keyId: string; serverId: string; rights: Rights };

const rights = fc.record({
  sections: fc.subarray(SECTION_NAMES),
  hide: fc.subarray(FIELDS),
  commands: fc.subarray(COMMAND_NAMES),
  may: fc.subarray([...ABILITIES], { minLength: 2 }),
});
/** Few, so that being within is not rare. */
const keyRights = fc.record({
  sections: fc.subarray(SECTION_NAMES, { maxLength: 1 }),
  hide: fc.constantFrom(FIELDS, ["JoinKey"], []),
  commands: fc.subarray(COMMAND_NAMES, { maxLength: 1 }),
});
const role = fc.constantFrom(...ROLE_NAMES);
const person = fc.nat(PEOPLE - 1);
const server = fc.nat(SERVERS - 1);
const change = fc.oneof(
  fc.record({ kind: fc.constant("role" as const), role, rights }),
  fc.record({ kind: fc.constant("give" as const), person, server, role: fc.option(role) }),
  fc.record({ kind: fc.constant("operator" as const), person, isOperator: fc.boolean() }),
  fc.record({ kind: fc.constant("replace" as const), server }),
);
const request = fc.oneof(
  fc.record({ kind: fc.constant("makeKey" as const), by: person, server, rights: keyRights }),
  fc.record({ kind: fc.constant("changeKey" as const), by: person, pick: fc.nat(9), rights: keyRights }),
  fc.record({ kind: fc.constant("revokeKey" as const), by: person, pick: fc.nat(9) }),
  fc.record({ kind: fc.constant("setRole" as const), by: person, person, server, role: fc.option(role) }),
  fc.record({ kind: fc.constant("makePerson" as const), by: person, server, role, isOperator: fc.nat(5) }),
  fc.record({
    kind: fc.constant("whole" as const),
    by: person,
    person,
    what: fc.constantFrom("rename", "invite", "look"),
  }),
  fc.record({
    kind: fc.constant("server" as const),
    by: person,
    server,
    field: fc.constantFrom("name", "watch", "server_key", "owners_sign_in"),
  }),
  fc.record({ kind: fc.constant("lists" as const), by: person }),
  fc.record({ kind: fc.constant("read" as const), by: person, server, section: fc.constantFrom(...SECTION_NAMES) }),
  fc.record({ kind: fc.constant("send" as const), by: person, server, command: fc.constantFrom(":h", ":m", ":kick") }),
);
const steps = fc.array(fc.oneof({ arbitrary: change, weight: 1 }, { arbitrary: request, weight: 3 }), {
  minLength: 20,
  maxLength: 40,
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
type Request = typeof request extends fc.Arbitrary<infer T> ? T : never;

function isSubset(some: readonly string[], of: readonly string[]): boolean {
  return some.every((one) => of.includes(one));
}

function isWithin(inner: Rights, outer: Rights): boolean {
  return (
    isSubset(inner.sections, outer.sections) &&
    isSubset(inner.may, outer.may) &&
    isSubset(outer.hide, inner.hide) &&
    (outer.commands.includes("*") || isSubset(inner.commands, outer.commands))
  );
}

function ofKey(given: Omit<Rights, "may">): Rights {
  return { ...given, may: given.commands.length > 0 ? ["claim", "notes"] : [] };
}

/** What is there, by the contract. */
class Model {
  readonly roles = new Map<string, Rights>();
  servers: string[] = [];
  people: ModelPerson[] = [];
  keys: ModelKey[] = [];

  rightsOf({ isOperator, roles }: ModelPerson, serverId: string): Rights | undefined {
    if (isOperator) return EVERYTHING;
    const name = roles.get(serverId);
    return name === undefined ? undefined : this.roles.get(name);
  }

  may(who: ModelPerson, serverId: string, ability: string): boolean {
    return this.rightsOf(who, serverId)?.may.includes(ability) ?? false;
  }

  /** Whether somebody may give or take this role there. */
  mayGive(who: ModelPerson, serverId: string, name: string): boolean {
    const own = this.rightsOf(who, serverId) ?? NOTHING;
    return this.may(who, serverId, "people") && isWithin(this.roles.get(name) ?? EVERYTHING, own);
  }

  sees(who: ModelPerson, other: ModelPerson): boolean {
    return who.isOperator || [...other.roles.keys()].some((serverId) => this.may(who, serverId, "people"));
  }

  /** Whether somebody may do everything with the other. */
  owns(who: ModelPerson, other: ModelPerson): boolean {
    if (who.isOperator) return true;
    const isAllOwn = [...other.roles].every(([serverId, name]) => this.mayGive(who, serverId, name));
    return this.sees(who, other) && !other.isOperator && isAllOwn;
  }

  mayTouch(who: ModelPerson, { serverId, rights: present }: ModelKey): boolean {
    const own = this.rightsOf(who, serverId);
    return own !== undefined && this.may(who, serverId, "keys") && isWithin(present, own);
  }
}

class Run {
  readonly model = new Model();
  allowed = 0;
  refused = 0;
  ended = 0;
  /** The open stream of the person who has one. */
  readonly #streams = new Map<ModelPerson, ModelStream>();
  #count = 0;

  constructor(
    readonly gatehouse: TestGatehouse,
    readonly number: number,
  ) {}

  async begin(): Promise<void> {
    for (const name of ROLE_NAMES) await this.#putRole(name, { ...EVERYTHING, may: ["people", "keys", "status"] });
    for (let index = 0; index < SERVERS; index++) this.model.servers.push(await this.#addServer());
    for (let index = 0; index < PEOPLE; index++) {
      const name = this.#name("Person");
      const roles = new Map(this.model.servers.slice(0, index).map((serverId) => [serverId, "model-a"]));
      const servers = this.#toBody(roles);
      const signedIn = await addSignedIn(this.gatehouse, { name, servers, is_operator: true });
      await this.#admin("PATCH", `/admin/people/${signedIn.personId}`, { is_operator: false });
      this.model.people.push({ signedIn, name, isOperator: false, roles });
    }
  }

  /** Ends only the streams that show more than their reader may see now, and opens others. */
  async checkStreams(): Promise<void> {
    const { model } = this;
    // Of one person: each stream costs as much as some steps do.
    for (const who of model.people.slice(-1)) {
      const stream = this.#streams.get(who);
      if (stream && mustEnd(stream, who, model)) {
        this.gatehouse.clock.advance(1_000);
        while (await stream.reader.next());
        this.#streams.delete(who);
        this.ended++;
      }
      if (!this.#streams.has(who)) await this.#openStream(who);
    }
  }

  async #openStream(who: ModelPerson): Promise<void> {
    for (const serverId of this.model.servers) {
      const rights = this.model.rightsOf(who, serverId);
      if (!rights) continue;
      const token = await findToken(who.signedIn.browser, serverId);
      const reader = new SseReader(await this.gatehouse.get("/v2/game/server/events/stream", token));
      expect((await reader.next())?.event).toBe("hello");
      return void this.#streams.set(who, { reader, signedIn: who.signedIn, serverId, rights });
    }
  }

  async closeStreams(): Promise<void> {
    for (const { reader } of this.#streams.values()) await reader.cancel();
  }

  #name(what: string): string {
    return `${what} ${this.number}-${++this.#count}`;
  }

  #toBody(roles: ReadonlyMap<string, string>) {
    return Array.from(roles, ([server_id, name]) => ({ server_id, role: name }));
  }

  async #admin(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const answer = await this.gatehouse.admin(method, path, body);
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.status === 204 ? {} : ((await answer.json()) as Record<string, unknown>);
  }

  async #putRole(name: string, given: Rights): Promise<void> {
    await this.#admin("PUT", `/admin/roles/${name}`, { title: name, ...given });
    this.model.roles.set(name, given);
  }

  async #addServer(): Promise<string> {
    const server_key = `model-Key${this.number}x${++this.#count}`;
    return String((await this.#admin("POST", "/admin/servers", { name: this.#name("Town"), server_key })).server_id);
  }

  /** By the master key: always done. */
  async change(step: Change): Promise<void> {
    const { model } = this;
    if (step.kind === "role") return this.#putRole(step.role, step.rights);
    if (step.kind === "replace") {
      const old = model.servers[step.server] ?? "";
      await this.#admin("DELETE", `/admin/servers/${old}`);
      for (const { roles } of model.people) roles.delete(old);
      model.keys = model.keys.filter(({ serverId }) => serverId !== old);
      model.servers[step.server] = await this.#addServer();
      return;
    }
    const target = this.#person(step.person);
    const path = `/admin/people/${target.signedIn.personId}`;
    if (step.kind === "operator") {
      await this.#admin("PATCH", path, { is_operator: step.isOperator });
      // Becoming an operator ends the sessions.
      if (step.isOperator && !target.isOperator)
        target.signedIn = await signIn(this.gatehouse, target.signedIn.personId);
      target.isOperator = step.isOperator;
      return;
    }
    setRole(target.roles, model.servers[step.server] ?? "", step.role);
    await this.#admin("PATCH", path, { servers: this.#toBody(target.roles) });
  }

  /** By a person: done if and only if the model says so. */
  async request(step: Request): Promise<void> {
    const who = this.#person(step.by);
    switch (step.kind) {
      case "makeKey":
        return this.#makeKey(who, this.#server(step.server), ofKey(step.rights));
      case "changeKey":
      case "revokeKey":
        return this.#touchKey(who, step);
      case "setRole":
        return this.#setRole(who, this.#person(step.person), this.#server(step.server), step.role);
      case "makePerson":
        return this.#makePerson(who, this.#server(step.server), step.role, step.isOperator === 0);
      case "whole":
        return this.#touchPerson(who, this.#person(step.person), step.what);
      case "server":
        return this.#changeServer(who, this.#server(step.server), step.field);
      case "lists":
        return this.#readLists(who);
      case "read":
      case "send":
        return this.#callServer(who, this.#server(step.server), step);
    }
  }

  #person(index: number): ModelPerson {
    const found = this.model.people[index];
    if (!found) throw new Error("there is no such person");
    return found;
  }

  #server(index: number): string {
    return this.model.servers[index] ?? "";
  }

  /** What came of it, which must be what the model says. */
  async #try(who: ModelPerson, isAllowed: boolean, method: string, path: string, body?: unknown): Promise<Outcome> {
    const outcome = await who.signedIn.send(method, path, body);
    this.#judge(isAllowed, outcome, { method, path, body, who: who.name });
    return outcome;
  }

  #judge(isAllowed: boolean, { status, body: answer }: Outcome, asked: object): void {
    expect({ ...asked, status, answer, isDone: status < 300 }).toEqual({ ...asked, status, answer, isDone: isAllowed });
    if (!isAllowed) expect([403, 404]).toContain(status);
    if (isAllowed) this.allowed++;
    else this.refused++;
  }

  async #makeKey(who: ModelPerson, serverId: string, given: Rights): Promise<void> {
    const isAllowed = this.model.mayTouch(who, { keyId: "", serverId, rights: given });
    const { may: _, ...fields } = given;
    const made = await this.#try(who, isAllowed, "POST", "/admin/keys", {
      server_id: serverId,
      label: "bot",
      ...fields,
    });
    if (!isAllowed) return;
    this.model.keys.push({ keyId: String((made.body as { key_id: string }).key_id), serverId, rights: given });
  }

  async #touchKey(who: ModelPerson, step: Extract<Request, { pick: number }>): Promise<void> {
    const key = this.model.keys[step.pick % Math.max(1, this.model.keys.length)];
    if (!key) return;
    const path = `/admin/keys/${key.keyId}`;
    if (step.kind === "revokeKey") {
      const isAllowed = this.model.mayTouch(who, key);
      await this.#try(who, isAllowed, "DELETE", path);
      if (isAllowed) this.model.keys = this.model.keys.filter((one) => one !== key);
      return;
    }
    const given = ofKey(step.rights);
    const isAllowed = this.model.mayTouch(who, key) && this.model.mayTouch(who, { ...key, rights: given });
    await this.#try(who, isAllowed, "PATCH", path, step.rights);
    if (isAllowed) key.rights = given;
  }

  async #setRole(who: ModelPerson, target: ModelPerson, serverId: string, name: string | null): Promise<void> {
    const { model } = this;
    const shown = new Map([...target.roles].filter(([id]) => model.may(who, id, "people")));
    const wanted = new Map(shown);
    setRole(wanted, serverId, name);
    const old = shown.get(serverId);
    const isSame = old === wanted.get(serverId);
    const isGivable = [old, wanted.get(serverId)].every(
      (one) => one === undefined || model.mayGive(who, serverId, one),
    );
    const isOwnServer = !wanted.has(serverId) || model.may(who, serverId, "people");
    const isAllowed =
      who.isOperator || (model.sees(who, target) && !target.isOperator && isOwnServer && (isSame || isGivable));
    const path = `/admin/people/${target.signedIn.personId}`;
    await this.#try(who, isAllowed, "PATCH", path, { servers: this.#toBody(wanted) });
    if (isAllowed && (who.isOperator || model.may(who, serverId, "people"))) setRole(target.roles, serverId, name);
  }

  async #makePerson(who: ModelPerson, serverId: string, name: string, isOperator: boolean): Promise<void> {
    const isAllowed = who.isOperator || (!isOperator && this.model.mayGive(who, serverId, name));
    const body = { name: this.#name("Made"), is_operator: isOperator, servers: [{ server_id: serverId, role: name }] };
    const made = await this.#try(who, isAllowed, "POST", "/admin/people", body);
    if (isAllowed) await this.#admin("DELETE", `/admin/people/${(made.body as { person_id: string }).person_id}`);
  }

  async #touchPerson(who: ModelPerson, target: ModelPerson, what: string): Promise<void> {
    const isAllowed = this.model.owns(who, target);
    const path = `/admin/people/${target.signedIn.personId}`;
    if (what === "invite") return void (await this.#try(who, isAllowed, "POST", `${path}/invitations`));
    if (what === "look") return void (await this.#try(who, isAllowed, "GET", `${path}/sessions`));
    const name = this.#name("Renamed");
    await this.#try(who, isAllowed, "PATCH", path, { name });
    if (isAllowed) target.name = name;
  }

  async #changeServer(who: ModelPerson, serverId: string, field: string): Promise<void> {
    const isAllowed = who.isOperator || (field === "name" && this.model.may(who, serverId, "status"));
    const values = { name: this.#name("Town"), watch: false, server_key: "new-Key", owners_sign_in: true };
    await this.#try(who, isAllowed, "PATCH", `/admin/servers/${serverId}`, { [field]: values[field as "name"] });
  }

  async #readLists(who: ModelPerson): Promise<void> {
    const { model } = this;
    const mayAnywhere = (ability: string) => who.isOperator || model.servers.some((id) => model.may(who, id, ability));
    for (const serverId of model.servers) {
      const keys = model.keys.filter((key) => key.serverId === serverId && model.may(who, serverId, "keys"));
      const path = `/admin/keys?limit=200&server_id=${serverId}&state=active`;
      const listed = await this.#try(who, mayAnywhere("keys"), "GET", path);
      if (listed.status === 200) expect(idsOf(listed, "key_id")).toEqual(keys.map(({ keyId }) => keyId).toSorted());
    }
    const people = await this.#try(who, mayAnywhere("people"), "GET", "/admin/people?limit=200&name=Person");
    const known = new Set(model.people.map(({ signedIn }) => signedIn.personId));
    const seen = model.people.filter((one) => one.name.startsWith("Person") && model.sees(who, one));
    if (people.status !== 200) return;
    expect(idsOf(people, "person_id").filter((id) => known.has(id))).toEqual(
      seen.map(({ signedIn }) => signedIn.personId).toSorted(),
    );
  }

  async #callServer(
    who: ModelPerson,
    serverId: string,
    step: Extract<Request, { kind: "read" | "send" }>,
  ): Promise<void> {
    const own = this.model.rightsOf(who, serverId);
    const token = await findToken(who.signedIn.browser, serverId);
    expect({ serverId, hasToken: token !== undefined }).toEqual({ serverId, hasToken: own !== undefined });
    if (!own) return;
    if (step.kind === "read") {
      const read = await sendAs(this.gatehouse, token, "GET", `/v2/game/server?${step.section}=true`);
      return this.#judge(own.sections.includes(step.section), read, { ...step, who: who.name });
    }
    const isAllowed = own.commands.includes("*") || own.commands.includes(step.command);
    const body = { command: `${step.command} x` };
    const sent = await sendAs(this.gatehouse, token, "POST", "/v2/game/server/command", body);
    this.#judge(isAllowed, sent, { ...step, who: who.name });
  }

  /** Nothing else has changed. */
  async compare(): Promise<void> {
    for (const { signedIn, name, isOperator, roles } of this.model.people) {
      const shown = await this.#admin("GET", `/admin/people/${signedIn.personId}`);
      const byServer = (some: readonly { server_id: string }[]) =>
        some.toSorted((a, b) => (a.server_id < b.server_id ? -1 : 1));
      expect({ ...shown, servers: byServer(shown.servers as { server_id: string }[]) }).toMatchObject({
        name,
        is_operator: isOperator,
        servers: byServer(this.#toBody(roles)),
      });
    }
    for (const { keyId, rights: given } of this.model.keys) {
      const { sections, hide, commands, revoked_at } = await this.#admin("GET", `/admin/keys/${keyId}`);
      const { may: _, ...fields } = given;
      expect({ sections, hide, commands, revoked_at }).toEqual({ ...fields, revoked_at: null });
    }
  }
}

/** Whether the reader has lost the role or the session, or what the stream shows. */
function mustEnd({ signedIn, serverId, rights: before }: ModelStream, who: ModelPerson, model: Model): boolean {
  const present = model.servers.includes(serverId) ? model.rightsOf(who, serverId) : undefined;
  if (!present || who.signedIn !== signedIn) return true;
  const losesPlayers = before.sections.includes("Players") && !present.sections.includes("Players");
  return losesPlayers || !isSubset(present.hide, before.hide);
}

function setRole(roles: Map<string, string>, serverId: string, name: string | null): void {
  if (name === null) roles.delete(serverId);
  else roles.set(serverId, name);
}

function idsOf({ body }: Outcome, field: string): string[] {
  return (body as { items: Record<string, string>[] }).items.map((item) => item[field] ?? "").toSorted();
}

const SQLITE_RUNS = repeat({ usual: 12, long: 300 });
const POSTGRES_RUNS = repeat({ usual: 4, long: 100 });
let postgres: PostgresServer;
let game: FakeGameApi;

beforeAll(async () => {
  game = startFakeGameApi();
  postgres = await startPostgres();
});
afterAll(async () => {
  await game.stop();
  await stopPostgresServers();
});

async function runModel(numRuns: number, env: Record<string, string>): Promise<void> {
  const gatehouse = await startGatehouse({
    archive: new MemoryArchive(),
    env: { GATEHOUSE_UPSTREAM_URL: game.url, ...env },
  });
  let [number, allowed, refused, ended] = [0, 0, 0, 0];
  try {
    const property = fc.asyncProperty(steps, async (sequence) => {
      const run = new Run(gatehouse, ++number);
      await run.begin();
      for (const step of sequence) {
        if ("by" in step) await run.request(step);
        else await run.change(step);
        await run.checkStreams();
      }
      await run.closeStreams();
      ended += run.ended;
      await run.compare();
      allowed += run.allowed;
      refused += run.refused;
      gatehouse.clock.advance(60_000);
    });
    // A stream that should end and does not would be waited for.
    await fc.assert(property, { numRuns, timeout: 300_000 });
  } finally {
    await gatehouse.stop();
  }
  if (numRuns < SQLITE_RUNS) return;
  // All of these happen often, or the model would prove little. Of few sequences it would be luck.
  expect(Math.min(allowed, refused)).toBeGreaterThan(numRuns);
  expect(ended).toBeGreaterThan(0);
}

test(`over ${SQLITE_RUNS} random sequences on SQLite, nobody does more than the role of the moment allows, nor less`, async () => {
  await runModel(SQLITE_RUNS, {});
}, 600_000);

test(`over ${POSTGRES_RUNS} random sequences on PostgreSQL, nobody does more than the role of the moment allows, nor less`, async () => {
  const secrets = { GATEHOUSE_SECRET: "s".repeat(40), GATEHOUSE_MASTER_KEY: "m".repeat(40) };
  await runModel(POSTGRES_RUNS, { GATEHOUSE_STORE: await postgres.createDatabase(), ...secrets });
}, 600_000);
