// gatehouse people: adds, lists, changes and removes those who sign in to the dashboard, invites them, and ends their sessions.
import type { Command } from "commander";
import type {
  InvitationResource,
  PasskeyList,
  PasskeyResource,
  PersonResource,
  PersonSessionList,
  PersonSessionResource,
  PersonUpdate,
  PersonWithUsage,
} from "../../core/wire/people.ts";
import {
  adminCommand,
  adminGroup,
  type Session,
  type SessionOptions,
  withLimit,
  withYes,
} from "../connection/session.ts";
import { failUsage } from "../exit-codes.ts";
import { listFields, listOr, printResources, type ResourceField, showMoment } from "../terminal/fields.ts";
import type { Cell, Printer } from "../terminal/printer.ts";
import { askText } from "../terminal/prompts.ts";
import { formatMoment, formatRelativeTime } from "../terminal/times.ts";
import {
  findServerId,
  getId,
  nameResource,
  obtainServerIdOrOnly,
  PEOPLE,
  readServerNames,
  requestFor,
  resourceCommand,
  SERVERS,
} from "./find-resource.ts";
import { toUsageFieldList } from "./key-fields.ts";
import { checkGiven, choice, type Settings, toFields } from "./settings.ts";

const NONE = "none";
const YES_OR_NO = ["yes", "no"];
const SETTINGS: Settings<PersonUpdate> = {
  name: ["name"],
  operator: ["is_operator", (text) => text === "yes"],
  playerId: ["player_id", orNull],
  chatId: ["chat_id", orNull],
  disabled: ["disabled", (text) => text === "yes"],
};

export const PERSON_FIELDS: readonly ResourceField<PersonResource>[] = [
  { name: "person", show: ({ person_id }) => person_id, isWhole: true },
  { name: "name", show: ({ name }) => name },
  {
    name: "roles",
    show: ({ is_operator, servers }, { nameOf }) =>
      is_operator
        ? "operator: everything"
        : listOr(
            servers.map(({ server_id, role }) => `${nameOf(server_id)}: ${role}`),
            NONE,
          ),
  },
  { name: "state", show: describeState, isWhole: true },
  { name: "last seen", show: ({ last_seen_at }, look) => showMoment(last_seen_at, look), isWhole: true },
  { name: "sessions", show: ({ sessions }) => String(sessions), isWhole: true },
  { name: "passkeys", show: ({ passkeys }) => String(passkeys), isWhole: true },
  { name: "player id", show: ({ player_id }) => player_id ?? "not known" },
  { name: "chat id", show: ({ chat_id }) => chat_id ?? NONE },
  { name: "created", show: ({ created_at }, look) => showMoment(created_at, look) },
];
/** The ids are wider than anything else, so they are printed on request only. */
export const PERSON_COLUMNS = ["name", "roles", "state", "last seen", "sessions"];

export const PERSON_SESSION_FIELDS: readonly ResourceField<PersonSessionResource>[] = [
  { name: "session", show: ({ session_id }) => session_id, isWhole: true },
  { name: "browser", show: ({ description }) => description || "not known" },
  { name: "last used", show: ({ last_used_at }, look) => showMoment(last_used_at, look), isWhole: true },
  { name: "ends", show: ({ expires_at }, look) => showMoment(expires_at, look), isWhole: true },
];

const PASSKEY_FIELDS: readonly ResourceField<PasskeyResource>[] = [
  { name: "passkey", show: ({ passkey_id }) => passkey_id, isWhole: true },
  { name: "added with", show: ({ label }) => label },
  { name: "added", show: ({ created_at }, look) => showMoment(created_at, look), isWhole: true },
  { name: "last used", show: ({ last_used_at }, look) => showMoment(last_used_at, look), isWhole: true },
];

const EXAMPLES = `
Examples:
  gatehouse people add Robin --role "North Town=moderator" --invite
  gatehouse people set Robin --role "South Town=trial" --role "North Town=none"
  gatehouse people invite Robin
  gatehouse people end-sessions Robin --yes     their phone is lost: end what it is signed in with,
  gatehouse people remove-passkeys Robin --yes  and what it can sign in with again`;

