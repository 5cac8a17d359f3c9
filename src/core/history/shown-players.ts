// What one reading shows of the players: who is there, in which team, and how many.
import { type Element, playerIdOf } from "../events/elements.ts";
import { FORGOTTEN_ID } from "../events/forget-player.ts";
import { elementsOf, type GameReading } from "../events/reading.ts";
import type { CountNow } from "./counts.ts";
import { TEAMS_MAX } from "./join-counts.ts";

export type ShownPlayer = {
  readonly name: string;
  /** Null when the game does not tell it. */
  readonly team: string | null;
  /** Has a permission above Normal. */
  readonly isStaff: boolean;
};

/** By id. */
export type ShownPlayers = ReadonlyMap<string, ShownPlayer>;

/** The permission of everybody who is no staff. */
const NO_STAFF = "Normal";

/** Undefined when the reading did not have them. */
export function readPlayers(reading: GameReading): ShownPlayers | undefined {
  const elements = elementsOf(reading, "Players");
  if (!elements) return undefined;
  const players = new Map<string, ShownPlayer>();
  for (const element of elements) {
    const id = findPlayerId(element.Player);
    if (id !== undefined && !players.has(id)) players.set(id, readPlayer(element));
  }
  return players;
}

/** The id that tells a player apart; undefined for one that is nobody's. */
export function findPlayerId(reference: unknown): string | undefined {
  const id = playerIdOf(reference);
  return id === FORGOTTEN_ID ? undefined : id;
}

/** The name in `Name:id`. */
export function nameOf(reference: unknown): string {
  return typeof reference === "string" ? reference.slice(0, Math.max(0, reference.lastIndexOf(":"))) : "";
}

/** Undefined when the reading does not tell how many players there are. */
export function countShown(reading: GameReading, players: ShownPlayers | undefined): CountNow | undefined {
  const told = reading.settings?.CurrentPlayers;
  const isTold = typeof told === "number" && Number.isSafeInteger(told) && told >= 0;
  const count = isTold ? told : players?.size;
  if (count === undefined) return undefined;
  const queue = reading.sections.Queue;
  return {
    players: count,
    queue: Array.isArray(queue) ? queue.length : null,
    staff: players ? countStaff(players) : null,
    teams: players ? countTeams(players) : null,
  };
}

function readPlayer({ Player, Team, Permission }: Element): ShownPlayer {
  return {
    name: nameOf(Player),
    team: typeof Team === "string" && Team !== "" ? Team : null,
    isStaff: typeof Permission === "string" && Permission !== "" && Permission !== NO_STAFF,
  };
}

function countStaff(players: ShownPlayers): number {
  let count = 0;
  for (const { isStaff } of players.values()) if (isStaff) count++;
  return count;
}

function countTeams(players: ShownPlayers): Record<string, number> {
  // A map, because a team can have the name of something that every object has.
  const teams = new Map<string, number>();
  for (const { team } of players.values()) {
    if (team === null) continue;
    const count = teams.get(team);
    if (count !== undefined || teams.size < TEAMS_MAX) teams.set(team, (count ?? 0) + 1);
  }
  return Object.fromEntries(teams);
}
