// Simulates the staff: players call for a moderator, staff answer, and staff type commands in the game.
import { runCommandInGame } from "./commands.ts";
import { activityOf, isStaff, listPlayers, type Player, refOf, type Town, timestampOf } from "./town.ts";

const MOD_CALL_CHANCE = 1 / 110;
const COMMAND_CHANCE = 1 / 75;
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
}

function callModerator(town: Town): void {
  const caller = town.random.find(listPlayers(town));
  if (!caller) return;
  const willBeAnswered = !town.random.chance(IGNORED_SHARE);
  const answerAt = willBeAnswered ? town.second + town.random.integer(...ANSWER_SECONDS) : null;
  town.logs.add("ModCalls", {
    at: timestampOf(town),
    caller: refOf(caller.profile),
    moderator: null,
    answerAt,
  });
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
  return town.random.find(
    listPlayers(town).filter((player) => isStaff(player.profile) && isSuitable(player)),
  );
}
