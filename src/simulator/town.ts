// The state of one simulated town, and the few questions that every other file asks of it. Nothing here acts.
import type { BoundedLog } from "./bounded-log.ts";
import type { Random } from "./random.ts";
import type { Place } from "./street-map.ts";
import type { ServiceTeam, Team } from "./teams.ts";
import type { Vehicle } from "./vehicles.ts";

export const RANKS = ["none", "helper", "moderator", "administrator", "co-owner", "owner"] as const;
export type Rank = (typeof RANKS)[number];

/** Someone who may come to town; keeps name, id and rank between visits. */
export type Person = { id: number; name: string; rank: Rank };

/** Someone who is in town now. Times are seconds of town time. */
export type Resident = {
  person: Person;
  team: Team;
  callsign: string | null;
  place: Place;
  unitsPerSecond: number;
  stars: number;
  freeAt: number;
  vehicle: Vehicle | null;
};

export type JoinEntry = { at: number; join: boolean; player: string };
/** `killer` is null when the surroundings killed. */
export type KillEntry = { at: number; killed: string; killer: string | null };
/** `player` is null for a command that came through the API. */
export type CommandEntry = { at: number; player: string | null; text: string };
export type ModCall = { at: number; caller: string; moderator: string | null; answerAt: number | null };

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
  /** Wall-clock time of second 0 of town time, and how many seconds of town time pass in one of ours. */
  readonly originMs: number;
  readonly speed: number;
  readonly random: Random;
  /** Seconds of town time; negative in the past that is made up before the first read. */
  second: number;
  readonly people: Person[];
  readonly banned: Map<number, Person>;
  readonly residents: Map<number, Resident>;
  queue: Person[];
  readonly joins: BoundedLog<JoinEntry>;
  readonly kills: BoundedLog<KillEntry>;
  readonly commands: BoundedLog<CommandEntry>;
  readonly modCalls: BoundedLog<ModCall>;
  emergencies: EmergencyCall[];
  emergencyCount: number;
  readonly emergencyCountOfTeam: Map<ServiceTeam, number>;
};

export function refOf(person: Person): string {
  return `${person.name}:${person.id}`;
}

/** The wall-clock second at which the town's present second happens. */
export function timestampOf(town: Town): number {
  return Math.floor((town.originMs + (town.second * 1000) / town.speed) / 1000);
}

export function isStaff(person: Person): boolean {
  return person.rank !== "none";
}

export function listResidents(town: Town): Resident[] {
  return [...town.residents.values()];
}

/** Small towns are quieter and big ones busier, within reason. */
export function bustleOf(town: Town): number {
  return Math.min(3, Math.max(0.7, town.residents.size / 24));
}
