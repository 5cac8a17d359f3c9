// Finds the players that a command names: by the beginning of the name, by id, in comma lists, or all, others and me.
import { listPlayers, type Player, type Profile, type Town } from "./town.ts";

/** `actor` is null for commands that come from outside the game. */
export function findTargets(town: Town, actor: Player | null, words: string): Player[] {
  const players = listPlayers(town);
  const found = new Set<Player>();
  for (const word of splitList(words)) {
    for (const player of players) {
      if (matches(player, actor, word)) found.add(player);
    }
  }
  return [...found];
}

function matches(player: Player, actor: Player | null, word: string): boolean {
  if (word === "all") return true;
  if (word === "others") return player !== actor;
  if (word === "me") return player === actor;
  return matchesName(player.profile, word);
}

/** Ranks and bans also apply to users who are offline, by whole name or id only. */
export function findProfiles(profiles: Iterable<Profile>, words: string): Profile[] {
  const wanted = new Set(splitList(words));
  return [...profiles].filter(({ id, name }) => wanted.has(String(id)) || wanted.has(name.toLowerCase()));
}

function matchesName(profile: Profile, word: string): boolean {
  return String(profile.id) === word || profile.name.toLowerCase().startsWith(word);
}

function splitList(words: string): string[] {
  return words
    .toLowerCase()
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}
