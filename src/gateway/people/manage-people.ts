// What operators, and managers within their own rights, do with people and roles. Every change is validated and written with an
// audit note. The secret of an invitation is returned once and never stored.
import { toCommandName } from "../../core/commands/command.ts";
import { DAY_MS } from "../../core/durations.ts";
import { ERRORS, type FieldReason, isRefusal, NOT_FOUND, type Refusal, refuseField } from "../../core/errors.ts";
import { ROLE_FORBIDDEN } from "../../core/keys/api-key.ts";
import { describeRights, toAbilitySet, toHiddenSet } from "../../core/keys/rights.ts";
import { hashToken, mintInvitationSecret, type RandomBytes } from "../../core/keys/token.ts";
import { type AdminAct, type Authority, listOthers } from "../../core/people/authority.ts";
import { PEOPLE_MAX, type Person, type ServerRole } from "../../core/people/person.ts";
import { isFirstRole, ROLE_NAME_SHAPE, ROLES_MAX, type Role } from "../../core/people/role.ts";
import type { AuditDetails, AuditNote } from "../../core/ports/audit.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import type {
  Passkey,
  PersonDetails,
  PersonDraft,
  PersonFilter,
  PersonRefused,
  SessionDetails,
} from "../../core/ports/people.ts";
import type { Store } from "../../core/ports/store.ts";
import { toSectionSet } from "../../core/sections.ts";
import type { NewPerson, NewRole, PersonUpdate, RoleResource } from "../../core/wire/people.ts";
import { diffFields, hasNameTwice, NAME_TWICE } from "../keys/manage-keys.ts";

const INVITATION_MS = DAY_MS;

type PeopleStores = Pick<Store, "people" | "roles" | "servers" | "sessions" | "passkeys" | "invitations">;
export type ManagedPeople = {
  readonly store: PeopleStores;
  readonly randomBytes: RandomBytes;
  /** By server, with those that somebody has as the owner of one. */
  readonly listRoles: (person: Person, now: number) => Promise<ReadonlyMap<string, Role>>;
};

const REFUSED: Readonly<Record<PersonRefused["refused"], Refusal>> = {
  name_taken: refuseField("name", { code: "name_taken", text: "belongs to another person already" }, ERRORS.conflict),
  chat_id_taken: refuseField(
    "chat_id",
    { code: "chat_id_taken", text: "belongs to another person already" },
    ERRORS.conflict,
  ),
  full: refuseField(
    "name",
    { code: "people_full", text: `cannot be added: there are ${PEOPLE_MAX} people already, which is the most` },
    ERRORS.conflict,
  ),
  changed: refuseField("person_id", { code: "changed", text: "was changed at the same moment" }, ERRORS.conflict),
};
const DISABLED = refuseField("person_id", { code: "disabled", text: "is disabled" }, ERRORS.conflict);
const NO_SERVERS = refuseField("servers", { code: "required", text: "must have at least one of your servers" });
const ROLES_FULL = refuseField(
  "name",
  { code: "roles_full", text: `cannot be added: there are ${ROLES_MAX} roles already, which is the most` },
  ERRORS.conflict,
);
const ROLE_USED = refuseField("name", { code: "role_used", text: "is somebody's role" }, ERRORS.conflict);
const FIRST_ROLE = refuseField(
  "name",
  { code: "first_role", text: "is one of the five that are always there" },
  ERRORS.conflict,
);
const BAD_ROLE_NAME = refuseField("name", {
  code: "invalid",
  text: "must be 1 to 32 small letters, digits and hyphens, a letter first",
});

/** As the reader sees the person: with the roles on the servers whose people it manages. */
export function showTo<P extends Person>(person: P, authority: Authority): P {
  return { ...person, servers: person.servers.filter(({ serverId }) => authority.has(serverId, "people")) };
}

/** Oldest first. Who sees only some people may get fewer than asked for, although there is a next page. */
export async function listPeople(
  { store }: ManagedPeople,
  page: PageRequest,
  filter: PersonFilter,
  { authority, now }: AdminAct,
): Promise<Page<PersonDetails>> {
  const { serverId, serverIds } = authority.narrow("people", filter.serverId);
  if (serverIds?.length === 0) return { items: [], next: null };
  const [only, another] = serverIds ?? [];
  const found = { ...page, ...filter, serverId: serverId ?? (another === undefined ? only : undefined) };
  const { items, next } = await store.people.list(found, now);
  const seen = items.filter((person) => authority.sees(person));
  return { items: seen, next };
}

