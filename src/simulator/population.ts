// Who is online: joining, queueing, leaving, banning. Every change of the players goes through here, so that players,
// join log and queue always agree.
import { generateCallsign, generatePlayerName, generateVehicle, type Team } from "./names.ts";
import type { Random } from "./random.ts";
import { choosePlace } from "./street-map.ts";
import { isStaff, listPlayers, type Player, type Profile, type Rank, refOf, type Town, timestampOf } from "./town.ts";

const QUEUE_MAX = 30;
const BANNED_MAX = 100;
const DEMAND_PERIOD_SECONDS = 2400;
const STAY_SECONDS = 1500;
const QUEUE_SECONDS = 600;
const DRIVER_SHARE = 0.85;

function generateProfile(random: Random, rank: Rank): Profile {
  const hasOldAccount = random.chance(0.2);
  const id = hasOldAccount ? random.integer(10_000, 99_999_999) : random.integer(100_000_000, 9_999_999_999);
  return { id, name: generatePlayerName(random), rank };
}

export function isOnline(town: Town, profile: Profile): boolean {
  return town.players.has(profile.id);
}

function isWaiting(town: Town, profile: Profile): boolean {
  return town.queue.some((other) => other.id === profile.id);
}

/** How many want to play now: a slow wave around `playersWanted`, at its top when the town is first read. */
function demandOf(town: Town): number {
  if (town.playersWanted === 0) return 0;
  const swing = 1.5 + town.playersWanted * 0.12;
  const wave = Math.cos((2 * Math.PI * town.second) / DEMAND_PERIOD_SECONDS);
  return Math.max(1, Math.round(town.playersWanted + swing * wave));
}

/** Fills a new town, with the joins spread over the past minutes. */
export function addFirstPlayers(town: Town): void {
  const demand = demandOf(town);
  const staff = town.profiles.filter(isStaff);
  const others = town.profiles.filter((profile) => !isStaff(profile));
  const staffCount = Math.min(staff.length, Math.max(1, Math.ceil(demand / 6)));
  const joining: Profile[] = [];
  while (joining.length < demand) {
    const pool = joining.length < staffCount ? staff : others;
    if (pool.length === 0) break;
    const [profile] = pool.splice(town.random.integer(0, pool.length - 1), 1);
    if (profile) joining.push(profile);
  }
  const firstSecond = town.second;
  joining.forEach((profile, index) => {
    town.second = firstSecond - (joining.length - index) * 20;
    joinOrQueue(town, profile);
  });
  town.second = firstSecond;
}

/** One second: users join, leave the queue and leave the game. */
export function tickPopulation(town: Town): void {
  const { random } = town;
  const shortage = demandOf(town) - town.players.size - town.queue.length;
  if (shortage > 0 && random.chance(Math.min(0.5, shortage * 0.02))) {
    const profile = findOfflineProfile(town);
    if (profile) joinOrQueue(town, profile);
  }
  if (town.queue.length > 0 && random.chance(town.queue.length / QUEUE_SECONDS)) {
    town.queue.splice(random.integer(0, town.queue.length - 1), 1);
  }
  // The last player stays: the game API reports an empty server as offline.
  const leaveChance = (town.players.size * (shortage < 0 ? 2 : 1)) / STAY_SECONDS;
  if (town.players.size > 1 && random.chance(leaveChance)) leave(town, random.pick(listPlayers(town)));
}

function findOfflineProfile(town: Town): Profile | undefined {
  for (let tries = 0; tries < 20; tries++) {
    const profile = town.random.find(town.profiles);
    if (profile && !isOnline(town, profile) && !isWaiting(town, profile)) return profile;
  }
  return undefined;
}

/** Joins if there is room, else enters the queue unless it is full. */
function joinOrQueue(town: Town, profile: Profile): void {
  if (town.players.size < town.maxPlayers) join(town, profile);
  else if (town.queue.length < QUEUE_MAX) town.queue.push(profile);
}

function join(town: Town, profile: Profile): void {
  const { random } = town;
  const player: Player = {
    profile,
    team: "Civilian",
    callsign: null,
    place: choosePlace(random),
    unitsPerSecond: 0,
    stars: 0,
    releasedAt: 0,
    vehicle: null,
  };
  changeTeam(town, player, chooseTeam(random));
  town.players.set(profile.id, player);
  town.logs.add("JoinLogs", { at: timestampOf(town), join: true, player: refOf(profile) });
}

export function leave(town: Town, player: Player): void {
  const { profile } = player;
  if (!town.players.delete(profile.id)) return;
  town.logs.add("JoinLogs", { at: timestampOf(town), join: false, player: refOf(profile) });
  for (const call of town.emergencies) call.responderIds = call.responderIds.filter((id) => id !== profile.id);
  while (town.players.size < town.maxPlayers) {
    const next = town.queue.shift();
    if (!next) break;
    join(town, next);
  }
}

/** Removes the player. A new profile replaces the banned one, so that their number stays the same. */
export function ban(town: Town, profile: Profile): void {
  const index = town.profiles.indexOf(profile);
  if (index < 0) return;
  town.profiles[index] = createUniqueProfile(town.random, [...town.profiles, ...town.banned.values()]);
  town.queue = town.queue.filter((other) => other.id !== profile.id);
  town.banned.set(profile.id, profile);
  const oldest = town.banned.keys().next();
  if (town.banned.size > BANNED_MAX && !oldest.done) town.banned.delete(oldest.value);
  const player = town.players.get(profile.id);
  if (player) leave(town, player);
}

/** The profile replaces one without rank that is offline, so that their number stays the same. */
export function unban(town: Town, profile: Profile): void {
  if (!town.banned.delete(profile.id)) return;
  const index = town.profiles.findIndex(
    (other) => other.rank === "none" && !isOnline(town, other) && !isWaiting(town, other),
  );
  if (index >= 0) town.profiles[index] = { ...profile, rank: "none" };
}

/** A new profile whose id and name differ from all known ones. */
export function createUniqueProfile(random: Random, known: readonly Profile[], rank: Rank = "none"): Profile {
  for (;;) {
    const profile = generateProfile(random, rank);
    if (!known.some((other) => other.id === profile.id || other.name === profile.name)) return profile;
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
export function changeTeam(town: Town, player: Player, team: Team): void {
  const { random } = town;
  player.team = team;
  player.callsign = generateCallsign(team, random);
  player.vehicle = team !== "Jail" && random.chance(DRIVER_SHARE) ? generateVehicle(team, random) : null;
  for (const call of town.emergencies) {
    if (call.team === team) continue;
    call.responderIds = call.responderIds.filter((id) => id !== player.profile.id);
  }
}
