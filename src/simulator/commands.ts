// The commands of the game: which words exist, what those with a visible effect do to the town, and the log.
import { findPeople, findTargets } from "./command-targets.ts";
import { startFire, stopFires } from "./emergencies.ts";
import { ban, leave, pardon } from "./population.ts";
import { accuse, die, imprison, release, respawn } from "./street-life.ts";
import { type Person, RANKS, type Rank, type Resident, refOf, type Town, timestampOf } from "./town.ts";

export const COMMAND_LENGTH_MAX = 1000;
const STARS_OF_THE_WANTED = 3;

/** Any text with this word in it counts as prohibited, so that a caller can see what then happens. */
export const PROHIBITED_WORD = "prohibitedword";

export type CommandRefusal = 3001 | 3002 | 4002 | 4003;
type Order = { town: Town; actor: Resident | null; targets: string; rest: string };
type Effect = (order: Order) => void;

const forEachTarget =
  (act: (town: Town, target: Resident, order: Order) => void): Effect =>
  (order) => {
    for (const target of findTargets(order.town, order.actor, order.targets)) act(order.town, target, order);
  };

const changeRank =
  (change: (rank: Rank) => Rank): Effect =>
  ({ town, actor, targets }) => {
    const inTown = findTargets(town, actor, targets).map(({ person }) => person);
    for (const person of new Set<Person>([...inTown, ...findPeople(town.people, targets)])) {
      person.rank = change(person.rank);
    }
  };

/** Owners keep their rank whatever staff commands say. */
const grant = (rank: Rank): Effect =>
  changeRank((old) => (RANKS.indexOf(old) >= RANKS.indexOf("co-owner") ? old : rank));
const revoke = (rank: Rank): Effect => changeRank((old) => (old === rank ? "none" : old));

const banAnyone: Effect = ({ town, actor, targets }) => {
  const inTown = findTargets(town, actor, targets).map(({ person }) => person);
  for (const person of new Set<Person>([...inTown, ...findPeople(town.people, targets)])) ban(town, person);
};

const pardonAnyone: Effect = ({ town, targets }) => {
  for (const person of findPeople([...town.banned.values()], targets)) pardon(town, person);
};

const moveTo: Effect = ({ town, actor, targets, rest }) => {
  const [goal] = findTargets(town, actor, rest.split(" ", 1)[0] ?? "");
  if (!goal) return;
  for (const traveller of findTargets(town, actor, targets)) traveller.place = goal.place;
};

const bringHere = forEachTarget((_, target, { actor }) => {
  if (actor) target.place = actor.place;
});

const onlyLogged: Effect = () => {};

const EFFECTS: ReadonlyMap<string, Effect> = new Map<string, Effect>([
  ["kick", forEachTarget(leave)],
  ["ban", banAnyone],
  ["unban", pardonAnyone],
  ["kill", forEachTarget((town, target) => die(town, target, null))],
  [
    "wanted",
    forEachTarget((_, target, { rest }) => accuse(target, Number.parseInt(rest, 10) || STARS_OF_THE_WANTED)),
  ],
  ["unwanted", forEachTarget((_, target) => accuse(target, 0))],
  ["jail", forEachTarget(imprison)],
  ["unjail", forEachTarget(release)],
  ["tp", moveTo],
  ["teleport", moveTo],
  ["bring", bringHere],
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

/** They exist in the game and need somebody who is in it. */
const RESTRICTED: ReadonlySet<string> = new Set([
  "shutdown",
  "to",
  "tocar",
  "toatv",
  "view",
  "loadlayout",
  "unloadlayout",
]);

function words(list: string): [string, Effect][] {
  return list.split(" ").map((word) => [word, onlyLogged]);
}

/** Runs a command that came through the API; undefined means it was done. */
export function runRemoteCommand(town: Town, text: string): CommandRefusal | undefined {
  const order = parseOrder(town, null, text);
  if (!order || text.length > COMMAND_LENGTH_MAX) return 3001;
  if (RESTRICTED.has(order.word)) return 4002;
  const effect = EFFECTS.get(order.word);
  if (!effect) return 3001;
  if (text.toLowerCase().includes(PROHIBITED_WORD)) return 4003;
  if (town.residents.size === 0) return 3002;
  logCommand(town, null, text);
  effect(order);
  return undefined;
}

/** Runs what a member of staff typed in the game; staff in the game do not make typing mistakes. */
export function runCommandInGame(town: Town, actor: Resident, text: string): void {
  const order = parseOrder(town, actor, text);
  if (!order) return;
  logCommand(town, actor, text);
  EFFECTS.get(order.word)?.(order);
}

function parseOrder(
  town: Town,
  actor: Resident | null,
  text: string,
): (Order & { word: string }) | undefined {
  const match = /^:(\S+)(?:\s+(\S+))?\s*(.*)$/s.exec(text.trim());
  if (!match) return undefined;
  const [, word = "", targets = "", rest = ""] = match;
  return { town, actor, word: word.toLowerCase(), targets, rest };
}

function logCommand(town: Town, actor: Resident | null, text: string): void {
  town.commands.add({ at: timestampOf(town), player: actor ? refOf(actor.person) : null, text });
}
