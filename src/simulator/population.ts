// Who is in town: arriving, waiting in the queue, leaving, being banned. Every change of the residents goes
// through here, so that residents, join log and queue never contradict each other.
import { inventCallsign, inventPlayerName } from "./names.ts";
import type { Random } from "./random.ts";
import { choosePlace } from "./street-map.ts";
import type { Team } from "./teams.ts";
import {
  isStaff,
  listResidents,
  type Person,
  type Rank,
  type Resident,
  refOf,
  type Town,
  timestampOf,
} from "./town.ts";
import { buildVehicle } from "./vehicles.ts";

const QUEUE_MAX = 30;
const BANNED_MAX = 100;
const RUSH_PERIOD_SECONDS = 2400;
const STAY_SECONDS = 1500;
const PATIENCE_SECONDS = 600;
const DRIVER_SHARE = 0.85;

function inventPerson(random: Random, rank: Rank): Person {
  const hasOldAccount = random.isLucky(0.2);
  const id = hasOldAccount ? random.integer(10_000, 99_999_999) : random.integer(100_000_000, 9_999_999_999);
  return { id, name: inventPlayerName(random), rank };
}

export function isInTown(town: Town, person: Person): boolean {
  return town.residents.has(person.id);
}

function isWaiting(town: Town, person: Person): boolean {
  return town.queue.some((other) => other.id === person.id);
}

/** How many want to play at this second: a slow wave around the wanted number, high when the town is first read. */
function demandOf(town: Town): number {
  if (town.playersWanted === 0) return 0;
  const swing = 1.5 + town.playersWanted * 0.12;
  const wave = Math.cos((2 * Math.PI * town.second) / RUSH_PERIOD_SECONDS);
  return Math.max(1, Math.round(town.playersWanted + swing * wave));
}

/** The town as it is found: full to its demand, with joins spread over the past minutes. */
export function settleFirstResidents(town: Town): void {
  const demand = demandOf(town);
  const staff = town.people.filter(isStaff);
  const others = town.people.filter((person) => !isStaff(person));
  const staffCount = Math.min(staff.length, Math.max(1, Math.ceil(demand / 6)));
  const comers: Person[] = [];
  while (comers.length < demand) {
    const pool = comers.length < staffCount ? staff : others;
    if (pool.length === 0) break;
    const [person] = pool.splice(town.random.integer(0, pool.length - 1), 1);
    if (person) comers.push(person);
  }
  const firstSecond = town.second;
  comers.forEach((person, index) => {
    town.second = firstSecond - (comers.length - index) * 20;
    arrive(town, person);
  });
  town.second = firstSecond;
}

/** One second of people coming, giving up waiting, and going home. */
export function moveCrowd(town: Town): void {
  const { random } = town;
  const shortage = demandOf(town) - town.residents.size - town.queue.length;
  if (shortage > 0 && random.isLucky(Math.min(0.5, shortage * 0.02))) {
    const person = findSomeoneAtHome(town);
    if (person) arrive(town, person);
  }
  if (town.queue.length > 0 && random.isLucky(town.queue.length / PATIENCE_SECONDS)) {
    town.queue.splice(random.integer(0, town.queue.length - 1), 1);
  }
  // The last one stays: an empty server is offline to everyone who reads it.
  const leaveChance = (town.residents.size * (shortage < 0 ? 2 : 1)) / STAY_SECONDS;
  if (town.residents.size > 1 && random.isLucky(leaveChance)) leave(town, random.pick(listResidents(town)));
}

function findSomeoneAtHome(town: Town): Person | undefined {
  for (let tries = 0; tries < 20; tries++) {
    const person = town.random.find(town.people);
    if (person && !isInTown(town, person) && !isWaiting(town, person)) return person;
  }
  return undefined;
}

/** Comes in when there is room, else waits in line; a full line sends the newcomer home. */
function arrive(town: Town, person: Person): void {
  if (town.residents.size < town.maxPlayers) enter(town, person);
  else if (town.queue.length < QUEUE_MAX) town.queue.push(person);
}

function enter(town: Town, person: Person): void {
  const { random } = town;
  const resident: Resident = {
    person,
    team: "Civilian",
    callsign: null,
    place: choosePlace(random),
    unitsPerSecond: 0,
    stars: 0,
    freeAt: 0,
    vehicle: null,
  };
  changeTeam(town, resident, chooseTeam(random));
  town.residents.set(person.id, resident);
  town.joins.add({ at: timestampOf(town), join: true, player: refOf(person) });
}

export function leave(town: Town, resident: Resident): void {
  const { person } = resident;
  if (!town.residents.delete(person.id)) return;
  town.joins.add({ at: timestampOf(town), join: false, player: refOf(person) });
  for (const call of town.emergencies) call.responderIds = call.responderIds.filter((id) => id !== person.id);
  while (town.residents.size < town.maxPlayers) {
    const next = town.queue.shift();
    if (!next) break;
    enter(town, next);
  }
}

/** A banned person leaves for good, and a stranger takes the place among those who may come. */
export function ban(town: Town, person: Person): void {
  const index = town.people.indexOf(person);
  if (index < 0) return;
  town.people[index] = inventStranger(town.random, [...town.people, ...town.banned.values()]);
  town.queue = town.queue.filter((other) => other.id !== person.id);
  town.banned.set(person.id, person);
  const oldest = town.banned.keys().next();
  if (town.banned.size > BANNED_MAX && !oldest.done) town.banned.delete(oldest.value);
  const resident = town.residents.get(person.id);
  if (resident) leave(town, resident);
}

/** A pardoned person takes the place of somebody without rank who is at home. */
export function pardon(town: Town, person: Person): void {
  if (!town.banned.delete(person.id)) return;
  const index = town.people.findIndex(
    (other) => other.rank === "none" && !isInTown(town, other) && !isWaiting(town, other),
  );
  if (index >= 0) town.people[index] = { ...person, rank: "none" };
}

/** Invents someone who shares neither id nor name with anyone known. */
export function inventStranger(random: Random, known: readonly Person[], rank: Rank = "none"): Person {
  for (;;) {
    const person = inventPerson(random, rank);
    if (!known.some((other) => other.id === person.id || other.name === person.name)) return person;
  }
}

export function chooseTeam(random: Random): Team {
  const roll = random.fraction();
  if (roll < 0.5) return "Civilian";
  if (roll < 0.66) return "Police";
  if (roll < 0.8) return "Sheriff";
  if (roll < 0.92) return "Fire";
  return "DOT";
}

/** A new team brings a new callsign and another vehicle; prisoners have neither. */
export function changeTeam(town: Town, resident: Resident, team: Team): void {
  const { random } = town;
  resident.team = team;
  resident.callsign = inventCallsign(team, random);
  resident.vehicle = team !== "Jail" && random.isLucky(DRIVER_SHARE) ? buildVehicle(team, random) : null;
  for (const call of town.emergencies) {
    if (call.team === team) continue;
    call.responderIds = call.responderIds.filter((id) => id !== resident.person.id);
  }
}
