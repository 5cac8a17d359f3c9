// Fills the ledger of one server with as many events as wanted: some through the archive itself, the rest as copies of
// their rows with later numbers, which is a hundred times as fast.

import { SQL } from "bun";
import type { NewEvent } from "../src/core/events/new-event.ts";
import { NO_HISTORY } from "../src/core/history/history.ts";
import type { Archive, LedgerRecord } from "../src/core/ports/archive.ts";
import { createArchive } from "../src/database/archive/archive.ts";
import { openArchiveFile } from "../src/database/archive/open-archive-file.ts";
import { SqliteDriver } from "../src/database/sqlite.ts";

export const LEDGER_SERVER = "srv_ledger";
/** So many events are recorded by the archive; the others are copies of them. */
export const RECORDED = 5_000;
/** One event of so many is of a rare type. */
export const RARE_ONE_IN = 1_000;
export const PLAYERS = 200;
const BATCH = 1_000;
const FIRST_AT = 1_790_000_000_000;

/** `events` must be a multiple of RECORDED. */
export async function fillSqliteLedger(path: string, events: number): Promise<void> {
  const db = openArchiveFile(path);
  // Only for the filling: a file that is lost in a crash is filled again.
  db.exec("PRAGMA synchronous = OFF");
  db.exec("PRAGMA cache_size = -262144");
  const archive = createArchive(new SqliteDriver(db));
  for (const record of listRecords()) await archive.record([record]);
  for (const copy of writeCopies("", events)) db.exec(copy);
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}

/** `archive` must be that of the address. */
export async function fillPostgresLedger(archive: Archive, url: string, events: number): Promise<void> {
  for (const record of listRecords()) await archive.record([record]);
  const sql = new SQL(url, { max: 1 });
  for (const copy of writeCopies("gatehouse.", events)) await sql.unsafe(copy);
  // The server's autovacuum does the same, some time later.
  for (const table of ["events", "event_players", "ledgers"]) await sql.unsafe(`VACUUM ANALYZE gatehouse.${table}`);
  await sql.close();
}

function* listRecords(): Generator<LedgerRecord> {
  for (let first = 0; first < RECORDED; first += BATCH) {
    yield {
      serverId: LEDGER_SERVER,
      version: first / BATCH,
      events: Array.from({ length: BATCH }, (_, index) => makeBenchEvent(first + index)),
      memory: [],
      history: NO_HISTORY,
      stillShown: [],
      now: FIRST_AT,
    };
  }
}

/** The statements that copy what was recorded until there are so many events. The marks are copied too. */
function writeCopies(prefix: string, events: number): string[] {
  const statements: string[] = [];
  for (let have = RECORDED; have < events; ) {
    const count = Math.min(have, events - have);
    const copied = `WHERE number <= ${count} ORDER BY number`;
    statements.push(
      `INSERT INTO ${prefix}events (ledger, number, mark, kind, at, seen_at, source, is_backfill, data, meta)
       SELECT ledger, number + ${have}, mark, kind, at, seen_at, source, is_backfill, data, meta
       FROM ${prefix}events ${copied}`,
      `INSERT INTO ${prefix}event_players (ledger, player, number)
       SELECT ledger, player, number + ${have} FROM ${prefix}event_players ${copied}`,
    );
    have += count;
  }
  // A multiple of what was recorded ends with a copy of the last event, so the mark of the ledger stays.
  return [...statements, `UPDATE ${prefix}ledgers SET last_number = ${events}`];
}

function makeBenchEvent(index: number): NewEvent {
  const at = FIRST_AT + index * 1_000;
  const shared = { at, seenAt: at + 2_000, isBackfill: false, meta: null, section: null };
  const [player, other] = [nameOf(index), nameOf(index * 7 + 1)];
  const Timestamp = at / 1_000;
  const log = { ...shared, source: "log", identity: `identity-${index}` } as const;
  if (index % RARE_ONE_IN === RARE_ONE_IN - 1) {
    const data = { Caller: player, Moderator: null, Timestamp };
    return { ...log, type: "modcall.opened", data: JSON.stringify(data), players: [idOf(player)] };
  }
  if (index % 5 === 0) {
    const data = { Killed: player, Killer: other, Timestamp };
    return {
      ...log,
      type: "player.killed",
      data: JSON.stringify(data),
      players: [...new Set([idOf(player), idOf(other)])],
    };
  }
  if (index % 5 === 1) {
    const data = { Player: player, Command: ":pm all Server restarts in five minutes", Timestamp };
    return { ...log, type: "command.used", data: JSON.stringify(data), players: [idOf(player)] };
  }
  if (index % 5 === 2) {
    const data = { Texture: null, Name: "2019 Falcon Interceptor Utility", Owner: player, Colour: "Navy" };
    return {
      ...shared,
      source: "diff",
      identity: null,
      type: "vehicle.spawned",
      data: JSON.stringify(data),
      players: [idOf(player)],
    };
  }
  const isJoin = index % 5 === 3;
  return {
    ...log,
    type: isJoin ? "player.joined" : "player.left",
    data: JSON.stringify({ Join: isJoin, Player: player, Timestamp }),
    players: [idOf(player)],
  };
}

function nameOf(index: number): string {
  const place = (index * 31) % PLAYERS;
  return `PlayerNumber${place}:${1_000_000_000 + place}`;
}

function idOf(player: string): string {
  return player.slice(player.indexOf(":") + 1);
}
