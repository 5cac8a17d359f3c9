// The operator's actions on game servers. Every change is validated and written with an audit note.
import { ERRORS, type FieldReason, NOT_FOUND, type Refusal, refuseField } from "../../core/errors.ts";
import { DEFAULT_SERVER, type GameServer, isParked, type ServerSettings } from "../../core/game-server.ts";
import { ROLE_FORBIDDEN } from "../../core/keys/api-key.ts";
import { HIDES_JOIN_KEY } from "../../core/keys/rights.ts";
import type { AdminAct, Authority } from "../../core/people/authority.ts";
import type { Actor } from "../../core/ports/audit.ts";
import { type DeletedServer, type ServerDraft, SlugTaken } from "../../core/ports/servers.ts";
import type { Store } from "../../core/ports/store.ts";
import type { NewServer, ServerChange } from "../../core/wire/server.ts";
import { diffFields } from "../keys/manage-keys.ts";
import type { CommandMeter } from "../meters.ts";

const UPSTREAM_CHANGED = "The game server was given to another game API while this waited.";
const NAME_TAKEN: FieldReason = { code: "name_taken", text: "belongs to another server already" };

/** Also when two operators ask for it at once. */
const SLUG_TAKEN = refuseField(
  "public_status",
  { code: "slug_taken", text: "has a slug that belongs to another server already" },
  ERRORS.conflict,
);

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
  const { name, server_key: serverKey } = request;
  if (await store.servers.findByName(name)) return refuseField("name", NAME_TAKEN);
  const plain = { ...DEFAULT_SERVER, name };
  const settings = { ...plain, ...toSettings(request) };
  const { community, watch, ...others } = describeSettings(settings);
  // Of the others only what is switched on.
  const after = { name, community, watch, ...diffFields(describeSettings(plain), others)?.after };
  const note = { at: now, action: "server.created", actor, details: { after } };
  const draft = { ...settings, serverKey, isSimulated: isSimulatorInUse };
  return refuseTakenSlug(() => store.servers.create(draft, now, note));
}

/** What an operator sets, as the admin API and the audit log name it. */
export function describeSettings({ publicStatus, ...server }: ServerSettings) {
  return {
    name: server.name,
    community: server.community,
    watch: server.isWatched,
    public_status: publicStatus && { slug: publicStatus.slug, show_join_key: publicStatus.showsJoinKey },
    owners_sign_in: server.ownersSignIn,
  };
}

/** Only the settings that a request has. */
function toSettings(request: ServerChange): Partial<ServerSettings> {
  const { name, community, watch, public_status: shown, owners_sign_in: ownersSignIn } = request;
  return {
    ...(name !== undefined && { name }),
    ...(community !== undefined && { community }),
    ...(watch !== undefined && { isWatched: watch }),
    ...(shown !== undefined && {
      publicStatus: shown && { slug: shown.slug, showsJoinKey: shown.show_join_key ?? false },
    }),
    ...(ownersSignIn !== undefined && { ownersSignIn }),
  };
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
  { actor, authority, now }: AdminAct,
): Promise<GameServer | Refusal> {
  const old = store.servers.find(serverId);
  if (!old) return NOT_FOUND;
  const forbidden = judgeChange(old, request, authority);
  if (forbidden) return forbidden;
  const { name, server_key: serverKey } = request;
  if (name !== undefined && name !== old.name && (await store.servers.findByName(name))) {
    return refuseField("name", NAME_TAKEN);
  }
  const isTakenOver = serverKey !== undefined && isParked(old, isSimulatorInUse);
  const change: Partial<ServerDraft> = {
    ...toSettings(request),
    ...(serverKey !== undefined && { serverKey }),
    ...(isTakenOver && { isSimulated: isSimulatorInUse }),
  };
  const changed = { ...old, ...change };
  const details = diffFields(
    { ...describeSettings(old), simulated: old.isSimulated },
    {
      ...describeSettings(changed),
      ...(serverKey !== undefined && { server_key: "set anew" }),
      simulated: changed.isSimulated,
    },
  );
  if (!details) return old;
  // They were meant for the other upstream. Nothing is accepted or sent before the update, because the server is parked.
  if (isTakenOver) commandMeter.count("failed", await store.commands.failWaiting(serverId, now, UPSTREAM_CHANGED));
  const note = { at: now, action: "server.changed", actor, details, serverId };
  return refuseTakenSlug(async () => (await store.servers.update(serverId, change, note)) ?? NOT_FOUND);
}

/** A role never sets more than name and public status, and never shows everybody a join key that it does not see itself. */
function judgeChange(
  { serverId, publicStatus }: GameServer,
  { name: _, public_status: shown, ...others }: ServerChange,
  authority: Authority,
): Refusal | undefined {
  if (authority.isOperator) return undefined;
  if (Object.keys(others).length > 0) return ROLE_FORBIDDEN;
  const isShowing = shown?.show_join_key === true && publicStatus?.showsJoinKey !== true;
  const isHidden = ((authority.findRights(serverId)?.hide ?? HIDES_JOIN_KEY) & HIDES_JOIN_KEY) !== 0;
  return isShowing && isHidden ? ROLE_FORBIDDEN : undefined;
}

export async function removeServer(
  store: Store,
  serverId: string,
  actor: Actor,
  now: number,
): Promise<DeletedServer | Refusal> {
  const old = store.servers.find(serverId);
  const details = old ? { before: { name: old.name, community: old.community } } : {};
  const note = { at: now, action: "server.deleted", actor, details, serverId };
  return (await store.servers.delete(serverId, now, note)) ?? NOT_FOUND;
}
