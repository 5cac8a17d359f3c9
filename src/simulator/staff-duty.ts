// What keeps the staff busy: residents who call for a moderator, and the commands that staff type in the game.
import { runCommandInGame } from "./commands.ts";
import { bustleOf, isStaff, listResidents, type Resident, refOf, type Town, timestampOf } from "./town.ts";

const MOD_CALL_CHANCE = 1 / 110;
const COMMAND_CHANCE = 1 / 75;
const IGNORED_SHARE = 0.35;
// An answer comes within a minute or never: older calls need no look.
const ANSWERABLE_CALLS = 10;
const ANSWER_SECONDS = [8, 60] as const;

const ROUTINES: readonly ((name: string) => string)[] = [
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

export function keepStaffBusy(town: Town): void {
  const { random } = town;
  answerModCalls(town);
  if (random.isLucky(MOD_CALL_CHANCE * bustleOf(town))) callModerator(town);
  if (random.isLucky(COMMAND_CHANCE)) typeRoutineCommand(town);
}

function callModerator(town: Town): void {
  const caller = town.random.find(listResidents(town));
  if (!caller) return;
  const willBeAnswered = !town.random.isLucky(IGNORED_SHARE);
  const answerAt = willBeAnswered ? town.second + town.random.integer(...ANSWER_SECONDS) : null;
  town.modCalls.add({ at: timestampOf(town), caller: refOf(caller.person), moderator: null, answerAt });
}

function answerModCalls(town: Town): void {
  for (const call of town.modCalls.newest(ANSWERABLE_CALLS)) {
    if (call.answerAt === null || call.answerAt > town.second) continue;
    const moderator = findStaffOnDuty(town, ({ person }) => refOf(person) !== call.caller);
    if (moderator) call.moderator = refOf(moderator.person);
    call.answerAt = null;
  }
}

function typeRoutineCommand(town: Town): void {
  const actor = findStaffOnDuty(town, () => true);
  const target = town.random.find(listResidents(town).filter(({ person }) => !isStaff(person)));
  if (!actor || !target) return;
  runCommandInGame(town, actor, town.random.pick(ROUTINES)(target.person.name));
}

function findStaffOnDuty(town: Town, suits: (resident: Resident) => boolean): Resident | undefined {
  return town.random.find(
    listResidents(town).filter((resident) => isStaff(resident.person) && suits(resident)),
  );
}
