// Simulates the staff: players call for a moderator, staff answer, type commands in the game, and change over time.
import { runCommandInGame } from "./commands.ts";
import { hashOf, Random } from "./random.ts";
import {
  activityOf,
  isStaff,
  listPlayers,
  type Player,
  type Profile,
  RANKS,
  type Rank,
  refOf,
  type Town,
  timestampOf,
} from "./town.ts";

const MOD_CALL_CHANCE = 1 / 110;
const COMMAND_CHANCE = 1 / 75;
/** Probability per second that an administrator appoints or dismisses a helper or moderator. */
const STAFF_CHANGE_CHANCE = 1 / 900;
/** With fewer helpers and moderators than the first, one is appointed; with more than the second, one is dismissed. */
const STAFF_RANGE = [4, 12] as const;
const IGNORED_SHARE = 0.35;
// Calls are answered within a minute or never, so only the newest are checked.
const ANSWERABLE_CALLS = 10;
const ANSWER_SECONDS = [8, 60] as const;

const SAMPLE_COMMANDS: readonly ((name: string) => string)[] = [
  (name) => `:pm ${name} Please keep it in character.`,
  (name) => `:tp ${name} me`,
  (name) => `:heal ${name}`,
  (name) => `:refresh ${name}`,
  (name) => `:load ${name}`,
  (name) => `:jail ${name}`,
  (name) => `:kill ${name}`,
  (name) => `:wanted ${name}`,
  (name) => `:unwanted ${name}`,
  (name) => `:log Warned ${name} for reckless driving`,
  (name) => `:kick ${name} Fail roleplay`,
  () => ":h Peace time is over. Drive carefully.",
  () => ":m Meeting at the fire station in five minutes.",
  () => ":weather rain",
  () => ":time 14",
  () => ":startfire house",
  () => ":prty 120",
];

export function tickStaff(town: Town): void {
  const { random } = town;
  answerModCalls(town);
  if (random.chance(MOD_CALL_CHANCE * activityOf(town))) callModerator(town);
  if (random.chance(COMMAND_CHANCE)) typeSampleCommand(town);
  changeStaff(town);
}

/** Uses its own random numbers and begins after the first read, so that the rest of the town stays as its seed made it. */
function changeStaff(town: Town): void {
  const random = new Random(hashOf("staff", town.seed, town.second));
  if (town.second <= 0 || !random.chance(STAFF_CHANGE_CHANCE)) return;
  const players = listPlayers(town);
  const actor = random.find(players.filter(({ profile }) => isAtLeast(profile, "administrator")));
  const text = chooseStaffChange(town, random);
  if (actor && text !== undefined) runCommandInGame(town, actor, text);
}

/** The command that appoints a player, or dismisses a helper or moderator. Undefined when there is nobody suitable. */
function chooseStaffChange(town: Town, random: Random): string | undefined {
  const team = town.profiles.filter(({ rank }) => rank === "helper" || rank === "moderator");
  const [least, most] = STAFF_RANGE;
  if (team.length > most || (team.length >= least && random.chance(0.5))) {
    const dismissed = random.pick(team);
    return `:${dismissed.rank === "helper" ? "unhelper" : "unmod"} ${dismissed.id}`;
  }
  const appointed = random.find(listPlayers(town).filter(({ profile }) => !isStaff(profile)));
  return appointed && `:${random.pick(["helper", "mod"])} ${appointed.profile.id}`;
}

function isAtLeast({ rank }: Profile, least: Rank): boolean {
  return RANKS.indexOf(rank) >= RANKS.indexOf(least);
}

function callModerator(town: Town): void {
  const caller = town.random.find(listPlayers(town));
  if (!caller) return;
  const willBeAnswered = !town.random.chance(IGNORED_SHARE);
  const answerAt = willBeAnswered ? town.second + town.random.integer(...ANSWER_SECONDS) : null;
  town.logs.add("ModCalls", { at: timestampOf(town), caller: refOf(caller.profile), moderator: null, answerAt });
}

function answerModCalls(town: Town): void {
  for (const call of town.logs.newest("ModCalls", ANSWERABLE_CALLS)) {
    if (call.answerAt === null || call.answerAt > town.second) continue;
    const moderator = findStaffOnline(town, ({ profile }) => refOf(profile) !== call.caller);
    if (moderator) call.moderator = refOf(moderator.profile);
    call.answerAt = null;
  }
}

function typeSampleCommand(town: Town): void {
  const actor = findStaffOnline(town, () => true);
  const target = town.random.find(listPlayers(town).filter(({ profile }) => !isStaff(profile)));
  if (!actor || !target) return;
  runCommandInGame(town, actor, town.random.pick(SAMPLE_COMMANDS)(target.profile.name));
}

function findStaffOnline(town: Town, isSuitable: (player: Player) => boolean): Player | undefined {
  return town.random.find(listPlayers(town).filter((player) => isStaff(player.profile) && isSuitable(player)));
}
