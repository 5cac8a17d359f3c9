// Finds the resource that a command is about: by its id, by its name, or by the choice of the person at the terminal.
// Finds the names of servers and keys for ids too, so that people read names; ids without a name stay ids.
import type { Command } from "commander";
import type { KeyResource } from "../../core/wire/key.ts";
import type { PersonResource } from "../../core/wire/people.ts";
import type { ServerResource } from "../../core/wire/server.ts";
import type { WebhookResource } from "../../core/wire/webhook.ts";
import { adminCommand, type Session, type SessionOptions } from "../connection/session.ts";
import { CommandFailed, EXIT_CODES, failUsage } from "../exit-codes.ts";
import { listFields, printResources, type ResourceField } from "../terminal/fields.ts";
import type { Field } from "../terminal/printer.ts";
import { askChoice } from "../terminal/prompts.ts";
import { escapeUnsafe } from "../terminal/safe-text.ts";

/** The most resources in a prompt; others must be named. */
const CHOICES_MAX = 1_000;
/** The most resources in an error message. */
const SHOWN_MAX = 5;
/** Each key is a call of its own; in longer lists the other keys are shown by their ids. */
const KEYS_MAX = 100;
const CALLS_AT_ONCE = 10;

/** A kind of resource; `path` is also the name of its command. */
export type Kind = { readonly noun: string; readonly path: string };
export type NamedKind<T> = Kind & {
  readonly idShape: RegExp;
  readonly nameWord: "name" | "label";
  readonly howToMake: string;
  /** The parameter that finds them by part of their name. The case of such names makes no difference. */
  readonly searchedBy?: "label" | "name";
  readonly read: (resource: T) => { readonly id: string; readonly name: string };
};

export const SERVERS: NamedKind<ServerResource> = {
  ...{ noun: "server", path: "servers", idShape: /^srv_\w+$/, nameWord: "name" },
  howToMake: "add one with gatehouse servers add",
  read: ({ server_id, name }) => ({ id: server_id, name }),
};
export const KEYS: NamedKind<KeyResource> = {
  ...{ noun: "key", path: "keys", idShape: /^key_[0-9A-Za-z]+$/, nameWord: "label", searchedBy: "label" },
  howToMake: "gatehouse keys create makes one",
  read: ({ key_id, label }) => ({ id: key_id, name: label }),
};
export const PEOPLE: NamedKind<PersonResource> = {
  ...{ noun: "person", path: "people", idShape: /^per_[0-9A-Za-z]+$/, nameWord: "name", searchedBy: "name" },
  howToMake: "gatehouse people add makes one",
  read: ({ person_id, name }) => ({ id: person_id, name }),
};
export const WEBHOOKS: NamedKind<WebhookResource> = {
  ...{ noun: "webhook", path: "webhooks", idShape: /^hook_[0-9A-Za-z]+$/, nameWord: "label" },
  howToMake: "gatehouse webhooks create makes one",
  read: ({ webhook_id, label }) => ({ id: webhook_id, name: label }),
};

/** A request about one resource, or about what is below it. */
export function requestFor({ noun, path }: Kind, id: string, ...below: readonly string[]) {
  return {
    path: [path, id, ...below],
    notFoundMessage: `there is no ${noun} ${id}: gatehouse ${path} list shows them`,
  };
}

/** A command about one resource, which is its argument. `check` refuses wrong usage before the session is opened. */
export function resourceCommand<T extends object, Options extends SessionOptions>(
  kind: NamedKind<T>,
  name: string,
  description: string,
  act: (session: Session, id: string, options: Options) => Promise<void>,
  check?: (options: Options) => unknown,
): Command {
  const { noun, path, nameWord } = kind;
  const find = async (session: Session, options: Options, reference: string | undefined) =>
    await act(session, await obtainId(session, kind, reference, `gatehouse ${path} ${name} <${noun}>`), options);
  return adminCommand<Options>(name, description, find, check).argument(
    `[${noun}]`,
    `${nameWord === "name" ? "id or name" : "label or id"} of the ${noun}`,
  );
}

/** `howToName` ends the error message "no server: …" when nothing is given and the user cannot be asked. */
export async function obtainId<T extends object>(
  session: Session,
  kind: NamedKind<T>,
  reference: string | undefined,
  howToName: string,
): Promise<string> {
  const { noun, path, howToMake, read } = kind;
  if (reference !== undefined) return await getId(session, kind, reference);
  if (!session.canAsk) failUsage(`no ${noun}: ${howToName}`);
  const { items } = await session.admin.list<T>({ path: [path] }, CHOICES_MAX, isNotRevoked);
  if (items.length === 0) failUsage(`there is no ${noun} yet: ${howToMake}`);
  const choices = items.map(read).map(({ id, name }) => ({ value: id, label: name, hint: id }));
  return await askChoice(`Which ${noun}?`, choices);
}

/** For commands with --server: the only server needs no name. */
export async function obtainServerIdOrOnly(session: Session, reference: string | undefined): Promise<string> {
  if (reference === undefined) {
    const { items } = await session.admin.list<ServerResource>({ path: ["servers"] }, 2);
    const [only, ...others] = items;
    if (only && others.length === 0) return only.server_id;
  }
  return obtainId(session, SERVERS, reference, "name one with --server");
}

