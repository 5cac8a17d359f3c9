// How a command names a player, so that it can reach nobody else. The game takes the beginning of a name, an id, a list with
// commas, or a word for a group. Pure.
import { isPlayerId, type PlayerRef } from "../../player-ref.ts";
import { TEAMS } from "../../team-colours.ts";

/** Why a command has the id and not the name. */
export type IdReason =
  /** The name is not one word of letters, digits and underscores. */
  | "unwritable"
  /** The name means a group of players, or could be read as an id. */
  | "otherMeaning"
  /** The name of somebody else begins with it. */
  | "beginning"
  | "notHere"
  /** It is not known who else is on the server. */
  | "unknownOthers";

export type Target =
  | { readonly kind: "name"; readonly text: string }
  | { readonly kind: "id"; readonly text: string; readonly because: IdReason }
  /** `noId`: there is no id to use instead of the name. `idIsName`: the name of somebody else begins with the id. */
  | { readonly kind: "none"; readonly because: "noId" | "idIsName" };

/** Who is on the server; undefined when that is not known, or not known well enough. */
export type PlayersHere = readonly PlayerHere[] | undefined;
type PlayerHere = PlayerRef & { readonly team?: string | undefined };

const WRITABLE = /^\w{1,64}$/;
const DIGITS = /^\d+$/;
const GROUP_WORDS: ReadonlySet<string> = new Set([
  ...["all", "others", "me", "random", "admins", "administrators", "mods", "moderators", "helpers", "staff"],
  ...TEAMS.map((team) => team.toLowerCase()),
]);

export function findTarget(player: PlayerRef, here: PlayersHere): Target {
  const because = findIdReason(player, here);
  if (because === undefined) return { kind: "name", text: player.name };
  const { id } = player;
  if (id === undefined || !isPlayerId(id)) return { kind: "none", because: "noId" };
  if (here && isBeginningOfOther(id, player, here)) return { kind: "none", because: "idIsName" };
  return { kind: "id", text: id, because };
}

function findIdReason(player: PlayerRef, here: PlayersHere): IdReason | undefined {
  const { name } = player;
  if (!WRITABLE.test(name)) return "unwritable";
  if (isGroup(name, here) || DIGITS.test(name)) return "otherMeaning";
  if (!here) return "unknownOthers";
  if (!here.some((other) => isSame(other, player) && other.name === name)) return "notHere";
  return isBeginningOfOther(name, player, here) ? "beginning" : undefined;
}

function isGroup(name: string, here: PlayersHere): boolean {
  const word = name.toLowerCase();
  return GROUP_WORDS.has(word) || (here?.some(({ team }) => team?.toLowerCase() === word) ?? false);
}

function isBeginningOfOther(word: string, player: PlayerRef, here: readonly PlayerRef[]): boolean {
  const begun = word.toLowerCase();
  return here.some((other) => !isSame(other, player) && other.name.toLowerCase().startsWith(begun));
}

/** A player without an id is nobody else's double. */
function isSame(one: PlayerRef, other: PlayerRef): boolean {
  return one.id !== undefined && one.id === other.id;
}
