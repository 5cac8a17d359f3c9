// Corrupts valid answers in every way that JSON allows. Each call corrupts other sections, so that a few reads show all
// kinds of damage.
import { SECTIONS } from "../core/sections.ts";

type Fields = Record<string, unknown>;

// Raw JSON text keeps big integers exact. TypeScript has no declaration of rawJSON yet.
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

/** Wrong values for the elements of a section: the first for the first element, and so on. */
const WRONG_FIELDS: Record<string, readonly Fields[]> = {
  Players: [
    { WantedStars: "3" },
    { WantedStars: 1.5 },
    { Location: null },
    { Location: "downtown" },
    { Location: { LocationX: "12.5", LocationZ: null, PostalCode: 218, StreetName: ["x"], BuildingNumber: 7 } },
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
  CommandLogs: [{ Player: "Remote Server" }, { Player: null }, { Command: null }, { Command: { text: ":h" } }],
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

/** `callsBefore` chooses the damage. `damagesRequired`: one of the eight required fields is wrong too. */
export function corruptShapes(valid: Fields, callsBefore: number, damagesRequired: boolean): unknown {
  const corrupted: Fields = { ...valid };
  SECTIONS.forEach((section, index) => {
    if (section in valid)
      corrupted[section] = corruptSection(section, valid[section], (index + callsBefore) % SECTIONS.length);
  });
  const coOwners = Array.isArray(valid.CoOwnerIds) ? valid.CoOwnerIds : [];
  corrupted.CoOwnerIds = [...coOwners, rawJSON("1234567890123456789")];
  corrupted.CurrentPlayers = rawJSON(`${valid.CurrentPlayers}.0`);
  corrupted.Weather = { Sky: "green" };
  return damagesRequired ? { ...corrupted, ...WRONG_REQUIRED[callsBefore % WRONG_REQUIRED.length] } : corrupted;
}

/** Of any nine calls, a section is null in one, of the wrong type in one, missing in one, and has wrong fields in six. */
function corruptSection(section: string, value: unknown, variant: number): unknown {
  if (variant === 2) return null;
  if (variant === 5) return section === "Staff" ? "nobody" : { 0: "not a list" };
  if (variant === 8) return undefined;
  if (section === "Staff") return corruptStaff(value);
  if (section === "Queue")
    return [...asList(value), 1.5, "77", null, -1, rawJSON("12345678901234567890"), rawJSON("1e3")];
  return corruptElements(asList(value), WRONG_FIELDS[section] ?? []);
}

function corruptStaff(value: unknown): Fields {
  const { Admins } = value as { Admins?: unknown };
  const admins = typeof Admins === "object" && Admins !== null && !Array.isArray(Admins) ? Admins : {};
  const badKeys = JSON.parse('{"abc": "Letters", "-1": "Minus", "": "Empty", "1.5": "Half", "__proto__": "Proto"}');
  return { Admins: { ...admins, ...badKeys, 77: 5 }, Mods: null, Helpers: ["not", "a", "map"], Interns: {} };
}

function corruptElements(elements: readonly unknown[], wrongFields: readonly Fields[]): unknown[] {
  const template = (elements[0] ?? {}) as Fields;
  const corrupted = wrongFields.map((wrong, index) => ({ ...((elements[index] ?? template) as Fields), ...wrong }));
  return [...corrupted, ...elements.slice(wrongFields.length), ...STRAY_ELEMENTS];
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
