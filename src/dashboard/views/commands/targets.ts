// Whom a target of a command means. The game takes an id, the beginning of a name in any case, and words for groups.
import type { PlayerRef } from "../../player-ref.ts";
import { TEAMS } from "../../team-colours.ts";
import { findTarget } from "../player/player-target.ts";
import type { TargetKind } from "./known-commands.ts";

export type Candidate = PlayerRef & { readonly team: string | undefined };

/**
 * `one`: the whole name or the id of a player. `part`: the beginning of one name. `several`: the beginning of several names, or
 * the name of several players. `everybody`, `team`: a group; its players are undefined when they cannot be read. `sender`: the
 * word "me", which means nobody, because a command from outside the game has no player. `nobody`: no player on the server
 * has such a name. `unchecked`: the players cannot be read. `absent`: somebody who is banned, so not on the server.
 */
export type Target =
  | { readonly kind: "one" | "part"; readonly word: string; readonly players: readonly [Candidate] }
  | { readonly kind: "several"; readonly word: string; readonly players: readonly Candidate[] }
  | { readonly kind: "everybody" | "team"; readonly word: string; readonly players: readonly Candidate[] | undefined }
  | { readonly kind: "sender" | "nobody" | "unchecked" | "absent"; readonly word: string };

const EVERYBODY: ReadonlySet<string> = new Set(["all", "others"]);
export const EVERYBODY_WORDS: readonly string[] = [...EVERYBODY];
const SENDER = "me";
const TEAM_MARK = "%";

/** The players that the game takes for this word when it is no word for a group. */
export function selectPlayers(word: string, players: readonly Candidate[]): Candidate[] {
  const wanted = word.toLowerCase();
  if (wanted === "") return [];
  return players.filter(({ name, id }) => id === wanted || name.toLowerCase().startsWith(wanted));
}

/** `players` is undefined when they cannot be read. */
export function resolveTarget(
  word: string,
  players: readonly Candidate[] | undefined,
  kind: TargetKind = "players",
): Target {
  const wanted = word.toLowerCase();
  if (kind === "banned") {
    return EVERYBODY.has(wanted) ? { kind: "everybody", word, players: undefined } : { kind: "absent", word };
  }
  if (EVERYBODY.has(wanted)) return { kind: "everybody", word, players };
  if (wanted === SENDER) return { kind: "sender", word };
  if (!players) return isTeamWord(wanted, []) ? { kind: "team", word, players } : { kind: "unchecked", word };
  const found = selectPlayers(word, players);
  const exact = found.filter(({ name, id }) => id === wanted || name.toLowerCase() === wanted);
  // A player who cannot be named alone is shown with everybody who would be meant as well.
  const [one] = exact;
  if (one && exact.length === 1 && writeTarget(one, players) !== undefined) {
    return { kind: "one", word, players: [one] };
  }
  if (isTeamWord(wanted, players)) {
    return { kind: "team", word, players: unite([listTeam(wanted, players), found]) };
  }
  const [first] = found;
  if (!first) return { kind: "nobody", word };
  return found.length === 1 && exact.length === 0
    ? { kind: "part", word, players: [first] }
    : { kind: "several", word, players: found };
}

/** The word that means this player and nobody else; undefined when there is none. */
export function writeTarget(player: PlayerRef, players: readonly Candidate[]): string | undefined {
  const target = findTarget(player, players);
  return target.kind === "none" ? undefined : target.text;
}

/** Everybody whom the game takes for one of these words, each once. */
export function listMeant(words: readonly string[], players: readonly Candidate[]): readonly Candidate[] {
  return unite(words.map((word) => listMeantBy(word, players)));
}

function listMeantBy(word: string, players: readonly Candidate[]): readonly Candidate[] {
  const wanted = word.toLowerCase();
  if (EVERYBODY.has(wanted)) return players;
  if (wanted === SENDER) return [];
  const found = selectPlayers(word, players);
  return isTeamWord(wanted, players) ? [...listTeam(wanted, players), ...found] : found;
}

/** Two entries with one id are one player. */
export function isSamePlayer(a: PlayerRef, b: PlayerRef): boolean {
  return a.id === undefined || b.id === undefined ? a.id === b.id && a.name === b.name : a.id === b.id;
}

/** Distinguishes players, for sets and lists. */
export function keyOfPlayer({ name, id }: PlayerRef): string {
  return id === undefined ? `name ${name}` : `id ${id}`;
}

export function unite(lists: readonly (readonly Candidate[])[]): readonly Candidate[] {
  return [...new Map(lists.flat().map((player) => [keyOfPlayer(player), player])).values()];
}

/** The name of a team, or a beginning of one after a percent sign. */
function isTeamWord(wanted: string, players: readonly Candidate[]): boolean {
  if (wanted.startsWith(TEAM_MARK)) return true;
  const isName = (team: string | undefined) => team?.toLowerCase() === wanted;
  return TEAMS.some(isName) || players.some(({ team }) => isName(team));
}

function listTeam(wanted: string, players: readonly Candidate[]): Candidate[] {
  if (!wanted.startsWith(TEAM_MARK)) return players.filter(({ team }) => team?.toLowerCase() === wanted);
  const begun = wanted.slice(TEAM_MARK.length);
  return players.filter(({ team }) => begun !== "" && team?.toLowerCase().startsWith(begun));
}
