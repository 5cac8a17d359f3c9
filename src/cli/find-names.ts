// Finds the names of servers and the labels of keys for ids, so that people read names. Ids without a name stay ids.
import type { KeyResource } from "../core/wire/key.ts";
import type { ServerResource } from "../core/wire/server.ts";
import { CommandFailed, EXIT_CODES } from "./exit-codes.ts";
import type { Session } from "./session.ts";

/** Each key is a call of its own; in longer lists the other keys are shown by their ids. */
const KEYS_MAX = 100;
const CALLS_AT_ONCE = 10;

export type Names = ReadonlyMap<string, string>;

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
    const keys = await Promise.all(batch.map((id) => findResource<KeyResource>(session, "keys", id)));
    for (const key of keys) if (key) labels.set(key.key_id, key.label);
  }
  return labels;
}

/** "North Town (srv_…)"; the id alone when the server no longer exists. */
export async function nameServer(session: Session, serverId: string): Promise<string> {
  const server = await findResource<ServerResource>(session, "servers", serverId);
  return server ? `${server.name} (${serverId})` : serverId;
}

/** "My bot (key_…)"; the id alone when the key no longer exists. */
export async function nameKey(session: Session, keyId: string): Promise<string> {
  const key = await findResource<KeyResource>(session, "keys", keyId);
  return key ? `${key.label} (${keyId})` : keyId;
}

async function findResource<T>(session: Session, kind: string, id: string): Promise<T | undefined> {
  try {
    const { body } = await session.admin.call<T>({ path: [kind, id] });
    return body;
  } catch (error) {
    if (error instanceof CommandFailed && error.exitCode === EXIT_CODES.notFound) return undefined;
    throw error;
  }
}
