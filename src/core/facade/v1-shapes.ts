// The shapes of the game API that differ from those of /v2/game/server: version 1, and kills without a killer. JSON text in,
// JSON text out; numbers stay as they were written.
import { parseExactJson } from "../exact-json.ts";
import type { ServerParts } from "../ports/upstream.ts";
import { SECTIONS, type Section } from "../sections.ts";
import { ServerBase } from "../wire/server-info.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What each path below /erlc/v1/server answers with. `server` is that path itself. */
export const V1_RESOURCES = [
  "server",
  "players",
  "staff",
  "joinlogs",
  "queue",
  "killlogs",
  "commandlogs",
  "modcalls",
  "vehicles",
] as const;
export type V1Resource = (typeof V1_RESOURCES)[number];

/** The section that each resource is made of; undefined when it needs none. */
export const SECTION_OF_V1: Readonly<Record<V1Resource, Section | undefined>> = {
  server: undefined,
  players: "Players",
  staff: "Staff",
  joinlogs: "JoinLogs",
  queue: "Queue",
  killlogs: "KillLogs",
  commandlogs: "CommandLogs",
  modcalls: "ModCalls",
  vehicles: "Vehicles",
};

const BASE_FIELDS = Object.keys(ServerBase.properties);
const PLAYER_FIELDS = ["Player", "Permission", "Callsign", "Team"];
const VEHICLE_FIELDS = ["Texture", "Name", "Owner"];
const EMPTY_STAFF = '{"Admins":{},"Mods":{},"Helpers":{}}';

/** A section as the façade shows it. */
export function writeSection(parts: ServerParts, section: Section): string {
  const text = parts.sections[SECTIONS.indexOf(section)] ?? writeEmptySection(section);
  return section === "KillLogs" ? fillKillers(text) : text;
}

/** A section that the key may not read. */
export function writeEmptySection(section: Section): string {
  return section === "Staff" ? EMPTY_STAFF : "[]";
}

export function writeV1(parts: ServerParts, resource: V1Resource): string {
  const section = SECTION_OF_V1[resource];
  if (section === undefined) return JSON.stringify(pick(parseBase(parts), BASE_FIELDS));
  const text = writeSection(parts, section);
  if (section === "Players") return JSON.stringify(pickEach(text, PLAYER_FIELDS));
  if (section === "Vehicles") return JSON.stringify(pickEach(text, VEHICLE_FIELDS));
  if (section !== "Staff") return text;
  const { Admins, Mods, Helpers } = parseExactJson(text) as Fields;
  return JSON.stringify({ CoOwners: parseBase(parts).CoOwnerIds, Admins, Mods, Helpers });
}

/** Clients in the field crash when `Killer` is missing, as it is when the environment killed somebody. */
export function fillKillers(text: string): string {
  const kills = parseExactJson(text) as Fields[];
  if (kills.every((kill) => "Killer" in kill)) return text;
  return JSON.stringify(kills.map((kill) => ("Killer" in kill ? kill : { ...kill, Killer: "" })));
}

/** The text of the required fields has no closing brace. */
function parseBase({ base }: ServerParts): Fields {
  return parseExactJson(`${base}}`) as Fields;
}

function pickEach(text: string, names: readonly string[]): Fields[] {
  return (parseExactJson(text) as Fields[]).map((element) => pick(element, names));
}

function pick(element: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.filter((name) => name in element).map((name) => [name, element[name]]));
}
