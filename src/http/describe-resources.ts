// Turns what the stores know into the resources of the wire. The compiler checks each against its schema in core/wire.
import type { Command } from "../core/command.ts";
import type { GameServer } from "../core/game-server.ts";
import type { AuditEntry } from "../core/ports/audit.ts";
import type { DeletedServer } from "../core/ports/servers.ts";
import type { UsageCount } from "../core/ports/usage.ts";
import type { AuditEntryResource } from "../core/wire/audit.ts";
import type { CommandResource, OwnedCommandResource } from "../core/wire/command.ts";
import type { UsageResource } from "../core/wire/key.ts";
import type { DeletedServerResource, ServerResource, WatchingResource } from "../core/wire/server.ts";
import type { Relay } from "../gateway/readings/relay.ts";
import { describePublicStatus } from "../gateway/servers/manage-servers.ts";

export function describeServer(
  server: GameServer,
  summary: ReturnType<Relay["summarize"]>,
  watching: WatchingResource,
): ServerResource {
  const { serverId, name, community, createdAt, isSimulated, isWatched, publicStatus } = server;
  const { state, counts, lastReadAt, lastError } = summary;
  return {
    server_id: serverId,
    name,
    community,
    created_at: createdAt,
    simulated: isSimulated,
    watch: isWatched,
    public_status: describePublicStatus(publicStatus),
    state,
    players: counts.players,
    max_players: counts.playersMax,
    queue: counts.queue,
    open_modcalls: counts.openModCalls,
    open_calls: counts.openCalls,
    last_read_at: lastReadAt,
    last_error: lastError && {
      at: lastError.at,
      upstream_code: lastError.failure.code,
      upstream_message: lastError.failure.message,
    },
    watching,
  };
}

export function describeDeletedServer({ revokedKeys, failedCommands }: DeletedServer): DeletedServerResource {
  return { revoked_keys: revokedKeys, failed_commands: failedCommands };
}

export function describeAuditEntry({
  id,
  at,
  action,
  actor,
  target,
  details,
}: AuditEntry): AuditEntryResource {
  return { id, at, action, actor, target, details };
}

/** As a caller sees it. `labels` has the label of the key that sent it. */
export function describeCommand(command: Command, labels: ReadonlyMap<string, string>): CommandResource {
  return {
    command_id: command.commandId,
    key_id: command.keyId,
    key_label: labels.get(command.keyId) ?? null,
    command: command.text,
    status: command.status,
    position: command.position,
    queued_at: command.queuedAt,
    sent_at: command.sentAt,
    finished_at: command.finishedAt,
    confirmed_at: command.confirmedAt,
    upstream_code: command.upstreamCode,
    upstream_message: command.upstreamMessage,
  };
}

/** As an operator sees it: with its server. */
export function describeOwnedCommand(
  command: Command,
  labels: ReadonlyMap<string, string>,
): OwnedCommandResource {
  const { command_id, ...rest } = describeCommand(command, labels);
  return { command_id, server_id: command.serverId, ...rest };
}

/** The totals, and each hour with requests, oldest first. */
export function describeUsage(counts: readonly UsageCount[]): UsageResource {
  const hours = new Map<number, UsageCount[]>();
  for (const count of counts) {
    const hour = hours.get(count.hour);
    if (hour) hour.push(count);
    else hours.set(count.hour, [count]);
  }
  return {
    ...sumUp(counts),
    hours: Array.from(hours, ([hour, ofHour]) => ({ hour, ...sumUp(ofHour) })),
  };
}

function sumUp(counts: readonly UsageCount[]): Pick<UsageResource, "requests" | "refusals"> {
  let requests = 0;
  const refusals: Record<string, number> = {};
  for (const { code, count } of counts) {
    requests += count;
    if (code !== 0) refusals[code] = (refusals[code] ?? 0) + count;
  }
  return { requests, refusals };
}
