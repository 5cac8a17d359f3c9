// The operator's actions on game servers. Every change is validated and written with an audit note.
import { ERRORS, type Refusal, refuse } from "../../core/errors.ts";
import { type GameServer, isParked, type PublicStatus } from "../../core/game-server.ts";
import type { Actor } from "../../core/ports/audit.ts";
import { type DeletedServer, type ServerDraft, SlugTaken } from "../../core/ports/servers.ts";
import type { Store } from "../../core/ports/store.ts";
import { NOT_FOUND, refuseField } from "../../core/refuse-field.ts";
import type { NewServer, PublicStatusSettings, ServerChange } from "../../core/wire/server.ts";
import type { CommandMeter } from "../commands/command-meter.ts";

const UPSTREAM_CHANGED = "The game server was given to another game API while this waited.";
const NAME_TAKEN = "belongs to another server already";

/** Also when two operators ask for it at once. */
const SLUG_TAKEN = refuse(ERRORS.conflict, {
  details: { public_status: "has a slug that belongs to another server already" },
});

export type ManagedServers = {
  readonly store: Pick<Store, "servers" | "commands">;
  /** Whether the upstream is the built-in simulator: setting a server's key ties the server to the upstream in use. */
  readonly isSimulatorInUse: boolean;
  readonly commandMeter: Pick<CommandMeter, "count">;
};

export async function addServer(
  { store, isSimulatorInUse }: ManagedServers,
  request: NewServer,
  actor: Actor,
  now: number,
): Promise<GameServer | Refusal> {
  const { name, server_key: serverKey, community = null, watch = true } = request;
  if (await store.servers.findByName(name)) return refuseField("name", NAME_TAKEN);
  const publicStatus = toPublicStatus(request.public_status ?? null);
  const shown = publicStatus && { public_status: describePublicStatus(publicStatus) };
  const after = { name, community, watch, ...shown };
  const note = { at: now, action: "server.created", actor, details: { after } };
  const draft = { name, community, serverKey, isSimulated: isSimulatorInUse, isWatched: watch, publicStatus };
  return refuseTakenSlug(() => store.servers.create(draft, now, note));
}

export function describePublicStatus(publicStatus: PublicStatus | null): PublicStatusSettings | null {
  return publicStatus && { slug: publicStatus.slug, show_join_key: publicStatus.showsJoinKey };
}

function toPublicStatus(settings: NonNullable<NewServer["public_status"]> | null): PublicStatus | null {
  return settings && { slug: settings.slug, showsJoinKey: settings.show_join_key ?? false };
}

async function refuseTakenSlug<T>(change: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await change();
  } catch (error) {
    if (error instanceof SlugTaken) return SLUG_TAKEN;
    throw error;
  }
}

export async function changeServer(
  { store, isSimulatorInUse, commandMeter }: ManagedServers,
  serverId: string,
  request: ServerChange,
  actor: Actor,
  now: number,
): Promise<GameServer | Refusal> {
  const old = store.servers.find(serverId);
  if (!old) return NOT_FOUND;
  const { name, community, server_key: serverKey, watch } = request;
  if (name !== undefined && name !== old.name && (await store.servers.findByName(name))) {
    return refuseField("name", NAME_TAKEN);
  }
  const before: Record<string, unknown> = {};
  const after: Record<string, unknown> = {};
  const change: { -readonly [K in keyof ServerDraft]?: ServerDraft[K] } = {};
  if (name !== undefined && name !== old.name) {
    change.name = name;
    [before.name, after.name] = [old.name, name];
  }
  if (community !== undefined && community !== old.community) {
    change.community = community;
    [before.community, after.community] = [old.community, community];
  }
  if (watch !== undefined && watch !== old.isWatched) {
    change.isWatched = watch;
    [before.watch, after.watch] = [old.isWatched, watch];
  }
  if (request.public_status !== undefined) {
    const [was, wanted] = [old.publicStatus, toPublicStatus(request.public_status)];
    if (was?.slug !== wanted?.slug || was?.showsJoinKey !== wanted?.showsJoinKey) {
      change.publicStatus = wanted;
      before.public_status = describePublicStatus(was);
      after.public_status = describePublicStatus(wanted);
    }
  }
  if (serverKey !== undefined) {
    change.serverKey = serverKey;
    after.server_key = "set anew";
    if (isParked(old, isSimulatorInUse)) {
      change.isSimulated = isSimulatorInUse;
      [before.simulated, after.simulated] = [old.isSimulated, isSimulatorInUse];
      // They were meant for the other upstream. Nothing is accepted or sent before the update, because the server is parked.
      commandMeter.count("failed", await store.commands.failWaiting(serverId, now, UPSTREAM_CHANGED));
    }
  }
  if (Object.keys(change).length === 0) return old;
  const note = { at: now, action: "server.changed", actor, details: { before, after } };
  return refuseTakenSlug(async () => (await store.servers.update(serverId, change, note)) ?? NOT_FOUND);
}

export async function removeServer(
  store: Store,
  serverId: string,
  actor: Actor,
  now: number,
): Promise<DeletedServer | Refusal> {
  const old = store.servers.find(serverId);
  const details = old ? { before: { name: old.name, community: old.community } } : {};
  const note = { at: now, action: "server.deleted", actor, details };
  return (await store.servers.delete(serverId, now, note)) ?? NOT_FOUND;
}