/** Undefined when none is given. */
export async function findServerId(session: Session, reference: string | undefined): Promise<string | undefined> {
  return reference === undefined ? undefined : await getId(session, SERVERS, reference);
}

/** By id, or by the whole name. Labels of keys and names of people ignore case, and a key that is not revoked comes first. */
export async function getId<T extends object>(
  session: Session,
  kind: NamedKind<T>,
  reference: string,
): Promise<string> {
  const { noun, path, idShape, nameWord, searchedBy, read } = kind;
  if (idShape.test(reference)) return reference;
  const isKey = noun === KEYS.noun;
  const fold = (text: string) => (searchedBy ? text.toLowerCase() : text);
  const query = searchedBy && { [searchedBy]: reference };
  const { items } = await session.admin.list<T>({ path: [path], ...(query && { query }) });
  const namesakes = items.filter((item) => fold(read(item).name) === fold(reference));
  const alive = namesakes.filter(isNotRevoked);
  const found = alive.length > 0 ? alive : namesakes;
  const [first, ...others] = found;
  const shown = `"${escapeUnsafe(reference)}"`;
  if (!first) {
    const similar = isKey ? await describe(session, kind, items.filter(isNotRevoked)) : "";
    const hint = similar === "" ? `gatehouse ${path} list shows them` : `did you mean ${similar}?`;
    throw new CommandFailed(`there is no ${noun} ${shown}: ${hint}`, EXIT_CODES.notFound);
  }
  if (others.length > 0) {
    const ids = await describe(session, kind, found);
    failUsage(`${found.length} ${path} have the ${nameWord} ${shown}: use an id${isKey ? `, ${ids}` : ` (${ids})`}`);
  }
  return read(first).id;
}

/** Only keys can be revoked. */
export function isNotRevoked(resource: object): boolean {
  return !("revoked_at" in resource) || resource.revoked_at === null;
}

/** The ids with commas between them, at most five; of keys "key_… (My bot, North Town, active)". */
async function describe<T extends object>(
  session: Session,
  { noun, read }: NamedKind<T>,
  resources: readonly T[],
): Promise<string> {
  if (resources.length === 0) return "";
  if (noun !== KEYS.noun)
    return resources
      .slice(0, SHOWN_MAX)
      .map((each) => escapeUnsafe(read(each).id))
      .join(", ");
  const servers = await readServerNames(session);
  const texts = (resources as readonly KeyResource[]).slice(0, SHOWN_MAX).map(({ key_id, label, server_id, state }) => {
    return escapeUnsafe(`${key_id} (${label}, ${servers.get(server_id) ?? server_id}, ${state})`);
  });
  return texts.join(", ") + (resources.length > SHOWN_MAX ? ", …" : "");
}

/** Prints a table with the names of the servers. */
export async function showTable<T>(
  session: Session,
  fields: readonly ResourceField<T>[],
  resources: readonly T[],
  columns: readonly string[],
): Promise<void> {
  printResources(session, fields, resources, columns, await readServerNames(session));
}

/** A resource of a server, field by field, with the server's name. */
export async function describeResource<T extends { readonly server_id: string }>(
  session: Session,
  fields: readonly ResourceField<T>[],
  resource: T,
): Promise<Field[]> {
  const server = await nameResource(session, SERVERS, resource.server_id);
  return listFields(fields, resource, session.now(), () => server);
}

type Names = ReadonlyMap<string, string>;

export async function readServerNames(session: Session): Promise<Names> {
  const { items } = await session.admin.list<ServerResource>({ path: ["servers"] });
  return new Map(items.map(({ server_id, name }) => [server_id, name]));
}

/** Of these ids, other kinds included; each is looked up once. */
export async function readKeyLabels(session: Session, ids: readonly string[]): Promise<Names> {
  const keyIds = [...new Set(ids)].filter((id) => id.startsWith("key_")).slice(0, KEYS_MAX);
  const labels = new Map<string, string>();
  while (keyIds.length > 0) {
    const batch = keyIds.splice(0, CALLS_AT_ONCE);
    const keys = await Promise.all(batch.map((id) => findResource(session, KEYS, id)));
    for (const key of keys) if (key) labels.set(key.key_id, key.label);
  }
  return labels;
}

/** Of all people; empty when none of the ids is a person's. */
export async function readPersonNames(session: Session, ids: readonly string[]): Promise<Names> {
  if (!ids.some((id) => id.startsWith("per_"))) return new Map();
  const { items } = await session.admin.list<PersonResource>({ path: ["people"] });
  return new Map(items.map(({ person_id, name }) => [person_id, name]));
}

/** "North Town (srv_…)"; the id alone when the resource no longer exists. */
export async function nameResource<T>(session: Session, kind: NamedKind<T>, id: string): Promise<string> {
  const resource = await findResource(session, kind, id);
  return resource ? `${kind.read(resource).name} (${id})` : id;
}

async function findResource<T>(session: Session, { path }: NamedKind<T>, id: string): Promise<T | undefined> {
  try {
    const { body } = await session.admin.call<T>({ path: [path, id] });
    return body;
  } catch (error) {
    if (error instanceof CommandFailed && error.exitCode === EXIT_CODES.notFound) return undefined;
    throw error;
  }
}
