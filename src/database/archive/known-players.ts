// Everybody who was ever seen on a server: added to with each record, found by name or id, and built once for ledgers that are
// older than this.
import { toEventKind } from "../../core/events/event-types.ts";
import { FORGOTTEN_ID } from "../../core/events/forget-player.ts";
import type { NewEvent } from "../../core/events/new-event.ts";
import {
  type CurrentSession,
  compareIds,
  isVouchedFor,
  listCurrentSessions,
} from "../../core/history/answer-sessions.ts";
import type { HistoryChange } from "../../core/history/history.ts";
import {
  addSighting,
  foldName,
  joinNames,
  KNOWN_PLAYERS_MAX,
  type KnownPlayer,
  listSightings,
  matchesQuery,
  type Sighting,
  writeSearch,
} from "../../core/players/known-players.ts";
import type { OpenHistory } from "../../core/ports/history.ts";
import type { FoundPlayer, PlayerSearch } from "../../core/ports/players.ts";
import { asFields, type Sql, toStorable, type Value } from "../sql.ts";
import { readOpenHistory } from "./history-questions.ts";
import { parseStays, type SpanRow, type StaySessionRow } from "./history-rows.ts";
import { findLedger, type LedgerRow } from "./ledger-rows.ts";
import { KNOWN_PLAYERS } from "./migrations.ts";

const KILLED = toEventKind("player.killed");

type KnownRow = Omit<KnownPlayer, "names" | "teamMs"> & { readonly names: string; readonly teams: string };
const COLUMNS = "player, names, first_seen_at, last_seen_at, ms, sessions, kills, deaths, teams";

/** Adds what a record tells of players. `events` are those that are new. Returns how many players are new. */
export async function addKnown(
  sql: Sql,
  ledger: number,
  events: readonly NewEvent[],
  history: HistoryChange,
): Promise<number> {
  const sightings = listSightings(events, history);
  if (sightings.length === 0) return 0;
  const players = sightings.map(({ player }) => player);
  const known = new Map((await findKnown(sql, ledger, players)).map((one) => [one.player, one]));
  await write(
    sql,
    ledger,
    sightings.map((sighting) => addSighting(known.get(sighting.player), sighting)),
  );
  return sightings.length - known.size;
}

export async function searchPlayers(sql: Sql, search: PlayerSearch): Promise<FoundPlayer[]> {
  const { serverId, query, isHere, after, limit, now } = search;
  const ledger = (await findLedger(sql, serverId))?.ledger ?? 0;
  const open = await readOpenHistory(sql, serverId);
  const current = await listOpen(sql, ledger, open, now);
  const present = current.filter(({ player, names, current: session, ...one }) => {
    if (isHere !== undefined && one.isHere !== isHere) return false;
    const isAfter = !after || (after.isOpen && compareOpen(session?.joinedAt ?? 0, player, after.at, after.player) > 0);
    return isAfter && matchesQuery(query, player, names);
  });
  if (present.length >= limit || isHere === true) return present.slice(0, limit);
  const place = after && !after.isOpen ? after : undefined;
  const others = await searchRows(sql, ledger, query, [...open.sessions.keys()], place, limit - present.length);
  return [...present, ...others.map((known) => ({ ...known, current: undefined, isHere: false }))];
}

/** Whether the player has a row, or an open session. */
export async function isKnownPlayer(sql: Sql, serverId: string, ledger: number, player: string): Promise<boolean> {
  if (player === FORGOTTEN_ID) return false;
  if ((await findKnown(sql, ledger, [player])).length > 0) return true;
  return (await readOpenHistory(sql, serverId)).sessions.has(player);
}

/** Deletes those who were seen longest ago when there are too many, and who have no notes. Returns how many. */
export async function pruneKnown(sql: Sql, { ledger, known_count }: LedgerRow, limit: number): Promise<number> {
  const excess = Math.min(limit, known_count - KNOWN_PLAYERS_MAX);
  if (excess <= 0) return 0;
  const oldest = await sql.all<{ player: string }>(
    `SELECT player FROM known_players k WHERE ledger = ?1
       AND NOT EXISTS (SELECT 1 FROM notes n WHERE n.ledger = k.ledger AND n.player = k.player)
     ORDER BY last_seen_at LIMIT ?2`,
    ...[ledger, excess],
  );
  return deleteKnown(
    sql,
    ledger,
    oldest.map(({ player }) => player),
  );
}

