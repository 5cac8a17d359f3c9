// What the game API says about a town: the eight fields and the sections asked for, in the shapes of the
// specification, except where a quirk bends them.
import { SECTIONS, type Section } from "../core/sections.ts";
import type { BoundedLog } from "./bounded-log.ts";
import type { QuirkName, Quirks } from "./quirks.ts";
import { hashOf } from "./random.ts";
import { addressOf, nearestCrossing, pointOf } from "./street-map.ts";
import {
  type EmergencyCall,
  listResidents,
  type Person,
  type Rank,
  type Resident,
  refOf,
  type Town,
} from "./town.ts";

type Fields = Record<string, unknown>;
/** A town as it is told with certain quirks. */
type Telling = { town: Town; quirks: Quirks };

const SHORT_WINDOW = 15;
const REMOTE_PLAYER = "Remote Server";

const PERMISSIONS: Record<Rank, string> = {
  none: "Normal",
  helper: "Server Helper",
  moderator: "Server Moderator",
  administrator: "Server Administrator",
  "co-owner": "Server Co-Owner",
  owner: "Server Owner",
};

const TELLERS: Record<Section, (telling: Telling) => unknown> = {
  Players: (telling) => listResidents(telling.town).map((resident) => tellPlayer(telling, resident)),
  Staff: tellStaff,
  JoinLogs: (telling) =>
    windowOf(telling, telling.town.joins).map(({ at, join, player }) => ({
      Join: join,
      Timestamp: at,
      Player: player,
    })),
  Queue: ({ town }) => town.queue.map(({ id }) => id),
  KillLogs: tellKills,
  CommandLogs: (telling) =>
    windowOf(telling, telling.town.commands).map(({ at, player, text }) => ({
      Player: player ?? tellRemotePlayer(telling),
      Timestamp: at,
      Command: text,
    })),
  ModCalls: (telling) =>
    windowOf(telling, telling.town.modCalls).map(({ at, caller, moderator }) => ({
      Caller: caller,
      Moderator: moderator,
      Timestamp: at,
    })),
  EmergencyCalls: (telling) => telling.town.emergencies.map((call) => tellEmergency(telling, call)),
  Vehicles: (telling) => listResidents(telling.town).flatMap((resident) => tellVehicle(telling, resident)),
};

export function tellTown(town: Town, sections: readonly Section[], quirks: Quirks): Fields {
  const answer: Fields = {
    Name: town.name,
    OwnerId: town.ownerId,
    CoOwnerIds: town.coOwnerIds,
    CurrentPlayers: town.residents.size,
    MaxPlayers: town.maxPlayers,
    JoinKey: town.joinKey,
    AccVerifiedReq: tellVerification(town, quirks),
    TeamBalance: town.hasTeamBalance,
  };
  for (const section of SECTIONS) {
    if (sections.includes(section)) answer[section] = TELLERS[section]({ town, quirks });
  }
  return answer;
}

function tellVerification({ verification }: Town, quirks: Quirks): string {
  return verification === "Phone/ID" && !quirks.isOn("phoneOrIdVerification") ? "Phone" : verification;
}

function tellPlayer(telling: Telling, { person, team, callsign, place, stars }: Resident): Fields {
  const { town, quirks } = telling;
  const { x, z } = pointOf(place);
  const address = addressOf(place);
  const location: Fields = {
    LocationX: x,
    LocationZ: z,
    PostalCode: address.postalCode,
    StreetName: address.streetName,
    BuildingNumber: address.buildingNumber,
  };
  thin(telling, location, "PostalCode", "postalCodeGaps", 9, person.id, address.postalCode);
  thin(telling, location, "BuildingNumber", "buildingNumberGaps", 7, person.id, address.postalCode);
  const player: Fields = {
    Team: team,
    Player: refOf(person),
    Callsign: callsign,
    Location: location,
    Permission: tellPermission(person, quirks),
    WantedStars: stars,
  };
  thin(telling, player, "Callsign", "callsignGaps", 6, person.id, team);
  if (quirks.isOdd("locationMissing", 40, town.seed, person.id)) delete player.Location;
  return player;
}

