// Every quirk shows when it is on, and never when it is off.
import { describe, expect, test } from "bun:test";
import { SECTIONS } from "../core/sections.ts";
import { runRemoteCommand } from "./commands.ts";
import { chooseQuirks, QUIRK_NAMES, type QuirkName, type Quirks } from "./quirks.ts";
import type { Town } from "./town.ts";
import { tellTown } from "./town-answer.ts";
import { advanceTown, foundTown } from "./town-clock.ts";

const START_MS = 1_800_000_000_000;

type Told = {
  AccVerifiedReq: string;
  Staff: unknown;
  Players: Fields[];
  JoinLogs: Fields[];
  KillLogs: Fields[];
  CommandLogs: Fields[];
  EmergencyCalls: Fields[];
  Vehicles: Fields[];
};
type Fields = Record<string, unknown>;

/** Some towns at some moments: enough for everything that is rare to have happened. */
const TOWNS: Town[] = Array.from({ length: 24 }, (_, seed) => {
  const town = foundTown({ seed, serverId: "quirks", playersWanted: 24, maxPlayers: 24, speed: 1 }, START_MS);
  if (seed === 0) for (const person of town.people) person.rank = "none";
  runRemoteCommand(town, ":h hello");
  runRemoteCommand(town, ":kill all");
  advanceTown(town, START_MS + seed * 5000);
  return town;
});

const tellAll = (quirks: Quirks) => TOWNS.map((town) => tellTown(town, SECTIONS, quirks) as Told);
const isGap = (fields: Fields, field: string) => fields[field] === "" || !(field in fields);
const locationOf = (player: Fields) => (player.Location ?? {}) as Fields;
const hasGap = (list: Fields[], field: string) => list.some((fields) => isGap(fields, field));
const hasEmptyList = (value: unknown) =>
  Array.isArray(value) || Object.values(value as Fields).some(Array.isArray);

/** How to see a quirk in what is told of a town. Those that show elsewhere are tested with the protocol. */
const SIGNS: Partial<Record<QuirkName, (told: Told) => boolean>> = {
  emptyMapsAsLists: ({ Staff }) => hasEmptyList(Staff),
  killerMissing: ({ KillLogs }) => hasGap(KillLogs, "Killer"),
  callsignGaps: ({ Players }) => hasGap(Players, "Callsign"),
  textureGaps: ({ Vehicles }) => hasGap(Vehicles, "Texture"),
  postalCodeGaps: ({ Players }) =>
    Players.some((player) => player.Location && isGap(locationOf(player), "PostalCode")),
  buildingNumberGaps: ({ Players }) =>
    Players.some((player) => player.Location && isGap(locationOf(player), "BuildingNumber")),
  colorHexGaps: ({ Vehicles }) => hasGap(Vehicles, "ColorHex"),
  colorNameGaps: ({ Vehicles }) => hasGap(Vehicles, "ColorName"),
  locationMissing: ({ Players }) => hasGap(Players, "Location"),
  emergencyCallerNull: ({ EmergencyCalls }) => EmergencyCalls.some(({ Caller }) => Caller === null),
  emergencyDescriptionNull: ({ EmergencyCalls }) =>
    EmergencyCalls.some(({ Description }) => Description === null),
  repeatedCallNumbers: ({ EmergencyCalls }) =>
    new Set(EmergencyCalls.map(({ CallNumber }) => CallNumber)).size < EmergencyCalls.length,
  phoneOrIdVerification: ({ AccVerifiedReq }) => AccVerifiedReq === "Phone/ID",
  serverHelperPermission: ({ Players }) => Players.some(({ Permission }) => Permission === "Server Helper"),
  vehiclePlates: ({ Vehicles }) => Vehicles.some((vehicle) => "Plate" in vehicle),
  remoteServerWithoutId: ({ CommandLogs }) => CommandLogs.some(({ Player }) => Player === "Remote Server"),
  logWindowVaries: ({ JoinLogs, KillLogs }) => JoinLogs.length === 15 && KillLogs.length === 15,
};

describe.each(Object.entries(SIGNS))("quirk %s", (name, shows) => {
  test("shows somewhere when all quirks are on", () => {
    expect(tellAll(chooseQuirks(true)).some(shows)).toBe(true);
  });

  test("shows nowhere when it alone is off, nor when all are off", () => {
    expect(tellAll(chooseQuirks({ [name]: false })).some(shows)).toBe(false);
    expect(tellAll(chooseQuirks(false)).some(shows)).toBe(false);
  });
});

test("gaps come in all three forms: null, empty and missing", () => {
  const vehicles = tellAll(chooseQuirks(true)).flatMap(({ Vehicles }) => Vehicles);
  const forms = new Set(
    vehicles.filter((car) => !car.ColorName).map((car) => ("ColorName" in car ? car.ColorName : "missing")),
  );
  expect(forms).toEqual(new Set([null, "", "missing"]));
});

test("the quirks that show elsewhere than in a town are known by name", () => {
  const elsewhere = QUIRK_NAMES.filter((name) => !(name in SIGNS));
  expect(elsewhere).toEqual(["duplicateParametersRefused", "errorInsteadOfMessage", "commandIdInAnswer"]);
});