/** Adds some of the players that history and ledger tell of, with all that they tell. Returns how many. */
export async function buildKnown(sql: Sql, { ledger, known_from }: LedgerRow, limit: number): Promise<number> {
  if (known_from === null) return 0;
  const named = await sql.all<{ player: string; name: string }>(
    "SELECT player, name FROM player_names WHERE ledger = ?1 AND player > ?2 ORDER BY player LIMIT ?3",
    ...[ledger, known_from, limit],
  );
  const players = named.map(({ player }) => player).filter((player) => player !== FORGOTTEN_ID);
  const told = await readSightings(sql, ledger, players, new Map(named.map(({ player, name }) => [player, name])));
  const known = new Map((await findKnown(sql, ledger, players)).map((one) => [one.player, one]));
  // What was added meanwhile is in the history too, so it is replaced; only names may be missing there.
  const built = told.map((one) => ({ ...one, names: joinNames(known.get(one.player)?.names ?? [], one.names) }));
  await write(sql, ledger, built);
  await sql.run(
    "UPDATE ledgers SET known_from = ?2, known_count = known_count + ?3 WHERE ledger = ?1",
    ...[ledger, named.length < limit ? null : (named.at(-1)?.player ?? null), built.length - known.size],
  );
  return named.length;
}

/** Names of the player that only this table has. */
export async function findKnownNames(sql: Sql, ledger: number, player: string): Promise<readonly string[]> {
  return (await findKnown(sql, ledger, [player]))[0]?.names ?? [];
}

/** Deletes the player with all notes. */
export async function forgetKnown(sql: Sql, ledger: number, player: string): Promise<void> {
  await deleteKnown(sql, ledger, [player]);
  await sql.run("DELETE FROM command_targets WHERE ledger = ?1 AND player = ?2", ledger, player);
  await sql.run("DELETE FROM notes WHERE ledger = ?1 AND player = ?2", ledger, player);
}

async function deleteKnown(sql: Sql, ledger: number, players: readonly string[]): Promise<number> {
  const deleted = await sql.run(
    `DELETE FROM known_players WHERE ledger = ?1 AND ${sql.dialect.isAmong("player", "?2", "text")}`,
    ...[ledger, JSON.stringify(players)],
  );
  await sql.run("UPDATE ledgers SET known_count = known_count - ?2 WHERE ledger = ?1", ledger, deleted);
  return deleted;
}

/** Everybody with an open session, the one that began last first. */
async function listOpen(sql: Sql, ledger: number, open: OpenHistory, now: number): Promise<FoundPlayer[]> {
  const rows = await findKnown(sql, ledger, [...open.sessions.keys()]);
  const known = new Map(rows.map((one) => [one.player, one]));
  const found = listCurrentSessions(open, now)
    .filter(({ player }) => player !== FORGOTTEN_ID)
    .map((session) => joinSession(known.get(session.player), session, open, now));
  return found.toSorted((a, b) => compareOpen(a.current?.joinedAt ?? 0, a.player, b.current?.joinedAt ?? 0, b.player));
}

function compareOpen(joinedAt: number, player: string, otherAt: number, other: string): number {
  return otherAt - joinedAt || compareIds(player, other);
}

export function toFound(
  player: string,
  known: KnownPlayer | undefined,
  open: OpenHistory,
  now: number,
): FoundPlayer | undefined {
  const session = listCurrentSessions(open, now).find((one) => one.player === player);
  if (session) return joinSession(known, session, open, now);
  return known && { ...known, current: undefined, isHere: false };
}

function joinSession(
  known: KnownPlayer | undefined,
  current: CurrentSession,
  open: OpenHistory,
  now: number,
): FoundPlayer {
  const { player, name, joinedAt, until } = current;
  const begun = { player, names: [name], firstSeenAt: joinedAt, lastSeenAt: until, ...NO_SUMS };
  const isShown = open.sessions.get(player)?.absence === null;
  return { ...addSighting(known, begun), current, isHere: isShown && isVouchedFor(open, now) };
}

const NO_SUMS = { ms: 0, sessions: 0, kills: 0, deaths: 0, teamMs: {} };

