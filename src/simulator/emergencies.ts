// Emergency calls: placed by residents, accepted by responders of one team, and over after some minutes.
import { choosePlace, type Place } from "./street-map.ts";
import { SERVICE_TEAMS, type ServiceTeam } from "./teams.ts";
import { bustleOf, type EmergencyCall, listResidents, type Town, timestampOf } from "./town.ts";

const OPEN_CALLS_MAX = 12;
const FIRST_CALL_NUMBER = 100;
const RESPONDERS_MAX = 4;
const CALL_SECONDS = [120, 420] as const;
const CALL_CHANCE = 1 / 45;
const ANSWER_CHANCE = 1 / 40;

const TROUBLES: Record<ServiceTeam, readonly string[]> = {
  Sheriff: ["Speeding truck on the county road", "Trespassers at the farm", "Someone is stealing my tractor"],
  Police: [
    "Robbery at the jewelry store",
    "Shots fired",
    "Hit and run, white sedan",
    "Bank alarm is ringing",
  ],
  Fire: ["House on fire", "Person trapped in a car", "Smoke from the gas station", "Unconscious person"],
  DOT: ["Broken down vehicle", "Traffic light knocked over", "Tree across the road", "Need a tow"],
};

export function handleEmergencies(town: Town): void {
  const { random } = town;
  town.emergencies = town.emergencies.filter(({ endsAt }) => endsAt > town.second);
  if (random.isLucky(CALL_CHANCE * bustleOf(town))) {
    const caller = random.find(listResidents(town).filter(({ team }) => team !== "Jail"));
    const team = random.pick(SERVICE_TEAMS);
    if (caller) placeCall(town, { team, callerId: caller.person.id, place: caller.place, isFire: false });
  }
  for (const call of town.emergencies) {
    if (call.responderIds.length < RESPONDERS_MAX && random.isLucky(ANSWER_CHANCE)) sendResponder(town, call);
  }
}

/** Fires that nobody called for: a command lights them. */
export function startFire(town: Town): void {
  const caller = town.random.find(listResidents(town));
  if (!caller) return;
  placeCall(town, {
    team: "Fire",
    callerId: caller.person.id,
    place: choosePlace(town.random),
    isFire: true,
  });
}

export function stopFires(town: Town): void {
  town.emergencies = town.emergencies.filter(({ isFire }) => !isFire);
}

type Cause = { team: ServiceTeam; callerId: number; place: Place; isFire: boolean };

function placeCall(town: Town, cause: Cause): void {
  if (town.emergencies.length >= OPEN_CALLS_MAX) town.emergencies.shift();
  const inTeam = (town.emergencyCountOfTeam.get(cause.team) ?? 0) + 1;
  town.emergencyCountOfTeam.set(cause.team, inTeam);
  town.emergencyCount++;
  town.emergencies.push({
    ...cause,
    at: timestampOf(town),
    number: FIRST_CALL_NUMBER + town.emergencyCount,
    numberInTeam: FIRST_CALL_NUMBER + inTeam,
    responderIds: [],
    description: cause.isFire ? "Fire reported" : town.random.pick(TROUBLES[cause.team]),
    endsAt: town.second + town.random.integer(...CALL_SECONDS),
  });
}

function sendResponder(town: Town, call: EmergencyCall): void {
  const ready = listResidents(town).filter(
    ({ team, person }) =>
      team === call.team && person.id !== call.callerId && !call.responderIds.includes(person.id),
  );
  const responder = town.random.find(ready);
  if (responder) call.responderIds.push(responder.person.id);
}
