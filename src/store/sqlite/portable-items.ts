// Reads and writes the items of a migration between stores.
import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { Block } from "../../core/ports/limits.ts";
import type { KeptDevice, KeptToken, PortableItem, WaitingCommand } from "../../core/ports/portable-store.ts";
import type { Sealer } from "../sealer.ts";
import { type KeyRow, type ServerRow, toGameServer, toKeyDetails } from "./rows.ts";

export function* readItems(db: Database, sealer: Sealer, now: number): Generator<PortableItem> {
  const servers = db.query<ServerRow & { server_key: Uint8Array }, []>("SELECT * FROM servers ORDER BY seq");
  for (const row of servers.all()) {
    const serverKey = sealer.open(row.server_key, row.server_id);
    yield { kind: "server", server: toGameServer(row), serverKey };
  }
  const tokens = db.query<KeptToken, [string]>(
    "SELECT token_hash AS tokenHash, valid_until AS validUntil FROM tokens WHERE key_id = ? ORDER BY token_hash",
  );
  const devices = db.query<KeptDevice, [string, number]>(
    `SELECT device_id AS deviceId, secret_hash AS secretHash, description, created_at AS createdAt,
            last_used_at AS lastUsedAt, expires_at AS expiresAt
     FROM devices WHERE key_id = ? AND expires_at > ? ORDER BY device_id`,
  );
  for (const row of db.query<KeyRow, []>("SELECT * FROM key_details ORDER BY seq").all()) {
    const { key_id: keyId } = row;
    const key = toKeyDetails(row);
    yield { kind: "key", key, tokens: tokens.all(keyId), devices: devices.all(keyId, now) };
  }
  const blocks = db.query<Block, [number]>(
    "SELECT key_id AS keyId, blocked_until AS blockedUntil FROM blocks WHERE blocked_until > ? ORDER BY key_id",
  );
  for (const block of blocks.all(now)) yield { kind: "block", block };
  const commands = db.query<Omit<WaitingCommand, "idempotencyKey"> & { idempotencyKey: string | null }, []>(
    `SELECT command_id AS commandId, server_id AS serverId, key_id AS keyId, command AS text,
            idempotency_key AS idempotencyKey, queued_at AS queuedAt
     FROM commands WHERE status = 'queued' ORDER BY server_id, seq`,
  );
  for (const { idempotencyKey, ...command } of commands.all()) {
    yield { kind: "command", command: { ...command, idempotencyKey: idempotencyKey ?? undefined } };
  }
}

/** Must run inside a transaction. */
export function writeItem(db: Database, sealer: Sealer, item: PortableItem): void {
  const insert = (table: string, row: Record<string, SQLQueryBindings>) => {
    const names = Object.keys(row);
    const places = names.map(() => "?").join(", ");
    db.query(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${places})`).run(...Object.values(row));
  };
  if (item.kind === "server") {
    const { serverId, name, community, createdAt, keyRevision, isSimulated, isWatched } = item.server;
    const { publicStatus } = item.server;
    insert("servers", {
      server_id: serverId,
      name,
      community,
      server_key: sealer.seal(item.serverKey, serverId),
      key_revision: keyRevision,
      created_at: createdAt,
      simulated: isSimulated ? 1 : 0,
      watch: isWatched ? 1 : 0,
      status_slug: publicStatus?.slug ?? null,
      status_join_key: publicStatus?.showsJoinKey ? 1 : 0,
    });
  } else if (item.kind === "key") {
    const { key } = item;
    insert("keys", {
      key_id: key.keyId,
      server_id: key.serverId,
      label: key.label,
      versions: JSON.stringify(key.versions),
      sections: key.sections,
      commands: JSON.stringify(key.commands),
      ip_allow: JSON.stringify(key.ipAllow),
      expires_at: key.expiresAt,
      suspended: key.isSuspended ? 1 : 0,
      created_at: key.createdAt,
      revoked_at: key.revokedAt,
    });
    if (key.lastUsedAt !== null) insert("last_uses", { key_id: key.keyId, last_used_at: key.lastUsedAt });
    for (const { tokenHash, validUntil } of item.tokens) {
      insert("tokens", { token_hash: tokenHash, key_id: key.keyId, valid_until: validUntil });
    }
    for (const device of item.devices) {
      insert("devices", {
        device_id: device.deviceId,
        key_id: key.keyId,
        secret_hash: device.secretHash,
        description: device.description,
        created_at: device.createdAt,
        last_used_at: device.lastUsedAt,
        expires_at: device.expiresAt,
      });
    }
  } else if (item.kind === "block") {
    insert("blocks", { key_id: item.block.keyId, blocked_until: item.block.blockedUntil });
  } else {
    const { commandId, serverId, keyId, text, idempotencyKey, queuedAt } = item.command;
    const query = "SELECT count(*) AS count FROM commands WHERE server_id = ? AND status = 'queued'";
    const ahead = db.query<{ count: number }, [string]>(query).get(serverId);
    insert("commands", {
      command_id: commandId,
      server_id: serverId,
      key_id: keyId,
      command: text,
      status: "queued",
      idempotency_key: idempotencyKey ?? null,
      accepted_position: (ahead?.count ?? 0) + 1,
      queued_at: queuedAt,
    });
  }
}
