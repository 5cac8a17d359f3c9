// People and roles. All are in memory. Names are compared as `foldName` writes them, so that both engines agree.
import { isWithin } from "../../core/keys/rights.ts";
import { listOthers } from "../../core/people/authority.ts";
import { callerIdOf, foldName, PEOPLE_MAX, type Person } from "../../core/people/person.ts";
import { FIRST_ROLES, isFirstRole, ROLES_MAX, type Role } from "../../core/people/role.ts";
import type { AuditNote } from "../../core/ports/audit.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import type {
  PeopleStore,
  PersonDetails,
  PersonDraft,
  PersonFilter,
  PersonRefused,
  RoleStore,
} from "../../core/ports/people.ts";
import { countRows, type Driver, insertRow, type Row, type Sql, updateRow, type Value } from "../sql.ts";
import type { Changes } from "./changes.ts";
import { type Directory, roleIdOf } from "./directory.ts";
import {
  INSERT_ROLE,
  newId,
  type PersonRow,
  type ServerRoleRow,
  toPage,
  toPerson,
  toRoleValues,
  toSeq,
  toServerRoles,
} from "./rows.ts";

export type PeopleDeps = { readonly driver: Driver; readonly changes: Changes; readonly directory: Directory };

type DetailsRow = PersonRow & { passkeys: number; sessions: number };

/** `?1` is the time. */
const SELECT_DETAILS = `SELECT people.*,
  (SELECT count(*) FROM passkeys WHERE passkeys.person_id = people.person_id) AS passkeys,
  (SELECT count(*) FROM person_sessions WHERE person_sessions.person_id = people.person_id AND expires_at > ?1) AS sessions
  FROM people`;

export class PeopleTable implements PeopleStore {
  constructor(private readonly deps: PeopleDeps) {}

  find(personId: string): Person | undefined {
    return this.deps.directory.people.get(personId);
  }

  findByChatId(chatId: string): Person | undefined {
    return this.deps.directory.findByChatId(chatId);
  }

  all(): Iterable<Person> {
    return this.deps.directory.people.values();
  }

  findDetails(personId: string, now: number): Promise<PersonDetails | undefined> {
    return this.deps.driver.query(async (sql) => {
      const [details] = await readDetails(sql, "person_id = ?2", now, personId);
      return details?.person;
    });
  }

  /** There are few people, so all that come after the cursor are read. */
  list({ limit, cursor, serverId, name }: PageRequest & PersonFilter, now: number): Promise<Page<PersonDetails>> {
    const part = name === undefined ? "" : foldName(name);
    return this.deps.driver.query(async (sql) => {
      const rows = await readDetails(sql, "seq > ?2 ORDER BY seq", now, toSeq(cursor));
      const found = rows.filter(({ person }) => {
        const isThere = serverId === undefined || person.servers.some((role) => role.serverId === serverId);
        return isThere && foldName(person.name).includes(part);
      });
      return toPage(found, limit, ({ person }) => person);
    });
  }

  async create(draft: PersonDraft, now: number, note?: AuditNote): Promise<Person | PersonRefused> {
    const personId = newId("per_");
    let refusal: PersonRefused = { refused: "full" };
    const insert = async (sql: Sql) => {
      const taken = await findTaken(sql, personId, draft);
      if (taken) refusal = taken;
      if (taken || (await countRows(sql, "people")) >= PEOPLE_MAX) return undefined;
      await insertRow(sql, "people", { person_id: personId, ...toColumns(draft), created_at: now });
      await insertServerRoles(sql, personId, draft);
      return readPerson(sql, personId);
    };
    return (await this.deps.changes.make([personId], insert, { target: personId, note })) ?? refusal;
  }

