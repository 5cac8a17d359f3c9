// The ways in which the real game API deviates from its specification. Each quirk can be switched on and off. Which items
// it affects follows from the seed, so that two reads show the same.
import { hashOf } from "./random.ts";

export const QUIRKS = {
  emptyMapsAsLists: "an empty map arrives as []",
  killerMissing: "a death by the surroundings has no Killer (otherwise the dead are their own killers)",
  callsignGaps: "Callsign null, empty or missing outside the civilian team too",
  textureGaps: "Texture null, empty or missing",
  postalCodeGaps: "PostalCode null, empty or missing",
  buildingNumberGaps: "BuildingNumber null, empty or missing",
  colorHexGaps: "ColorHex null, empty or missing",
  colorNameGaps: "ColorName null, empty or missing",
  locationMissing: "a player without Location",
  emergencyCallerNull: "Caller of an emergency call null",
  emergencyDescriptionNull: "Description of an emergency call null",
  emergencyPlaceNull: "PositionDescriptor of an emergency call null",
  repeatedCallNumbers: "CallNumber counted for each team, so that two teams share a number",
  webhookTeamAll: "a webhook gives ALL as the team of an emergency call",
  webhookRepeated: "now and then a webhook is sent twice, with the same body and headers",
  webhookUnordered: "now and then a webhook waits until the next one was sent",
  phoneOrIdVerification: "AccVerifiedReq Phone/ID",
  serverHelperPermission: "Permission Server Helper",
  vehiclePlates: "vehicles carry Plate",
  remoteServerWithoutId: "commands of the API logged as Remote Server, without an id",
  logWindowVaries: "now and then the logs show only their newest entries",
  duplicateParametersRefused: "a query parameter given twice is 400",
  errorInsteadOfMessage: "some errors come as {error, code}",
  commandIdInAnswer: "some commands are answered with a commandId",
} as const;

export type QuirkName = keyof typeof QUIRKS;
export const QUIRK_NAMES = Object.keys(QUIRKS) as QuirkName[];

export type Quirks = {
  isOn(name: QuirkName): boolean;
  /** Whether the quirk is on and affects the item with this key. One item in `oneIn` is affected. */
  affects(name: QuirkName, oneIn: number, ...key: readonly (string | number)[]): boolean;
};

/** `true` or undefined: all quirks. `false`: none. A table: all but those that it sets to false. */
export type QuirkChoice = boolean | Partial<Record<QuirkName, boolean>>;

export function chooseQuirks(choice: QuirkChoice | undefined): Quirks {
  const isOn = (name: QuirkName) => (typeof choice === "object" ? (choice[name] ?? true) : (choice ?? true));
  return { isOn, affects: (name, oneIn, ...key) => isOn(name) && hashOf(name, ...key) % oneIn === 0 };
}

/** Every quirk affects every item. */
export const ALL_QUIRKS_ALWAYS: Quirks = { isOn: () => true, affects: () => true };