export function createPeopleCommand(): Command {
  return adminGroup("people", "invite people to the dashboard, give them roles, and end their sessions", [
    addPersonOptions(adminCommand("add", "add a person", addPerson, checkName))
      .argument("[name]", "name of the person")
      .option("--invite", "make an invitation too, and print its link")
      .addHelpText("after", EXAMPLES),
    withLimit(
      adminCommand("list", "list the people", listPeople)
        .option("--server <server>", "only those with a role on this server (id or name)")
        .option("--name <text>", "only those with this in their name")
        .option("--ids", "show the ids of the people"),
    ),
    resourceCommand(PEOPLE, "show", "show a person's roles, usage, and when they were seen", showPerson),
    addPersonOptions(resourceCommand(PEOPLE, "set", "change a person, and what they may do", setPerson, checkSettings))
      .option("--name <name>", "another name")
      .addOption(choice("--disabled <yes|no>", "keep them from signing in, and sign them out", YES_OR_NO))
      .addHelpText("after", "\nOptions that are left out change nothing, and neither do servers without --role."),
    withYes(resourceCommand(PEOPLE, "remove", "remove a person, and sign them out everywhere", removePerson)),
    resourceCommand(PEOPLE, "invite", "make a link that signs a person in, once", invitePerson).addHelpText(
      "after",
      "\nThe link works once, for 24 hours. A new one ends the one before.",
    ),
    resourceCommand(PEOPLE, "sessions", "list the browsers in which a person is signed in", listSessions),
    withYes(
      resourceCommand(PEOPLE, "end-sessions", "sign a person out everywhere, or in one browser", endSessions),
    ).option("--session <id>", "only this session (ses_…)"),
    resourceCommand(PEOPLE, "passkeys", "list the passkeys with which a person signs in", listPasskeys),
    withYes(
      resourceCommand(PEOPLE, "remove-passkeys", "remove all passkeys of a person, or one", removePasskeys),
    ).option("--passkey <id>", "only this passkey (psk_…)"),
  ]);
}

type PersonOptions = SessionOptions & { readonly role?: readonly string[] };

function addPersonOptions(command: Command): Command {
  const collect = (text: string, before: readonly string[] = []) => [...before, text];
  return command
    .option(
      "--role <server=role>",
      'a role on a server: "North Town=moderator"; none takes it away; may be given several times',
      collect,
    )
    .addOption(choice("--operator <yes|no>", "whether they may do all that the master key may", YES_OR_NO))
    .option("--player-id <id>", "who they are in the game, in digits, or none")
    .option("--chat-id <id>", "their id on the chat platform, with which they may sign in, or none");
}

type AddOptions = PersonOptions & { readonly invite?: boolean };

function checkName(options: AddOptions): void {
  if (options.invite && options.json) failUsage("--invite does not go with --json: use gatehouse people invite --json");
}

async function addPerson(session: Session, options: AddOptions, argument: string | undefined): Promise<void> {
  if (argument === undefined && !session.canAsk) failUsage("no name: gatehouse people add <name>");
  const name = argument ?? (await askText("Name of the person"));
  const roles = options.role && { servers: await mergeRoles(session, options.role, []) };
  const body = { name, ...toFields(SETTINGS, options), ...roles };
  const { text, body: person } = await session.admin.call<PersonResource>({ method: "POST", path: ["people"], body });
  if (session.wantsJson) {
    process.stdout.write(`${text.trimEnd()}\n`);
    return;
  }
  await printPerson(session, person);
  if (options.invite) await invitePerson(session, person.person_id);
  else session.printer.printLine(`\u2192 gatehouse people invite ${person.person_id} makes a link for them`, "dim");
}

async function listPeople(session: Session, options: SessionOptions & { readonly name?: string }): Promise<void> {
  const query = { server_id: await findServerId(session, options.server), name: options.name };
  const isSearch = Object.values(query).some((value) => value !== undefined);
  const none = isSearch ? "no such people" : "no people yet: gatehouse people add makes one";
  await session.list<PersonResource>({ path: ["people"], query }, options.limit, none, async (people) => {
    const columns = options.ids ? ["person", ...PERSON_COLUMNS] : PERSON_COLUMNS;
    printResources(session, PERSON_FIELDS, people, columns, await readServerNames(session));
  });
}

async function showPerson(session: Session, personId: string): Promise<void> {
  await session.call<PersonWithUsage>(requestFor(PEOPLE, personId), async ({ usage, ...person }) => {
    const names = await printPerson(session, person);
    for (const { server_id: id, ...used } of usage)
      session.printer.printFields([["on", names.get(id) ?? id], ...toUsageFieldList(used, session.now())]);
  });
}

function checkSettings(options: PersonOptions): void {
  checkGiven({ ...SETTINGS, role: ["servers"] }, options, "people set");
}

async function setPerson(session: Session, personId: string, options: PersonOptions): Promise<void> {
  const request = requestFor(PEOPLE, personId);
  // The API replaces all roles at once, so those of other servers are sent with the new ones.
  const before = options.role && (await session.admin.call<PersonResource>(request)).body;
  const roles = options.role && { servers: await mergeRoles(session, options.role, before?.servers ?? []) };
  const body = { ...toFields(SETTINGS, options), ...roles };
  await session.call<PersonResource>({ ...request, method: "PATCH", body }, async (person) => {
    await printPerson(session, person);
  });
}

function orNull(text: string): string | null {
  return text === NONE ? null : text;
}

async function mergeRoles(
  session: Session,
  given: readonly string[],
  before: PersonResource["servers"],
): Promise<PersonResource["servers"]> {
  const roles = new Map(before.map(({ server_id, role }) => [server_id, role]));
  for (const text of given) {
    const { server, role } = parseRole(text);
    const isKnown = server !== undefined;
    const serverId = isKnown ? await getId(session, SERVERS, server) : await obtainServerIdOrOnly(session, undefined);
    if (role === NONE) roles.delete(serverId);
    else roles.set(serverId, role);
  }
  return [...roles].map(([server_id, role]) => ({ server_id, role }));
}

