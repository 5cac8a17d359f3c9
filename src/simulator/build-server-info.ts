// Builds the ServerInfo of a town: the eight required fields and the requested sections, as the specification has them
// except where a quirk applies.
import { SECTIONS, type Section } from "../core/sections.ts";
import type { KillEntry, LogEntries, LoggedEntry, LogList } from "./log-lists.ts";
import type { QuirkName, Quirks } from "./quirks.ts";
import { hashOf } from "./random.ts";
import { addressOf, nearestCrossing, pointOf } from "./street-map.ts";
import { type EmergencyCall, listPlayers, type Player, type Profile, type Rank, refOf, type Town } from "./town.ts";

type Fields = Record<string, unknown>;
type Source = { town: Town; quirks: Quirks };

/** The share of the window that a log shows while the quirk `logWindowVaries` shortens it. */
const SHORT_WINDOW_SHARE = 0.3;
const REMOTE_PLAYER = "Remote Server";

const PERMISSIONS: Record<Rank, string> = {
  none: "Normal",
  helper: "Server Helper",
  moderator: "Server Moderator",
  administrator: "Server Administrator",
  "co-owner": "Server Co-Owner",
  owner: "Server Owner",
};

const SECTION_BUILDERS: Record<Section, (source: Source) => unknown> = {
  Players: (source) => listPlayers(source.town).map((player) => buildPlayer(source, player)),
  Staff: buildStaff,
  JoinLogs: (source) => buildLog(source, "JoinLogs"),
  Queue: ({ town }) => town.queue.map(({ id }) => id),
  KillLogs: (source) => buildLog(source, "KillLogs"),
  CommandLogs: (source) => buildLog(source, "CommandLogs"),
  ModCalls: (source) => buildLog(source, "ModCalls"),
  EmergencyCalls: (source) => source.town.emergencies.map((call) => buildEmergency(source, call)),
  Vehicles: (source) => listPlayers(source.town).flatMap((player) => buildVehicle(source, player)),
};

const LOG_BUILDERS: { [L in LogList]: (entry: LogEntries[L], quirks: Quirks) => Fields } = {
  JoinLogs: ({ at, join, player }) => ({ Join: join, Timestamp: at, Player: player }),
  KillLogs: buildKill,
  CommandLogs: ({ at, player, text }, quirks) => ({
    Player: player ?? buildRemotePlayer(quirks),
    Timestamp: at,
    Command: text,
  }),
  ModCalls: ({ at, caller, moderator }) => ({ Caller: caller, Moderator: moderator, Timestamp: at }),
};

export function buildServerInfo(town: Town, sections: readonly Section[], quirks: Quirks): Fields {
  const answer: Fields = {
    Name: town.name,
    OwnerId: town.ownerId,
    CoOwnerIds: town.coOwnerIds,
    CurrentPlayers: town.players.size,
    MaxPlayers: town.maxPlayers,
    JoinKey: town.joinKey,
    AccVerifiedReq: buildVerification(town, quirks),
    TeamBalance: town.hasTeamBalance,
  };
  for (const section of SECTIONS) {
    if (sections.includes(section)) answer[section] = SECTION_BUILDERS[section]({ town, quirks });
  }
  return answer;
}

function buildVerification({ verification }: Town, quirks: Quirks): string {
  return verification === "Phone/ID" && !quirks.isOn("phoneOrIdVerification") ? "Phone" : verification;
}

function buildPlayer(source: Source, { profile, team, callsign, place, stars }: Player): Fields {
  const { town, quirks } = source;
  const { x, z } = pointOf(place);
  const address = addressOf(place);
  const location: Fields = {
    LocationX: x,
    LocationZ: z,
    PostalCode: address.postalCode,
    StreetName: address.streetName,
    BuildingNumber: address.buildingNumber,
  };
  addGap(source, location, "PostalCode", "postalCodeGaps", 9, profile.id, address.postalCode);
  addGap(source, location, "BuildingNumber", "buildingNumberGaps", 7, profile.id, address.postalCode);
  const fields: Fields = {
    Team: team,
    Player: refOf(profile),
    Callsign: callsign,
    Location: location,
    Permission: buildPermission(profile, quirks),
    WantedStars: stars,
  };
  addGap(source, fields, "Callsign", "callsignGaps", 6, profile.id, team);
  if (quirks.affects("locationMissing", 40, town.seed, profile.id)) delete fields.Location;
  return fields;
}