  async update(
    personId: string,
    change: Partial<PersonDraft>,
    note?: AuditNote,
    judged?: Person,
  ): Promise<Person | PersonRefused | undefined> {
    let refusal: PersonRefused | undefined;
    const update = async (sql: Sql) => {
      const old = await readPerson(sql, personId);
      if (!old) return undefined;
      const person = { ...old, ...change };
      refusal = isAsJudged(old, judged) ? await findTaken(sql, personId, person) : { refused: "changed" };
      if (refusal) return undefined;
      // Sessions before people, in the order of `recordUse`, so that two transactions never wait for each other.
      const isPromoted = person.isOperator && !old.isOperator;
      if (person.isDisabled || isPromoted) await sql.run("DELETE FROM person_sessions WHERE person_id = ?1", personId);
      // A link that somebody else made, and what was signed in with it, must not get more than they could give.
      if (person.isDisabled || isPromoted || this.#isRaised(old, person))
        await sql.run("DELETE FROM invitations WHERE person_id = ?1", personId);
      await updateRow(sql, "people", "person_id", personId, toColumns(person));
      if (change.servers) {
        await sql.run("DELETE FROM person_servers WHERE person_id = ?1", personId);
        await insertServerRoles(sql, personId, person);
      }
      return readPerson(sql, personId);
    };
    return (await this.deps.changes.make([personId], update, { target: personId, note })) ?? refusal;
  }

  /** Whether a role was added, or replaced by one with any other right. */
  #isRaised(old: Person, { servers }: PersonDraft): boolean {
    const { roles } = this.deps.directory;
    return listOthers(servers, old.servers).some(({ serverId, role }) => {
      const before = roles.get(old.servers.find((one) => one.serverId === serverId)?.role ?? "");
      const after = roles.get(role);
      return !before || !after || !isWithin(after, before);
    });
  }

  async delete(personId: string, note?: AuditNote, judged?: Person): Promise<boolean> {
    const ids = [personId];
    const remove = async (sql: Sql) => {
      const old = await readPerson(sql, personId);
      if (!old || !isAsJudged(old, judged)) return undefined;
      for (const table of ["person_sessions", "invitations", "passkeys", "person_servers", "people"])
        await sql.run(`DELETE FROM ${table} WHERE person_id = ?1`, personId);
      // The ids as a caller begin with the id and "@", and "A" comes next.
      ids.push(...(await deleteCallers(sql, "key_id > ?1 AND key_id < ?2", `${personId}@`, `${personId}A`)));
      return true;
    };
    return (await this.deps.changes.make(ids, remove, { target: personId, note })) ?? false;
  }
}

export class RoleTable implements RoleStore {
  constructor(private readonly deps: PeopleDeps) {}

  find(name: string): Role | undefined {
    return this.deps.directory.roles.get(name);
  }

  all(): readonly Role[] {
    const others = [...this.deps.directory.roles.values()].filter(({ name }) => !isFirstRole(name));
    const first = FIRST_ROLES.flatMap(({ name }) => this.find(name) ?? []);
    return [...first, ...others.toSorted((a, b) => (a.name < b.name ? -1 : 1))];
  }

  async put(role: Role, note?: AuditNote): Promise<"done" | "full"> {
    const put = async (sql: Sql) => {
      const isKnown = await sql.get("SELECT 1 AS found FROM roles WHERE name = ?1", role.name);
      if (!isKnown && (await countRows(sql, "roles")) >= ROLES_MAX) return undefined;
      return sql.run(
        `${INSERT_ROLE} DO UPDATE SET title = excluded.title, sections = excluded.sections, hide = excluded.hide,
                                      commands = excluded.commands, may = excluded.may`,
        ...toRoleValues(role),
      );
    };
    const id = roleIdOf(role.name);
    return (await this.deps.changes.make([id], put, { target: id, note })) === undefined ? "full" : "done";
  }

  async delete(name: string, note?: AuditNote): Promise<"done" | "used" | "unknown"> {
    let refusal: "used" | "unknown" = "unknown";
    const remove = async (sql: Sql) => {
      const user = await sql.get("SELECT 1 AS found FROM person_servers WHERE role = ?1 LIMIT 1", name);
      if (user) refusal = "used";
      return user ? undefined : (await sql.run("DELETE FROM roles WHERE name = ?1", name)) || undefined;
    };
    const id = roleIdOf(name);
    return (await this.deps.changes.make([id], remove, { target: id, note })) === undefined ? refusal : "done";
  }
}

