// Reads commands, one by its id or pages of them.
import type { Command, Sender } from "../../core/commands/command.ts";
import type { CommandFilter, Receipt } from "../../core/ports/commands.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import { asFields, type Sql, type Value } from "../sql.ts";
import { toCursor, toPage, toSeq } from "./rows.ts";

/** How many commands are looked through for a page of those with a status. */
const SCAN_MAX = 10_000;

/** As it is stored. */
export type StoredCommand = Omit<Command, "sentBy" | "position"> & {
  readonly seq: number;
  readonly sentBy: string | null;
  readonly idempotencyKey: string | null;
  readonly acceptedPosition: number;
};
export const COMMAND_FIELDS = `command AS text, ${asFields(
  "seq, command_id, server_id, key_id, status, idempotency_key, accepted_position, queued_at, sent_at, finished_at, " +
    "confirmed_at, upstream_code, upstream_message, sent_by",
)}`;

type PositionedCommand = StoredCommand & { readonly position: number | null };

/** The position in the queue of a row of `commands`; null when the command does not wait. */
const POSITION = `CASE WHEN commands.status = 'queued' THEN (
  SELECT count(*) FROM commands AS ahead
  WHERE ahead.server_id = commands.server_id AND ahead.status = 'queued' AND ahead.seq <= commands.seq
) END AS position`;

export function toCommand(stored: PositionedCommand): Command {
  const { seq: _, idempotencyKey: __, acceptedPosition: ___, ...command } = stored;
  return { ...command, sentBy: toSender(stored) };
}

export function toSender({ sentBy, keyId }: Pick<StoredCommand, "sentBy" | "keyId">): Sender {
  return sentBy === null ? { kind: "key", id: keyId, name: "" } : (JSON.parse(sentBy) as Sender);
}

/** The columns of what `toReceipt` needs. */
export const RECEIPT_FIELDS = asFields("command_id, accepted_position, queued_at");
export type StoredReceipt = Pick<StoredCommand, "commandId" | "acceptedPosition" | "queuedAt">;

export function toReceipt({ commandId, acceptedPosition, queuedAt }: StoredReceipt): Receipt {
  return { commandId, position: acceptedPosition, queuedAt };
}

export async function findCommand(sql: Sql, commandId: string): Promise<Command | undefined> {
  const query = `SELECT ${COMMAND_FIELDS}, ${POSITION} FROM commands WHERE command_id = ?1`;
  const row = await sql.get<PositionedCommand>(query, commandId);
  return row && toCommand(row);
}

/** Newest first. */
export async function listCommands(
  sql: Sql,
  { limit, cursor, serverId, serverIds, keyId, status }: PageRequest & CommandFilter,
): Promise<Page<Command>> {
  const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : toSeq(cursor);
  const scan = findScan({ serverId, keyId, status });
  const values: Value[] = [before];
  // Only the conditions that are needed, because SQLite would not use the indexes with optional ones.
  const equals = (column: string, value: Value | undefined): string => {
    if (value === undefined) return "";
    const parameter = `?${values.push(value)}`;
    return `AND ${column === scan?.column ? `${column} BETWEEN ${parameter} AND` : `${column} =`} ${parameter}`;
  };
  const scanned = `FROM commands ${scan ? sql.dialect.indexedBy(scan.index) : ""}
    WHERE seq < ?1 ${equals("key_id", keyId)} ${equals("server_id", serverId)}`;
  const order = `ORDER BY ${scan ? `${scan.column} DESC,` : ""} seq DESC`;
  const isIndexed = serverIds === undefined && (status === undefined || scan?.column === "status");
  const scanEnd = isIndexed ? undefined : await findScanEnd(sql, `${scanned} ${order}`, values);
  const among =
    serverIds && `AND ${sql.dialect.isAmong("server_id", `?${values.push(JSON.stringify(serverIds))}`, "text")}`;
  const filter = `${among ?? ""} ${equals("status", status)} ${scanEnd === undefined ? "" : `AND seq >= ?${values.push(scanEnd)}`}`;
  const rows = await sql.all<PositionedCommand>(
    `SELECT ${COMMAND_FIELDS}, ${POSITION} ${scanned} ${filter} ${order} LIMIT ?${values.push(limit + 1)}`,
    ...values,
  );
  const page = toPage(rows, limit, toCommand);
  return page.next === null && scanEnd !== undefined ? { ...page, next: toCursor(scanEnd) } : page;
}

/**
 * The index that has the rows in the order of the list, and its column before `seq`. Queries name that column with BETWEEN and
 * in ORDER BY: else PostgreSQL may read all commands in the order of `seq` until it has found enough.
 */
function findScan({ serverId, keyId, status }: CommandFilter): { index: string; column: string } | undefined {
  if (keyId !== undefined) return { index: "commands_of_key", column: "key_id" };
  if (serverId === undefined) return undefined;
  return status === undefined
    ? { index: "commands_of_server", column: "server_id" }
    : { index: "commands_by_status", column: "status" };
}

/** The number of the last of SCAN_MAX commands; undefined when there are fewer. */
async function findScanEnd(sql: Sql, scanned: string, values: readonly Value[]): Promise<number | undefined> {
  const row = await sql.get<{ seq: number }>(`SELECT seq ${scanned} LIMIT 1 OFFSET ${SCAN_MAX - 1}`, ...values);
  return row?.seq;
}