function tellPermission({ rank }: Person, quirks: Quirks): string {
  return rank === "helper" && !quirks.isOn("serverHelperPermission") ? PERMISSIONS.none : PERMISSIONS[rank];
}

function tellStaff({ town, quirks }: Telling): unknown {
  const asList = quirks.isOn("emptyMapsAsLists");
  const mapOf = (rank: Rank) => {
    const entries = town.people
      .filter((person) => person.rank === rank)
      .map(({ id, name }) => [String(id), name]);
    return entries.length === 0 && asList ? [] : Object.fromEntries(entries);
  };
  const staff = { Admins: mapOf("administrator"), Mods: mapOf("moderator"), Helpers: mapOf("helper") };
  const isEmpty = Object.values(staff).every((map) => Array.isArray(map));
  return isEmpty ? [] : staff;
}

function tellKills(telling: Telling): Fields[] {
  const isKillerMissing = telling.quirks.isOn("killerMissing");
  return windowOf(telling, telling.town.kills).map(({ at, killed, killer }) => {
    const kill: Fields = { Killed: killed, Timestamp: at };
    if (killer !== null || !isKillerMissing) kill.Killer = killer ?? killed;
    return kill;
  });
}

function tellRemotePlayer({ quirks }: Telling): string {
  return quirks.isOn("remoteServerWithoutId") ? REMOTE_PLAYER : `${REMOTE_PLAYER}:0`;
}

function tellEmergency({ town, quirks }: Telling, call: EmergencyCall): Fields {
  const { x, z } = pointOf(call.place);
  const isCallerUnknown = quirks.isOdd("emergencyCallerNull", 5, town.seed, call.number);
  const isUndescribed = quirks.isOdd("emergencyDescriptionNull", 5, town.seed, call.number);
  return {
    Team: call.team,
    Caller: isCallerUnknown ? null : call.callerId,
    Players: call.responderIds,
    Position: [x, z],
    StartedAt: call.at,
    CallNumber: quirks.isOn("repeatedCallNumbers") ? call.numberInTeam : call.number,
    Description: isUndescribed ? null : call.description,
    PositionDescriptor: `${call.place.street.name} near ${nearestCrossing(call.place).name}`,
  };
}

function tellVehicle(telling: Telling, { person, vehicle }: Resident): Fields[] {
  if (!vehicle) return [];
  const fields: Fields = { Name: vehicle.model, Owner: person.name };
  if (telling.quirks.isOn("vehiclePlates")) fields.Plate = vehicle.plate;
  Object.assign(fields, {
    Texture: vehicle.livery,
    ColorHex: vehicle.colorHex,
    ColorName: vehicle.colorName,
  });
  thin(telling, fields, "Texture", "textureGaps", 5, vehicle.plate);
  thin(telling, fields, "ColorHex", "colorHexGaps", 8, vehicle.plate);
  thin(telling, fields, "ColorName", "colorNameGaps", 8, vehicle.plate);
  return [fields];
}

/** Makes a field of some items null, empty or missing. */
function thin(
  { town, quirks }: Telling,
  fields: Fields,
  field: string,
  quirk: QuirkName,
  oneIn: number,
  ...key: readonly (string | number)[]
): void {
  if (!quirks.isOdd(quirk, oneIn, town.seed, ...key)) return;
  switch (hashOf("gap", quirk, town.seed, ...key) % 3) {
    case 0:
      fields[field] = null;
      break;
    case 1:
      fields[field] = "";
      break;
    default:
      delete fields[field];
  }
}

/** Only the old end is ever cut, so that the newest word about each player stands. */
function windowOf<T>({ town, quirks }: Telling, log: BoundedLog<T>): readonly T[] {
  const isShort = quirks.isOdd("logWindowVaries", 12, town.seed, Math.floor(town.second / 5));
  return isShort ? log.newest(SHORT_WINDOW) : log.newest();
}