/** Latest first. */
async function searchRows(
  sql: Sql,
  ledger: number,
  query: string,
  except: readonly string[],
  after: { readonly at: number; readonly player: string } | undefined,
  limit: number,
): Promise<KnownPlayer[]> {
  const { contains, indexedBy, isAmong } = sql.dialect;
  const values: Value[] = [ledger, limit];
  const conditions = ["ledger = ?1"];
  // The name first: nearly all rows end there.
  if (query !== "") {
    const part = contains("search", `?${values.push(toStorable(foldName(query)))}`);
    // The character after 9 ends the range of the ids that begin with these digits.
    const isId = /^[0-9]+$/.test(query);
    const ofId = isId ? `OR (player >= ?${values.push(query)} AND player < ?${values.push(`${query}:`)})` : "";
    conditions.push(`(${part} ${ofId})`);
  }
  if (except.length > 0)
    conditions.push(`NOT (${isAmong("player", `?${values.push(JSON.stringify(except))}`, "text")})`);
  if (after) conditions.push(`(last_seen_at, player) < (?${values.push(after.at)}, ?${values.push(after.player)})`);
  const found = await sql.all<{ player: string }>(
    `SELECT player FROM known_players ${indexedBy("known_players_by_time")} WHERE ${conditions.join(" AND ")}
     ORDER BY last_seen_at DESC, player DESC LIMIT ?2`,
    ...values,
  );
  const players = found.map(({ player }) => player);
  const known = new Map((await findKnown(sql, ledger, players)).map((one) => [one.player, one]));
  return players.flatMap((player) => known.get(player) ?? []);
}

export async function findKnown(sql: Sql, ledger: number, players: readonly string[]): Promise<KnownPlayer[]> {
  if (players.length === 0) return [];
  const rows = await sql.all<KnownRow>(
    `SELECT ${asFields(COLUMNS)} FROM known_players WHERE ledger = ?1 AND ${sql.dialect.isAmong("player", "?2", "text")}`,
    ...[ledger, JSON.stringify(players)],
  );
  return rows.map(({ names, teams, ...known }) => ({ ...known, names: JSON.parse(names), teamMs: JSON.parse(teams) }));
}

async function write(sql: Sql, ledger: number, players: readonly KnownPlayer[]): Promise<void> {
  const rows = players.map((known) => ({
    ledger,
    player: known.player,
    search: writeSearch(known.names),
    names: JSON.stringify(known.names),
    first_seen_at: Math.round(known.firstSeenAt),
    last_seen_at: Math.round(known.lastSeenAt),
    ms: Math.round(known.ms),
    sessions: known.sessions,
    kills: known.kills,
    deaths: known.deaths,
    teams: JSON.stringify(known.teamMs),
  }));
  const changed = ["search", ...COLUMNS.split(", ").slice(1)].map((column) => `${column} = excluded.${column}`);
  await sql.insertAll(KNOWN_PLAYERS, rows, `ON CONFLICT (ledger, player) DO UPDATE SET ${changed.join(", ")}`);
}

/** All that history and ledger tell of the players; undefined names are left out. */
async function readSightings(
  sql: Sql,
  ledger: number,
  players: readonly string[],
  names: ReadonlyMap<string, string>,
): Promise<Sighting[]> {
  const among = (column: string) => sql.dialect.isAmong(column, "?2", "text");
  const values = [ledger, JSON.stringify(players)];
  const sessions = await sql.all<StaySessionRow>(
    `SELECT player, joined_at, left_at, stays FROM sessions WHERE ledger = ?1 AND ${among("player")}`,
    ...values,
  );
  const kills = await sql.all<Pick<NewEvent, "at" | "data"> & SpanRow>(
    `SELECT DISTINCT number, at, data FROM event_players JOIN events USING (ledger, number)
     WHERE ledger = ?1 AND ${among("player")} AND kind = ?3`,
    ...[...values, KILLED],
  );
  const acts = await sql.all<{ player: string; first_at: number; last_at: number }>(
    `SELECT player, min(at) AS first_at, max(at) AS last_at FROM staff_acts WHERE ledger = ?1 AND ${among("player")}
     GROUP BY player`,
    ...values,
  );
  const told = listSightings(
    kills.map((kill) => ({ ...kill, type: "player.killed" }) as unknown as NewEvent),
    {
      seen: acts.flatMap(({ player, first_at, last_at }) => {
        const name = names.get(player) ?? "";
        return [first_at, last_at].map((at) => ({ player, name, at }));
      }),
      sessions: sessions.map(({ player, joined_at, left_at, stays }) => ({
        player,
        name: names.get(player) ?? "",
        joinedAt: joined_at,
        leftAt: left_at,
        ended: "gap",
        wasStaff: false,
        stays: parseStays(stays),
      })),
    },
  );
  const asked = new Set(players);
  return told.filter(({ player }) => asked.has(player));
}
