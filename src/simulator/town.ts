// The state of one simulated town, which is the game world of one server. Only types and queries: nothing here changes it.
import type { ServiceTeam, Team, Vehicle } from "./names.ts";
import type { Random } from "./random.ts";
import type { Place } from "./street-map.ts";
import type { TownLogs } from "./town-logs.ts";

export const RANKS = ["none", "helper", "moderator", "administrator", "co-owner", "owner"] as const;
export type Rank = (typeof RANKS)[number];

/** A user of the game, online or not. */
export type Profile = { id: number; name: string; rank: Rank };

/** A user who is online. `releasedAt` is when a jailed player becomes free, in seconds of town time. */
export type Player = {
  profile: Profile;
  team: Team;
  callsign: string | null;
  place: Place;
  unitsPerSecond: number;
  stars: number;
  releasedAt: number;
  vehicle: Vehicle | null;
};

export type EmergencyCall = {
  at: number;
  number: number;
  numberInTeam: number;
  team: ServiceTeam;
  callerId: number;
  responderIds: number[];
  place: Place;
  description: string;
  endsAt: number;
  isFire: boolean;
};

/** An event that the game tells by webhook. */
export type HookEvent = {
  readonly event: string;
  /** Epoch seconds. */
  readonly timestamp: number;
  readonly origin: string;
  readonly data: Readonly<Record<string, unknown>>;
};

/** Collects what is told by webhook. */
export type HookCollector = {
  /** Called for every second of the town. */
  collect(town: Town): void;
  /** Those that nobody has taken yet, oldest first. */
  take(): HookEvent[];
};

export type Town = {
  readonly seed: number;
  readonly name: string;
  readonly joinKey: string;
  readonly verification: "Disabled" | "Email" | "Phone" | "ID" | "Phone/ID";
  readonly hasTeamBalance: boolean;
  readonly ownerId: number;
  readonly coOwnerIds: readonly number[];
  readonly playersWanted: number;
  readonly maxPlayers: number;
  /** Wall-clock time of second 0 of town time. */
  readonly originMs: number;
  /** Seconds of town time per second of wall-clock time. */
  readonly speed: number;
  readonly random: Random;
  /** The current second of town time; negative while the past before the first read is simulated. */
  second: number;
  /** Everyone who may join and is not banned. */
  readonly profiles: Profile[];
  readonly banned: Map<number, Profile>;
  /** Those who are online, by id. */
  readonly players: Map<number, Player>;
  queue: Profile[];
  readonly logs: TownLogs;
  /** How many entries bursts have added, so that no two bursts add the same. */
  burstEntryCount: number;
  emergencies: EmergencyCall[];
  emergencyCount: number;
  readonly emergencyCountOfTeam: Map<ServiceTeam, number>;
  /** What is told by webhook; null while nobody is told. */
  hooks: HookCollector | null;
};

/** The player as the game API names them: `name:id`. */
export function refOf(profile: Profile): string {
  return `${profile.name}:${profile.id}`;
}

/** The wall-clock time of the town's current second, in epoch seconds. */
export function timestampOf(town: Town): number {
  return Math.floor((town.originMs + (town.second * 1000) / town.speed) / 1000);
}

export function isStaff(profile: Profile): boolean {
  return profile.rank !== "none";
}

export function listPlayers(town: Town): Player[] {
  return [...town.players.values()];
}

/** How busy the town is: 1 with 24 players, between 0.7 and 3. */
export function activityOf(town: Town): number {
  return Math.min(3, Math.max(0.7, town.players.size / 24));
}
