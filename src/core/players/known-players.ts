// What is known of everybody who was ever seen on a server: names, times, kills. It is added to with every record, so that
// questions need not look through sessions and events. Pure.
import { FORGOTTEN_ID } from "../events/forget-player.ts";
import type { NewEvent } from "../events/new-event.ts";
import { foldCase } from "../fold-case.ts";
import type { HistoryChange } from "../history/history.ts";
import type { Stay } from "../history/sessions.ts";
import { findPlayerId, nameOf } from "../history/shown-players.ts";

/** More players of one server are not kept; those who were seen longest ago go first. */
export const KNOWN_PLAYERS_MAX = 1_000_000;
/** What is longer is cut: no name of the game is. */
const NAME_LENGTH_MAX = 100;
/** The names of one player that can be found; older ones are dropped. */
export const KEPT_NAMES_MAX = 50;
/** All names as they are searched, in UTF-8: PostgreSQL refuses index entries of 2,700 bytes. */
const SEARCH_BYTES_MAX = 2_000;
const NAME_SEPARATOR = "\n";

export type KnownPlayer = {
  readonly player: string;
  /** Newest first. */
  readonly names: readonly string[];
  readonly firstSeenAt: number;
  /** As of the last session that began or ended; of an open session nobody has written yet how long it lasts. */
  readonly lastSeenAt: number;
  /** In sessions that have ended. */
  readonly ms: number;
  /** Those that have ended. */
  readonly sessions: number;
  readonly kills: number;
  readonly deaths: number;
  readonly teamMs: Readonly<Record<string, number>>;
};

/** What a record adds to one player. */
export type Sighting = KnownPlayer;

/** One for each player that the record tells of. `events` are those that are new. */
export function listSightings(
  events: readonly NewEvent[],
  { seen, sessions }: Pick<HistoryChange, "seen" | "sessions">,
): Sighting[] {
  const found = new Map<string, Sighting>();
  const add = (player: string, name: string, from: number, to: number, more: Partial<Sighting> = {}) => {
    const names = name === "" ? [] : [name];
    const sighting = { ...NOTHING_SEEN, player, names, firstSeenAt: from, lastSeenAt: to, ...more };
    found.set(player, addSighting(found.get(player), sighting));
  };
  for (const { player, name, at } of seen) add(player, name, at, at);
  for (const { player, name, joinedAt, leftAt, stays } of sessions)
    add(player, name, joinedAt, leftAt, { ms: leftAt - joinedAt, sessions: 1, teamMs: sumTeams(stays) });
  for (const { type, at, data } of events) {
    if (type !== "player.killed") continue;
    const { Killed, Killer } = JSON.parse(data) as { Killed?: unknown; Killer?: unknown };
    const [killed, killer] = [findPlayerId(Killed), findPlayerId(Killer)];
    if (killed !== undefined) add(killed, nameOf(Killed), at, at, { deaths: 1 });
    if (killer !== undefined && killer !== killed) add(killer, nameOf(Killer), at, at, { kills: 1 });
  }
  found.delete(FORGOTTEN_ID);
  return [...found.values()];
}

export function addSighting(known: KnownPlayer | undefined, added: Sighting): KnownPlayer {
  if (!known) return { ...added, names: joinNames(added.names, []) };
  const isNewer = added.lastSeenAt >= known.lastSeenAt;
  return {
    player: known.player,
    names: isNewer ? joinNames(added.names, known.names) : joinNames(known.names, added.names),
    firstSeenAt: Math.min(known.firstSeenAt, added.firstSeenAt),
    lastSeenAt: Math.max(known.lastSeenAt, added.lastSeenAt),
    ms: known.ms + added.ms,
    sessions: known.sessions + added.sessions,
    kills: known.kills + added.kills,
    deaths: known.deaths + added.deaths,
    teamMs: addTeams(known.teamMs, added.teamMs),
  };
}

/** The names as one text that a part of any of them can be found in, as a database can store it. */
export function writeSearch(names: readonly string[]): string {
  const text = foldName(names.join(NAME_SEPARATOR)).toWellFormed().replaceAll("\0", "\ufffd");
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(SEARCH_BYTES_MAX)).read);
}

/** Without case and spelling variants, so that a name is found however it is typed. */
export function foldName(text: string): string {
  return foldCase(text.normalize("NFKC"));
}

export function matchesQuery(query: string, player: string, names: readonly string[]): boolean {
  return player.startsWith(query) || writeSearch(names).includes(foldName(query));
}

const NOTHING_SEEN = { ms: 0, sessions: 0, kills: 0, deaths: 0, teamMs: {} };

/** The first ones first, each once. */
export function joinNames(first: readonly string[], second: readonly string[]): string[] {
  const cut = [...first, ...second].map((name) => name.slice(0, NAME_LENGTH_MAX).toWellFormed());
  return [...new Set(cut)].slice(0, KEPT_NAMES_MAX);
}

function sumTeams(stays: readonly Stay[]): Record<string, number> {
  return stays.reduce<Record<string, number>>((sum, { team, from, to }) => addTeams(sum, { [team]: to - from }), {});
}

/** Teams are the game's, a handful; more than these are not kept, so that a hostile one cannot grow the row. */
const TEAMS_MAX = 50;

function addTeams(
  first: Readonly<Record<string, number>>,
  second: Readonly<Record<string, number>>,
): Record<string, number> {
  // A map, because a team can have the name of something that every object has.
  const sum = new Map(Object.entries(first));
  for (const [team, ms] of Object.entries(second)) {
    const before = sum.get(team);
    if (before !== undefined || sum.size < TEAMS_MAX) sum.set(team, (before ?? 0) + ms);
  }
  return Object.fromEntries(sum);
}