export async function findPerson(
  { store }: ManagedPeople,
  personId: string,
  { authority, now }: AdminAct,
): Promise<PersonDetails | Refusal> {
  const found = await store.people.findDetails(personId, now);
  return found && authority.sees(found) ? found : NOT_FOUND;
}

export async function createPerson(
  deps: ManagedPeople,
  request: NewPerson,
  act: AdminAct,
): Promise<PersonDetails | Refusal> {
  const { authority, now } = act;
  const { name, is_operator: isOperator = false, player_id: playerId = null, chat_id: chatId = null } = request;
  const servers = toServerRoles(request.servers ?? []);
  if (isOperator && !authority.isOperator) return ROLE_FORBIDDEN;
  if (servers.length === 0 && !authority.isOperator) return NO_SERVERS;
  const refusal = judgeServers(deps.store, servers, authority) ?? authority.requireRoles([], servers);
  if (refusal) return refusal;
  const draft: PersonDraft = { name, isOperator, servers, playerId, chatId, isDisabled: false };
  const forbidden = await judgeWhole(deps, { ...draft, personId: "", createdAt: now }, act);
  if (forbidden) return forbidden;
  const note = noteOf(act, "person.created", { after: describeFields(draft) }, servers);
  const created = await deps.store.people.create(draft, now, note);
  if ("refused" in created) return REFUSED[created.refused];
  return { ...created, lastSeenAt: null, passkeys: 0, sessions: 0 };
}

export async function changePerson(
  deps: ManagedPeople,
  personId: string,
  request: PersonUpdate,
  act: AdminAct,
): Promise<PersonDetails | Refusal> {
  const { store } = deps;
  const { authority } = act;
  const old = await findPerson(deps, personId, act);
  if (isRefusal(old)) return old;
  const wanted = request.servers && toServerRoles(request.servers);
  const refusal = wanted && judgeServers(store, wanted, authority);
  if (refusal) return refusal;
  const change = toChange(old, request, wanted, authority);
  const changed: PersonDetails = { ...old, ...change };
  const forbidden = await judgeChange(deps, old, changed, act);
  if (forbidden) return forbidden;
  const [taken, given] = [listOthers(old.servers, changed.servers), listOthers(changed.servers, old.servers)];
  const details = diffFields(
    describeFields({ ...old, servers: taken }),
    describeFields({ ...changed, servers: given }),
  );
  if (!details) return old;
  const touched = [...taken, ...given];
  const note = noteOf(act, "person.changed", details, touched.length > 0 ? touched : old.servers);
  const updated = await store.people.update(personId, change, note, judgedFor(old, act));
  if (!updated) return NOT_FOUND;
  if ("refused" in updated) return REFUSED[updated.refused];
  return (await store.people.findDetails(personId, act.now)) ?? NOT_FOUND;
}

/** Roles on servers that the one who asks does not manage stay as they are: it does not see them. */
function toChange(
  old: Person,
  request: PersonUpdate,
  wanted: readonly ServerRole[] | undefined,
  authority: Authority,
): Partial<PersonDraft> {
  const { name, is_operator: isOperator, player_id: playerId, chat_id: chatId, disabled: isDisabled } = request;
  const kept = old.servers.filter(({ serverId }) => !authority.has(serverId, "people"));
  return {
    ...(name !== undefined && { name }),
    ...(isOperator !== undefined && { isOperator }),
    ...(wanted && { servers: [...kept, ...wanted] }),
    ...(playerId !== undefined && { playerId }),
    ...(chatId !== undefined && { chatId }),
    ...(isDisabled !== undefined && { isDisabled }),
  };
}

