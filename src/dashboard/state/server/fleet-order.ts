// How each server is doing in one word, and their order: those that need somebody come first.
import { BAD_KEY_CODES } from "../../../core/readings/upstream-codes.ts";
import type { ServerResource } from "../../../core/wire/server.ts";
import { groupCalls, readGameList } from "../calls/mod-calls.ts";
import type { Condition, Reading } from "./server-poll.ts";

/** Worst first. `unknown`: nothing was read yet. `calls`: somebody waits for a moderator. */
export const STANDINGS = [
  "refused",
  "unreachable",
  "paused",
  "offline",
  "stale",
  "unknown",
  "calls",
  "full",
  "fine",
] as const;
export type Standing = (typeof STANDINGS)[number];

/** Null for what is not known. */
export type FleetCounts = {
  readonly players: number | null;
  readonly playersMax: number | null;
  readonly queue: number | null;
  readonly openModCalls: number | null;
  readonly openCalls: number | null;
};

export const NO_COUNTS: FleetCounts = {
  players: null,
  playersMax: null,
  queue: null,
  openModCalls: null,
  openCalls: null,
};

/** What the page knows about the server of a key. */
export type KeyReading = Pick<Reading, "error" | "state" | "dataAt" | "retryAt"> & {
  readonly condition: Condition;
  /** How many calls wait, as Gatehouse remembers them; otherwise the game's own list is counted. */
  readonly waiting?: number | undefined;
};

export type Ranked = Pick<FleetCounts, "openModCalls"> & {
  readonly standing: Standing;
  readonly name: string | undefined;
};

/** A watched server may miss so many readings before it is stale. */
const READINGS_MISSED_MAX = 3;
const STALE_MIN_MS = 60_000;

/** Nobody can read the server now. */
const UNREADABLE: ReadonlySet<Standing> = new Set<Standing>(["refused", "unreachable", "paused"]);

/** What was counted is from before. */
export function hasOldCounts({ standing }: Pick<Ranked, "standing">): boolean {
  return standing === "stale" || UNREADABLE.has(standing);
}

/** Sums over all servers: what is not known, or from before, counts as none. */
export function sumFleet(rows: readonly (Ranked & FleetCounts)[]) {
  const current = rows.filter((row) => !hasOldCounts(row));
  const sum = (countOf: (row: FleetCounts) => number | null) => {
    return current.reduce((total, row) => total + (countOf(row) ?? 0), 0);
  };
  return {
    unreadable: rows.filter(({ standing }) => UNREADABLE.has(standing)).length,
    players: sum((row) => row.players),
    playersMax: sum((row) => row.playersMax),
    queue: sum((row) => row.queue),
    openModCalls: sum((row) => row.openModCalls),
    openCalls: sum((row) => row.openCalls),
  };
}

/** The worst first, of equals those with more calls for a moderator. */
export function orderFleet<T extends Ranked>(rows: readonly T[], language: string): T[] {
  const { compare } = new Intl.Collator(language, { numeric: true });
  const rankOf = ({ standing }: Ranked) => STANDINGS.indexOf(standing);
  const callsOf = ({ openModCalls }: Ranked) => openModCalls ?? 0;
  return rows.toSorted(
    (a, b) => rankOf(a) - rankOf(b) || callsOf(b) - callsOf(a) || compare(a.name ?? "", b.name ?? ""),
  );
}

/** For an operator. */
export function judgeServer(server: ServerResource, now: number): Standing {
  const { state, watching, last_read_at: readAt } = server;
  if (state === "key_refused") return "refused";
  if (state === "unreachable") return "unreachable";
  if (state === "parked" || watching.state === "paused") return "paused";
  if (state === "offline") return "offline";
  if (readAt === null) return "unknown";
  const staleAfterMs = Math.max(STALE_MIN_MS, READINGS_MISSED_MAX * (watching.interval_ms ?? 0));
  return now - readAt > staleAfterMs ? "stale" : judgeCounts(countServer(server));
}

/** For the holder of a key. */
export function judgeReading(reading: KeyReading, now: number, staleAfterMs: number): Standing {
  const { condition, error, state, dataAt } = reading;
  if (condition === "refused") return "refused";
  if (condition === "game-error") {
    return BAD_KEY_CODES.has(error?.upstreamCode ?? 0) ? "refused" : "unreachable";
  }
  if (condition === "unreachable") return "unreachable";
  if (condition === "limited" || condition === "blocked") return "paused";
  if (condition === "offline") return "offline";
  if (!state || dataAt === undefined) return "unknown";
  return now - dataAt > staleAfterMs ? "stale" : judgeCounts(countReading(reading, now));
}

function judgeCounts({ players, playersMax, openModCalls }: FleetCounts): Standing {
  if (openModCalls !== null && openModCalls > 0) return "calls";
  return players !== null && playersMax !== null && playersMax > 0 && players >= playersMax ? "full" : "fine";
}

export function countServer(server: ServerResource): FleetCounts {
  return {
    players: server.players,
    playersMax: server.max_players,
    queue: server.queue,
    openModCalls: server.open_modcalls,
    openCalls: server.open_calls,
  };
}

/** Sections that the key may not read are not known. */
export function countReading({ state, waiting }: Pick<KeyReading, "state" | "waiting">, now: number): FleetCounts {
  if (!state) return NO_COUNTS;
  const listed = state.ModCalls && groupCalls(readGameList(state.ModCalls, state.Players, now), now).waiting;
  return {
    players: state.CurrentPlayers,
    playersMax: state.MaxPlayers,
    queue: state.Queue?.length ?? null,
    openModCalls: waiting ?? listed ?? null,
    openCalls: state.EmergencyCalls?.length ?? null,
  };
}