function buildPermission({ rank }: Profile, quirks: Quirks): string {
  return rank === "helper" && !quirks.isOn("serverHelperPermission") ? PERMISSIONS.none : PERMISSIONS[rank];
}

function buildStaff({ town, quirks }: Source): unknown {
  const emptyAsList = quirks.isOn("emptyMapsAsLists");
  const mapOf = (rank: Rank) => {
    const entries = town.profiles.filter((profile) => profile.rank === rank).map(({ id, name }) => [String(id), name]);
    return entries.length === 0 && emptyAsList ? [] : Object.fromEntries(entries);
  };
  const staff = { Admins: mapOf("administrator"), Mods: mapOf("moderator"), Helpers: mapOf("helper") };
  const isEmpty = Object.values(staff).every((map) => Array.isArray(map));
  return isEmpty ? [] : staff;
}

/** One element of a log list. */
export function buildLogElement<L extends LogList>({ list, entry }: LoggedEntry<L>, quirks: Quirks): Fields {
  return LOG_BUILDERS[list](entry, quirks);
}

function buildLog<L extends LogList>({ town, quirks }: Source, list: L): Fields[] {
  // A shortened log loses its oldest entries only, so that the newest entry about each player stays.
  const isShort = quirks.affects("logWindowVaries", 12, town.seed, Math.floor(town.second / 5));
  const count = isShort ? Math.ceil(town.logs.window * SHORT_WINDOW_SHARE) : town.logs.window;
  return town.logs.newest(list, count).map((entry) => LOG_BUILDERS[list](entry, quirks));
}

function buildKill({ at, killed, killer }: KillEntry, quirks: Quirks): Fields {
  const kill: Fields = { Killed: killed, Timestamp: at };
  if (killer !== null || !quirks.isOn("killerMissing")) kill.Killer = killer ?? killed;
  return kill;
}

function buildRemotePlayer(quirks: Quirks): string {
  return quirks.isOn("remoteServerWithoutId") ? REMOTE_PLAYER : `${REMOTE_PLAYER}:0`;
}

export function buildEmergency({ town, quirks }: Source, call: EmergencyCall): Fields {
  const { x, z } = pointOf(call.place);
  const isCallerUnknown = quirks.affects("emergencyCallerNull", 5, town.seed, call.number);
  const isUndescribed = quirks.affects("emergencyDescriptionNull", 5, town.seed, call.number);
  const isPlaceUnknown = quirks.affects("emergencyPlaceNull", 5, town.seed, call.number);
  const place = `${call.place.street.name} near ${nearestCrossing(call.place).name}`;
  return {
    Team: call.team,
    Caller: isCallerUnknown ? null : call.callerId,
    Players: call.responderIds,
    Position: [x, z],
    StartedAt: call.at,
    CallNumber: quirks.isOn("repeatedCallNumbers") ? call.numberInTeam : call.number,
    Description: isUndescribed ? null : call.description,
    PositionDescriptor: isPlaceUnknown ? null : place,
  };
}

function buildVehicle(source: Source, { profile, vehicle }: Player): Fields[] {
  if (!vehicle) return [];
  const fields: Fields = { Name: vehicle.model, Owner: profile.name };
  if (source.quirks.isOn("vehiclePlates")) fields.Plate = vehicle.plate;
  Object.assign(fields, { Texture: vehicle.livery, ColorHex: vehicle.colorHex, ColorName: vehicle.colorName });
  addGap(source, fields, "Texture", "textureGaps", 5, vehicle.plate);
  addGap(source, fields, "ColorHex", "colorHexGaps", 8, vehicle.plate);
  addGap(source, fields, "ColorName", "colorNameGaps", 8, vehicle.plate);
  return [fields];
}

/** Makes the field null, empty or missing if the quirk affects this item. */
function addGap(
  { town, quirks }: Source,
  fields: Fields,
  field: string,
  quirk: QuirkName,
  oneIn: number,
  ...key: readonly (string | number)[]
): void {
  if (!quirks.affects(quirk, oneIn, town.seed, ...key)) return;
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
