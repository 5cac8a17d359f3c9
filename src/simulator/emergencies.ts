// Emergency calls: created by players, answered by players of one team, and closed after some minutes.
import { SERVICE_TEAMS, type ServiceTeam } from "./names.ts";
import { choosePlace, type Place } from "./street-map.ts";
import { activityOf, type EmergencyCall, listPlayers, type Town, timestampOf } from "./town.ts";

const OPEN_CALLS_MAX = 12;
const FIRST_CALL_NUMBER = 100;
const RESPONDERS_MAX = 4;
const CALL_SECONDS = [120, 420] as const;
const CALL_CHANCE = 1 / 45;
const ANSWER_CHANCE = 1 / 40;

const DESCRIPTIONS: Record<ServiceTeam, readonly string[]> = {
  Sheriff: ["Speeding truck on the county road", "Trespassers at the farm", "Someone is stealing my tractor"],
  Police: ["Robbery at the jewelry store", "Shots fired", "Hit and run, white sedan", "Bank alarm is ringing"],
  Fire: ["House on fire", "Person trapped in a car", "Smoke from the gas station", "Unconscious person"],
  DOT: ["Broken down vehicle", "Traffic light knocked over", "Tree across the road", "Need a tow"],
};

export function tickEmergencies(town: Town): void {
  const { random } = town;
  town.emergencies = town.emergencies.filter(({ endsAt }) => endsAt > town.second);
  if (random.chance(CALL_CHANCE * activityOf(town))) {
    const caller = random.find(listPlayers(town).filter(({ team }) => team !== "Jail"));
    const team = random.pick(SERVICE_TEAMS);
    if (caller) addCall(town, { team, callerId: caller.profile.id, place: caller.place, isFire: false });
  }
  for (const call of town.emergencies) {
    if (call.responderIds.length < RESPONDERS_MAX && random.chance(ANSWER_CHANCE)) addResponder(town, call);
  }
}

/** Adds a fire for the `:startfire` command. */
export function startFire(town: Town): void {
  const caller = town.random.find(listPlayers(town));
  if (!caller) return;
  addCall(town, { team: "Fire", callerId: caller.profile.id, place: choosePlace(town.random), isFire: true });
}

export function stopFires(town: Town): void {
  town.emergencies = town.emergencies.filter(({ isFire }) => !isFire);
}

type CallDraft = { team: ServiceTeam; callerId: number; place: Place; isFire: boolean };

function addCall(town: Town, draft: CallDraft): void {
  if (town.emergencies.length >= OPEN_CALLS_MAX) town.emergencies.shift();
  const inTeam = (town.emergencyCountOfTeam.get(draft.team) ?? 0) + 1;
  town.emergencyCountOfTeam.set(draft.team, inTeam);
  town.emergencyCount++;
  town.emergencies.push({
    ...draft,
    at: timestampOf(town),
    number: FIRST_CALL_NUMBER + town.emergencyCount,
    numberInTeam: FIRST_CALL_NUMBER + inTeam,
    responderIds: [],
    description: draft.isFire ? "Fire reported" : town.random.pick(DESCRIPTIONS[draft.team]),
    endsAt: town.second + town.random.integer(...CALL_SECONDS),
  });
}

function addResponder(town: Town, call: EmergencyCall): void {
  const available = listPlayers(town).filter(
    ({ team, profile }) =>
      team === call.team && profile.id !== call.callerId && !call.responderIds.includes(profile.id),
  );
  const responder = town.random.find(available);
  if (responder) call.responderIds.push(responder.profile.id);
}