async function judgeChange(
  deps: ManagedPeople,
  old: Person,
  changed: Person,
  act: AdminAct,
): Promise<Refusal | undefined> {
  const { authority } = act;
  if (authority.isOperator) return undefined;
  if (old.isOperator || changed.isOperator) return ROLE_FORBIDDEN;
  const isWhole =
    old.name !== changed.name ||
    old.playerId !== changed.playerId ||
    old.chatId !== changed.chatId ||
    old.isDisabled !== changed.isDisabled;
  const forbidden = isWhole
    ? ((await judgeWhole(deps, old, act)) ?? (await judgeWhole(deps, { ...old, chatId: changed.chatId }, act)))
    : undefined;
  return forbidden ?? authority.requireRoles(old.servers, changed.servers);
}

/** Who owns a server by their chat id is a manager there, which counts besides the roles that were given. */
async function judgeWhole({ listRoles }: ManagedPeople, person: Person, act: AdminAct): Promise<Refusal | undefined> {
  const { authority, now } = act;
  if (authority.isOperator) return undefined;
  if (!authority.sees(person)) return NOT_FOUND;
  const roles = await listRoles(person, now);
  const present = Array.from(roles, ([serverId, { name }]) => ({ serverId, role: name }));
  return authority.requirePerson({ ...person, servers: [...person.servers, ...present] });
}

/** Undefined on success. */
export async function deletePerson(deps: ManagedPeople, personId: string, act: AdminAct): Promise<Refusal | undefined> {
  const old = await findOwn(deps, personId, act);
  if (isRefusal(old)) return old;
  const note = noteOf(act, "person.deleted", { before: describeFields(old) }, old.servers);
  const isDeleted = await deps.store.people.delete(personId, note, judgedFor(old, act));
  return isDeleted ? undefined : refuseUndone(deps, personId);
}

export async function invitePerson(
  deps: ManagedPeople,
  personId: string,
  act: AdminAct,
): Promise<{ readonly secret: string; readonly expiresAt: number } | Refusal> {
  const person = await findOwn(deps, personId, act);
  if (isRefusal(person)) return person;
  if (person.isDisabled) return DISABLED;
  const secret = mintInvitationSecret(deps.randomBytes);
  const expiresAt = act.now + INVITATION_MS;
  const note = noteOf(act, "person.invited", { after: { expires_at: expiresAt } }, person.servers);
  const isAdded = await deps.store.invitations.add(
    personId,
    hashToken(secret),
    expiresAt,
    note,
    judgedFor(person, act),
  );
  return isAdded ? { secret, expiresAt } : refuseUndone(deps, personId);
}

export async function listSessions(
  deps: ManagedPeople,
  personId: string,
  act: AdminAct,
): Promise<readonly SessionDetails[] | Refusal> {
  const person = await findOwn(deps, personId, act);
  return isRefusal(person) ? person : deps.store.sessions.list(personId, act.now);
}

/** Ends one session, or all without `sessionId`. Undefined on success. */
export async function endSessions(
  deps: ManagedPeople,
  personId: string,
  sessionId: string | undefined,
  act: AdminAct,
): Promise<Refusal | undefined> {
  const person = await findOwn(deps, personId, act);
  if (isRefusal(person)) return person;
  const details = { before: sessionId === undefined ? { sessions: "all" } : { session_id: sessionId } };
  const note = noteOf(act, "session.ended", details, person.servers);
  const ended = await deps.store.sessions.end(personId, sessionId, act.now, note);
  return sessionId !== undefined && ended === 0 ? NOT_FOUND : undefined;
}

export async function listPasskeys(
  deps: ManagedPeople,
  personId: string,
  act: AdminAct,
): Promise<readonly Passkey[] | Refusal> {
  const person = await findOwn(deps, personId, act);
  return isRefusal(person) ? person : deps.store.passkeys.list(personId);
}

/** Removes one passkey, or all without `passkeyId`. Undefined on success. */
export async function removePasskeys(
  deps: ManagedPeople,
  personId: string,
  passkeyId: string | undefined,
  act: AdminAct,
): Promise<Refusal | undefined> {
  const person = await findOwn(deps, personId, act);
  if (isRefusal(person)) return person;
  const details = { before: passkeyId === undefined ? { passkeys: "all" } : { passkey_id: passkeyId } };
  const note = noteOf(act, "passkey.removed", details, person.servers);
  const removed = await deps.store.passkeys.delete(personId, passkeyId, note);
  return passkeyId !== undefined && removed === 0 ? NOT_FOUND : undefined;
}

