// Answers as wrong as JSON allows: the honest telling of a town, spoiled. Each turn spoils other sections, so that a
// few reads show everything.
import { SECTIONS } from "../core/sections.ts";

type Fields = Record<string, unknown>;

// Big integers survive only as raw JSON text; the type declarations do not know rawJSON yet.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

const STRAY_ELEMENTS: readonly unknown[] = [null, 42, "stray", [], true];
const HOSTILE_NAMES = [
  "<img src=x onerror=alert(1)>:66",
  "\u202Eevil\u202C\u0000name:67",
  `${"W".repeat(10_000)}:68`,
  "no-id-at-all",
  "a:b:c:69",
  "__proto__:70",
];

/** Wrong values that are put, one after the other, into the elements of a section. */
const WRONG_FIELDS: Record<string, readonly Fields[]> = {
  Players: [
    { WantedStars: "3" },
    { WantedStars: 1.5 },
    { Location: null },
    { Location: "downtown" },
    {
      Location: { LocationX: "12.5", LocationZ: null, PostalCode: 218, StreetName: ["x"], BuildingNumber: 7 },
    },
    { Permission: 7, Team: null },
    { Team: "Coast Guard", Permission: "Server Wizard", Mood: "sunny" },
    ...HOSTILE_NAMES.map((name) => ({ Player: name })),
    { Player: 123, Callsign: 5 },
  ],
  JoinLogs: [
    { Join: "true" },
    { Timestamp: "1704614400" },
    { Timestamp: 1704614400.5 },
    { Player: null },
    { Extra: 1 },
  ],
  KillLogs: [{ Killer: null }, { Killed: 5 }, { Timestamp: -1 }, { Timestamp: null }],
  CommandLogs: [
    { Player: "Remote Server" },
    { Player: null },
    { Command: null },
    { Command: { text: ":h" } },
  ],
  ModCalls: [{ Moderator: "" }, { Moderator: 7 }, { Caller: null }, { Timestamp: "soon" }],
  EmergencyCalls: [
    { Position: [1, 2, 3] },
    { Position: [1] },
    { Position: null },
    { Position: ["1", "2"] },
    { Players: null },
    { Players: [1, "2", null, rawJSON("98765432109876543210")] },
    { Caller: "168", CallNumber: "400" },
    { Caller: rawJSON("9007199254740993"), CallNumber: 1.5 },
    { StartedAt: null, Description: null, PositionDescriptor: null },
  ],
  Vehicles: [
    { ColorHex: 16711680 },
    { ColorHex: "red" },
    { Owner: null },
    { Name: 1 },
    { Texture: false },
    { Wheels: 4 },
  ],
};

const WRONG_REQUIRED: readonly Fields[] = [
  { OwnerId: "123" },
  { CurrentPlayers: 1.5 },
  { Name: null },
  { CoOwnerIds: null },
  { MaxPlayers: undefined },
  { TeamBalance: "true" },
  { JoinKey: 7 },
  { AccVerifiedReq: null },
];

export function spoilShapes(honest: Fields, turn: number, isRequiredSpoiled: boolean): unknown {
  const spoiled: Fields = { ...honest };
  SECTIONS.forEach((section, index) => {
    if (section in honest)
      spoiled[section] = spoilSection(section, honest[section], (index + turn) % SECTIONS.length);
  });
  const coOwners = Array.isArray(honest.CoOwnerIds) ? honest.CoOwnerIds : [];
  spoiled.CoOwnerIds = [...coOwners, rawJSON("1234567890123456789")];
  spoiled.CurrentPlayers = rawJSON(`${honest.CurrentPlayers}.0`);
  spoiled.Weather = { Sky: "green" };
  return isRequiredSpoiled ? { ...spoiled, ...WRONG_REQUIRED[turn % WRONG_REQUIRED.length] } : spoiled;
}

/** Of any nine turns, a section is null in one, of another type in one, missing in one, and spoiled within in six. */
function spoilSection(section: string, value: unknown, treatment: number): unknown {
  if (treatment === 2) return null;
  if (treatment === 5) return section === "Staff" ? "nobody" : { 0: "not a list" };
  if (treatment === 8) return undefined;
  if (section === "Staff") return spoilStaff(value);
  if (section === "Queue")
    return [...asList(value), 1.5, "77", null, -1, rawJSON("12345678901234567890"), rawJSON("1e3")];
  return spoilElements(asList(value), WRONG_FIELDS[section] ?? []);
}

function spoilStaff(value: unknown): Fields {
  const { Admins } = value as { Admins?: unknown };
  const admins = typeof Admins === "object" && Admins !== null && !Array.isArray(Admins) ? Admins : {};
  const badKeys = JSON.parse(
    '{"abc": "Letters", "-1": "Minus", "": "Empty", "1.5": "Half", "__proto__": "Proto"}',
  );
  return { Admins: { ...admins, ...badKeys, 77: 5 }, Mods: null, Helpers: ["not", "a", "map"], Interns: {} };
}

function spoilElements(elements: readonly unknown[], wrongFields: readonly Fields[]): unknown[] {
  const model = (elements[0] ?? {}) as Fields;
  const spoiled = wrongFields.map((wrong, index) => ({
    ...((elements[index] ?? model) as Fields),
    ...wrong,
  }));
  return [...spoiled, ...elements.slice(wrongFields.length), ...STRAY_ELEMENTS];
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
