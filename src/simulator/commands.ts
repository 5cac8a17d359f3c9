// The commands of the game: which exist, what they change in the town, and the command log.
import { startFire, stopFires } from "./emergencies.ts";
import { jail, killPlayer, release, respawn, setStars } from "./player-behaviour.ts";
import { ban, leave, unban } from "./population.ts";
import { listPlayers, type Player, type Profile, RANKS, type Rank, refOf, type Town, timestampOf } from "./town.ts";

export const COMMAND_LENGTH_MAX = 1000;
const WANTED_STARS = 3;

/** A command with this word is refused as prohibited text, so that clients can test that case. */
export const PROHIBITED_WORD = "prohibitedword";

export type CommandRefusal = 3001 | 3002 | 4002 | 4003;
/** `actor` is null for commands that come from outside the game. */
type ParsedCommand = { town: Town; actor: Player | null; targets: string; rest: string };
type Effect = (command: ParsedCommand) => void;

const forEachTarget =
  (act: (town: Town, target: Player, command: ParsedCommand) => void): Effect =>
  (command) => {
    const { town, actor, targets } = command;
    for (const target of findTargets(town, actor, targets)) act(town, target, command);
  };

const changeRank =
  (change: (rank: Rank) => Rank): Effect =>
  ({ town, actor, targets }) => {
    const online = findTargets(town, actor, targets).map(({ profile }) => profile);
    for (const profile of new Set<Profile>([...online, ...findProfiles(town.profiles, targets)])) {
      profile.rank = change(profile.rank);
    }
  };

/** Owners and co-owners keep their rank. */
const grant = (rank: Rank): Effect =>
  changeRank((old) => (RANKS.indexOf(old) >= RANKS.indexOf("co-owner") ? old : rank));
const revoke = (rank: Rank): Effect => changeRank((old) => (old === rank ? "none" : old));

const banTargets: Effect = ({ town, actor, targets }) => {
  const online = findTargets(town, actor, targets).map(({ profile }) => profile);
  for (const profile of new Set<Profile>([...online, ...findProfiles(town.profiles, targets)])) ban(town, profile);
};

const unbanTargets: Effect = ({ town, targets }) => {
  for (const profile of findProfiles([...town.banned.values()], targets)) unban(town, profile);
};

const teleport: Effect = ({ town, actor, targets, rest }) => {
  const [goal] = findTargets(town, actor, rest.split(" ", 1)[0] ?? "");
  if (!goal) return;
  for (const target of findTargets(town, actor, targets)) target.place = goal.place;
};

const bring = forEachTarget((_, target, { actor }) => {
  if (actor) target.place = actor.place;
});

const noEffect: Effect = () => {};

const EFFECTS: ReadonlyMap<string, Effect> = new Map<string, Effect>([
  ["kick", forEachTarget(leave)],
  ["ban", banTargets],
  ["unban", unbanTargets],
  ["kill", forEachTarget((town, target) => killPlayer(town, target, null))],
  ["wanted", forEachTarget((_, target, { rest }) => setStars(target, Number.parseInt(rest, 10) || WANTED_STARS))],
  ["unwanted", forEachTarget((_, target) => setStars(target, 0))],
  ["jail", forEachTarget(jail)],
  ["unjail", forEachTarget(release)],
  ["tp", teleport],
  ["teleport", teleport],
  ["bring", bring],
  ["respawn", forEachTarget((_, target) => respawn(target))],
  ["load", forEachTarget((_, target) => respawn(target))],
  ["admin", grant("administrator")],
  ["mod", grant("moderator")],
  ["helper", grant("helper")],
  ["unadmin", revoke("administrator")],
  ["unmod", revoke("moderator")],
  ["unhelper", revoke("helper")],
  ["startfire", ({ town }) => startFire(town)],
  ["startnearfire", ({ town }) => startFire(town)],
  ["stopfire", ({ town }) => stopFires(town)],
  ...words("h hint m message pm privatemessage heal refresh reset log logs time weather priority prty"),
  ...words("peacetimer pt cmds commands bans admins administrators mods moderators helpers permissions"),
  ...words("kills killlogs kl leaderboards"),
]);

/** Commands that exist in the game but are refused through the API. */
const RESTRICTED: ReadonlySet<string> = new Set("shutdown to tocar toatv view loadlayout unloadlayout".split(" "));

function words(list: string): [string, Effect][] {
  return list.split(" ").map((word) => [word, noEffect]);
}

/** Runs a command that came through the API. Returns the error code, or undefined on success. */
export function runRemoteCommand(town: Town, text: string): CommandRefusal | undefined {
  const command = parseCommand(town, null, text);
  if (!command || text.length > COMMAND_LENGTH_MAX) return 3001;
  if (RESTRICTED.has(command.word)) return 4002;
  const effect = EFFECTS.get(command.word);
  if (!effect) return 3001;
  if (text.toLowerCase().includes(PROHIBITED_WORD)) return 4003;
  if (town.players.size === 0) return 3002;
  logCommand(town, null, text);
  effect(command);
  return undefined;
}

/** Runs a command that a member of staff typed in the game. */
export function runCommandInGame(town: Town, actor: Player, text: string): void {
  const command = parseCommand(town, actor, text);
  if (!command) return;
  logCommand(town, actor, text);
  EFFECTS.get(command.word)?.(command);
}

function parseCommand(town: Town, actor: Player | null, text: string): (ParsedCommand & { word: string }) | undefined {
  const match = /^:(\S+)(?:\s+(\S+))?\s*(.*)$/s.exec(text.trim());
  if (!match) return undefined;
  const [, word = "", targets = "", rest = ""] = match;
  return { town, actor, word: word.toLowerCase(), targets, rest };
}

function logCommand(town: Town, actor: Player | null, text: string): void {
  town.logs.add("CommandLogs", { at: timestampOf(town), player: actor ? refOf(actor.profile) : null, text });
}

/** The players that a command names: by the beginning of the name, by id, in comma lists, or all, others and me. */
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