export function describeRole(role: Role): RoleResource {
  return { name: role.name, title: role.title, ...describeRights(role) };
}

/** Creates or replaces. */
export async function putRole(
  { store }: ManagedPeople,
  name: string,
  request: NewRole,
  act: AdminAct,
): Promise<Role | Refusal> {
  if (!ROLE_NAME_SHAPE.test(name)) return BAD_ROLE_NAME;
  if (hasNameTwice(request.commands)) return refuseField("commands", NAME_TWICE);
  const role: Role = {
    name,
    title: request.title,
    sections: toSectionSet(request.sections),
    hide: toHiddenSet(request.hide),
    commands: request.commands.map(toCommandName),
    may: toAbilitySet(request.may),
  };
  const old = store.roles.find(name);
  const details = old ? diffFields(describeRole(old), describeRole(role)) : { after: describeRole(role) };
  if (!details) return role;
  const put = await store.roles.put(role, noteOf(act, "role.changed", details, []));
  return put === "full" ? ROLES_FULL : role;
}

/** Undefined on success. */
export async function deleteRole({ store }: ManagedPeople, name: string, act: AdminAct): Promise<Refusal | undefined> {
  const old = store.roles.find(name);
  if (!old) return NOT_FOUND;
  if (isFirstRole(name)) return FIRST_ROLE;
  const deleted = await store.roles.delete(name, noteOf(act, "role.deleted", { before: describeRole(old) }, []));
  if (deleted === "used") return ROLE_USED;
  return deleted === "done" ? undefined : NOT_FOUND;
}

/** What the right to a change was judged by. Operators may change everybody. */
function judgedFor(person: Person, { authority }: AdminAct): Person | undefined {
  return authority.isOperator ? undefined : person;
}

/** Another instance has deleted the person, or changed it since it was judged. */
function refuseUndone({ store }: ManagedPeople, personId: string): Refusal {
  return store.people.find(personId) ? REFUSED.changed : NOT_FOUND;
}

/** Somebody whom the one who asks may sign out, invite and delete. */
async function findOwn(deps: ManagedPeople, personId: string, act: AdminAct): Promise<Person | Refusal> {
  const person = deps.store.people.find(personId);
  return person ? ((await judgeWhole(deps, person, act)) ?? person) : NOT_FOUND;
}

function toServerRoles(servers: NonNullable<NewPerson["servers"]>): ServerRole[] {
  return servers.map(({ server_id: serverId, role }) => ({ serverId, role }));
}

/** For who is no operator, a server without a role of its own does not exist. */
function judgeServers(
  { servers, roles }: Pick<Store, "servers" | "roles">,
  wanted: readonly ServerRole[],
  authority: Authority,
): Refusal | undefined {
  for (const { serverId } of wanted) {
    const refusal = authority.require(serverId, "people");
    if (refusal) return refusal;
  }
  for (const [index, { serverId, role }] of wanted.entries()) {
    const isRepeated = wanted.findIndex((other) => other.serverId === serverId) < index;
    if (isRepeated) return refuseEntry("server_twice", "a server that stands there already", index);
    if (!servers.find(serverId)) return refuseEntry("no_server", "a server that does not exist", index);
    if (!roles.find(role)) return refuseEntry("no_role", "a role that does not exist", index);
  }
  return undefined;
}

function refuseEntry(code: string, what: string, index: number): Refusal {
  const reason: FieldReason = { code, text: `names ${what} in place ${index + 1}`, position: index + 1 };
  return refuseField("servers", reason);
}

function describeFields({ name, isOperator, servers, playerId, chatId, isDisabled }: PersonDraft) {
  return {
    name,
    is_operator: isOperator,
    servers: servers.map(({ serverId, role }) => ({ server_id: serverId, role })),
    player_id: playerId,
    chat_id: chatId,
    disabled: isDisabled,
  };
}

/** An entry about one server is for those who manage its people; one about several is for operators. */
function noteOf(
  { actor, now }: AdminAct,
  action: string,
  details: AuditDetails,
  servers: readonly ServerRole[],
): AuditNote {
  const [serverId, another] = new Set(servers.map((one) => one.serverId));
  const isAboutOne = serverId !== undefined && another === undefined;
  return { at: now, action, actor, details, ...(isAboutOne && { serverId }) };
}