/** Within the deletion of a server: takes the roles there, blocks and usage from people. Returns the ids that changed. */
export async function removeServerFromPeople(sql: Sql, serverId: string): Promise<string[]> {
  const people = await sql.all<{ person_id: string }>("SELECT person_id FROM people");
  const callerIds = people.map(({ person_id }) => callerIdOf(person_id, serverId));
  const isCaller = sql.dialect.isAmong("key_id", "?1", "text");
  const changed = await deleteCallers(sql, isCaller, JSON.stringify(callerIds));
  const removed = await sql.all<{ person_id: string }>(
    "DELETE FROM person_servers WHERE server_id = ?1 RETURNING person_id",
    serverId,
  );
  return [...changed, ...removed.map(({ person_id }) => person_id)];
}

/** Returns the ids that had a block. */
async function deleteCallers(sql: Sql, condition: string, ...values: readonly Value[]): Promise<string[]> {
  await sql.run(`DELETE FROM usage WHERE ${condition}`, ...values);
  const query = `DELETE FROM blocks WHERE ${condition} RETURNING key_id`;
  return (await sql.all<{ key_id: string }>(query, ...values)).map(({ key_id }) => key_id);
}

/** Whether the person exists and may sign in. */
export async function isEnabled(sql: Sql, personId: string): Promise<boolean> {
  const query = "SELECT 1 AS found FROM people WHERE person_id = ?1 AND disabled = 0";
  return (await sql.get(query, personId)) !== undefined;
}

/** Whether the person still has what somebody's right to change it was judged by. */
export function isAsJudged(present: Person, judged: Person | undefined): boolean {
  if (!judged) return true;
  const { isOperator, chatId, servers } = present;
  const others = [...listOthers(servers, judged.servers), ...listOthers(judged.servers, servers)];
  return isOperator === judged.isOperator && chatId === judged.chatId && others.length === 0;
}

export async function readPerson(sql: Sql, personId: string): Promise<Person | undefined> {
  const row = await sql.get<PersonRow>("SELECT * FROM people WHERE person_id = ?1", personId);
  if (!row) return undefined;
  const query = "SELECT * FROM person_servers WHERE person_id = ?1";
  return toPerson(row, toServerRoles(await sql.all<ServerRoleRow>(query, personId)));
}

/** `?1` is the time. */
async function readDetails(
  sql: Sql,
  condition: string,
  ...values: readonly Value[]
): Promise<{ seq: number; person: PersonDetails }[]> {
  const rows = await sql.all<DetailsRow>(`${SELECT_DETAILS} WHERE ${condition}`, ...values);
  const ids = JSON.stringify(rows.map(({ person_id }) => person_id));
  const query = `SELECT * FROM person_servers WHERE ${sql.dialect.isAmong("person_id", "?1", "text")}`;
  const servers = toServerRoles(rows.length === 0 ? [] : await sql.all<ServerRoleRow>(query, ids));
  return rows.map((row) => {
    const { seq, last_seen_at: lastSeenAt, passkeys, sessions } = row;
    return { seq, person: { ...toPerson(row, servers), lastSeenAt, passkeys, sessions } };
  });
}

async function findTaken(
  sql: Sql,
  personId: string,
  { name, chatId }: Pick<PersonDraft, "name" | "chatId">,
): Promise<PersonRefused | undefined> {
  const isOthers = (column: string, value: string) =>
    sql.get(`SELECT 1 AS found FROM people WHERE ${column} = ?1 AND person_id <> ?2`, value, personId);
  if (await isOthers("name_key", foldName(name))) return { refused: "name_taken" };
  return chatId !== null && (await isOthers("chat_id", chatId)) ? { refused: "chat_id_taken" } : undefined;
}

/** A server or role that was deleted meanwhile is left out. */
async function insertServerRoles(sql: Sql, personId: string, { servers }: PersonDraft): Promise<void> {
  await sql.runEach(
    `INSERT INTO person_servers (person_id, server_id, role) SELECT ?1, server_id, roles.name FROM servers, roles
     WHERE server_id = ?2 AND roles.name = ?3 ON CONFLICT (person_id, server_id) DO UPDATE SET role = excluded.role`,
    servers.map(({ serverId, role }) => [personId, serverId, role]),
  );
}

function toColumns({ name, isOperator, playerId, chatId, isDisabled }: PersonDraft): Row {
  const ids = { player_id: playerId, chat_id: chatId };
  return { name, name_key: foldName(name), operator: +isOperator, ...ids, disabled: +isDisabled };
}
