// Every quirk has an effect when it is on, and none when it is off.
import { describe, expect, test } from "bun:test";
import { SECTIONS } from "../core/sections.ts";
import { buildServerInfo } from "./build-server-info.ts";
import { runRemoteCommand } from "./commands.ts";
import { chooseQuirks, QUIRK_NAMES, type QuirkName, type Quirks } from "./quirks.ts";
import type { Town } from "./town.ts";
import { advanceTown, createTown } from "./town-registry.ts";

const START_MS = 1_800_000_000_000;

type Info = {
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

/** Enough towns for every rare event to have happened. */
const TOWNS: Town[] = Array.from({ length: 24 }, (_, seed) => {
  const town = createTown(
    { seed, serverId: "quirks", playersWanted: 24, maxPlayers: 24, speed: 1, logWindow: 50 },
    START_MS,
  );
  if (seed === 0) for (const profile of town.profiles) profile.rank = "none";
  runRemoteCommand(town, ":h hello");
  runRemoteCommand(town, ":kill all");
  advanceTown(town, START_MS + seed * 5000);
  return town;
});

const buildAll = (quirks: Quirks) => TOWNS.map((town) => buildServerInfo(town, SECTIONS, quirks) as Info);
const isGap = (fields: Fields, field: string) => fields[field] === "" || !(field in fields);
const locationOf = (player: Fields) => (player.Location ?? {}) as Fields;
const hasGap = (list: Fields[], field: string) => list.some((fields) => isGap(fields, field));
const hasEmptyList = (value: unknown) => Array.isArray(value) || Object.values(value as Fields).some(Array.isArray);

/** How to see the effect of a quirk in a ServerInfo. The others are tested in hooks.test.ts and protocol.test.ts. */
const SIGNS: Partial<Record<QuirkName, (info: Info) => boolean>> = {
  emptyMapsAsLists: ({ Staff }) => hasEmptyList(Staff),
  killerMissing: ({ KillLogs }) => hasGap(KillLogs, "Killer"),
  callsignGaps: ({ Players }) => hasGap(Players, "Callsign"),
  textureGaps: ({ Vehicles }) => hasGap(Vehicles, "Texture"),
  postalCodeGaps: ({ Players }) => Players.some((player) => player.Location && isGap(locationOf(player), "PostalCode")),
  buildingNumberGaps: ({ Players }) =>
    Players.some((player) => player.Location && isGap(locationOf(player), "BuildingNumber")),
  colorHexGaps: ({ Vehicles }) => hasGap(Vehicles, "ColorHex"),
  colorNameGaps: ({ Vehicles }) => hasGap(Vehicles, "ColorName"),
  locationMissing: ({ Players }) => hasGap(Players, "Location"),
  emergencyCallerNull: ({ EmergencyCalls }) => EmergencyCalls.some(({ Caller }) => Caller === null),
  emergencyDescriptionNull: ({ EmergencyCalls }) => EmergencyCalls.some(({ Description }) => Description === null),
  emergencyPlaceNull: ({ EmergencyCalls }) =>
    EmergencyCalls.some(({ PositionDescriptor }) => PositionDescriptor === null),
  repeatedCallNumbers: ({ EmergencyCalls }) =>
    new Set(EmergencyCalls.map(({ CallNumber }) => CallNumber)).size < EmergencyCalls.length,
  phoneOrIdVerification: ({ AccVerifiedReq }) => AccVerifiedReq === "Phone/ID",
  serverHelperPermission: ({ Players }) => Players.some(({ Permission }) => Permission === "Server Helper"),
  vehiclePlates: ({ Vehicles }) => Vehicles.some((vehicle) => "Plate" in vehicle),
  remoteServerWithoutId: ({ CommandLogs }) => CommandLogs.some(({ Player }) => Player === "Remote Server"),
  logWindowVaries: ({ JoinLogs, KillLogs }) => JoinLogs.length === 15 && KillLogs.length === 15,
};

describe.each(Object.entries(SIGNS))("quirk %s", (name, hasEffect) => {
  test("has an effect when all quirks are on", () => {
    expect(buildAll(chooseQuirks(true)).some(hasEffect)).toBe(true);
  });

  test("has no effect when it alone is off, nor when all are off", () => {
    expect(buildAll(chooseQuirks({ [name]: false })).some(hasEffect)).toBe(false);
    expect(buildAll(chooseQuirks(false)).some(hasEffect)).toBe(false);
  });
});

test("gaps come in all three forms: null, empty and missing", () => {
  const vehicles = buildAll(chooseQuirks(true)).flatMap(({ Vehicles }) => Vehicles);
  const forms = new Set(
    vehicles.filter((car) => !car.ColorName).map((car) => ("ColorName" in car ? car.ColorName : "missing")),
  );
  expect(forms).toEqual(new Set([null, "", "missing"]));
});

test("only these quirks have no effect on a ServerInfo", () => {
  const elsewhere = QUIRK_NAMES.filter((name) => !(name in SIGNS));
  expect(elsewhere).toEqual([
    "webhookTeamAll",
    "webhookRepeated",
    "webhookUnordered",
    "duplicateParametersRefused",
    "errorInsteadOfMessage",
    "commandIdInAnswer",
  ]);
});