/** "North Town=moderator"; where there is only one server the role alone. A name may have an = too, a role may not. */
export function parseRole(text: string): { readonly server: string | undefined; readonly role: string } {
  const equals = text.lastIndexOf("=");
  const server = equals < 0 ? undefined : text.slice(0, equals).trim();
  const role = text.slice(equals + 1).trim();
  if (role === "" || server === "") failUsage('--role must be "<server>=<role>", such as "North Town=moderator"');
  return { server, role };
}

async function removePerson(session: Session, personId: string, { yes }: SessionOptions): Promise<void> {
  const name = session.wantsJson ? personId : await nameResource(session, PEOPLE, personId);
  await session.confirm(yes, () => `Remove ${name}? They are signed out everywhere; what they did stays in the audit.`);
  await session.call({ ...requestFor(PEOPLE, personId), method: "DELETE" }, () =>
    session.printer.printLine(`${name} is removed`),
  );
}

async function invitePerson(session: Session, personId: string): Promise<void> {
  const request = { ...requestFor(PEOPLE, personId, "invitations"), method: "POST" } as const;
  await session.call<InvitationResource>(request, (invitation) =>
    printInvitation(session.printer, invitation, session.now()),
  );
}

export function printInvitation(printer: Printer, { url, expires_at }: InvitationResource, now: number): void {
  printer.printLine("");
  printer.printLine(url, "bold");
  const until = `${formatMoment(expires_at)} (${formatRelativeTime(expires_at, now)})`;
  printer.printLine(`It works once, until ${until}.`, "dim");
  printer.printLine("Whoever opens it is signed in: send it to this person alone.", "dim");
  if (!isLoopback(url)) return;
  printer.printLine("It leads to this machine: no phone and no other computer can open it.", "yellow");
  printer.printLine("Set GATEHOUSE_PUBLIC_URL to the address that others use.", "yellow");
}

function isLoopback(url: string): boolean {
  const { hostname } = URL.parse(url) ?? { hostname: "" };
  return hostname === "localhost" || hostname.endsWith(".localhost") || /^127\.|^\[::1\]$/.test(hostname);
}

async function listSessions(session: Session, personId: string): Promise<void> {
  await session.call<PersonSessionList>(requestFor(PEOPLE, personId, "sessions"), ({ items }) =>
    printOr(session, PERSON_SESSION_FIELDS, items, "not signed in anywhere"),
  );
}

async function listPasskeys(session: Session, personId: string): Promise<void> {
  await session.call<PasskeyList>(requestFor(PEOPLE, personId, "passkeys"), ({ items }) =>
    printOr(session, PASSKEY_FIELDS, items, "no passkeys"),
  );
}

function printOr<T>(session: Session, fields: readonly ResourceField<T>[], items: readonly T[], none: string): void {
  if (items.length === 0) session.printer.printLine(none);
  else printResources(session, fields, items);
}

type EndOptions = SessionOptions & { readonly session?: string; readonly passkey?: string };

async function endSessions(session: Session, personId: string, { yes, session: id }: EndOptions): Promise<void> {
  await deleteBelow(session, personId, "sessions", id, yes, (name) => ({
    question: id ? `Sign ${name} out in this browser?` : `Sign ${name} out in every browser?`,
    done: id ? `${name} is signed out there` : `${name} is signed out everywhere; passkeys can sign in again`,
  }));
}

async function removePasskeys(session: Session, personId: string, { yes, passkey: id }: EndOptions): Promise<void> {
  await deleteBelow(session, personId, "passkeys", id, yes, (name) => ({
    question: id ? `Remove this passkey of ${name}?` : `Remove all passkeys of ${name}?`,
    done: id
      ? `the passkey of ${name} is removed`
      : `${name} has no passkeys: gatehouse people invite lets them in again`,
  }));
}

/** Deletes one of what a person has, or all of it. */
async function deleteBelow(
  session: Session,
  personId: string,
  below: string,
  id: string | undefined,
  yes: boolean | undefined,
  word: (name: string) => { readonly question: string; readonly done: string },
): Promise<void> {
  const name = session.wantsJson ? personId : await nameResource(session, PEOPLE, personId);
  const { question, done } = word(name);
  await session.confirm(yes, () => question);
  const request = requestFor(PEOPLE, personId, below, ...(id === undefined ? [] : [id]));
  await session.call({ ...request, method: "DELETE" }, () => session.printer.printLine(done));
}

/** Returns the names of the servers. */
async function printPerson(session: Session, person: PersonResource): Promise<ReadonlyMap<string, string>> {
  const names = await readServerNames(session);
  session.printer.printFields(listFields(PERSON_FIELDS, person, session.now(), (id) => names.get(id) ?? id));
  return names;
}

function describeState({ disabled, last_seen_at, sessions }: PersonResource): Cell {
  if (disabled) return { text: "disabled", colour: "red" };
  if (sessions > 0) return { text: "signed in", colour: "green" };
  return last_seen_at === null ? { text: "never signed in", colour: "yellow" } : "signed out";
}
