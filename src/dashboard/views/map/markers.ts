// What stands on the map: players with a place, and emergency calls. Names from the game are cut here, once.
import type { Player } from "../../../core/wire/server-info.ts";
import type { EmergencyCall, ServerState } from "../../api/caller.ts";
import { parsePlayerRef } from "../../player-ref.ts";

type Place = {
  /** The same in the next reading, so that what moves is seen to move. */
  readonly key: string;
  readonly x: number;
  readonly y: number;
  readonly team: string;
  /** What the map writes beside it. */
  readonly label: string;
};

export type PlayerMarker = Place & {
  readonly kind: "player";
  readonly name: string;
  readonly callsign: string;
  readonly stars: number;
  readonly postal: string;
  readonly street: string;
  readonly building: string;
};

export type CallMarker = Place & {
  readonly kind: "call";
  readonly number: string;
  readonly description: string;
  readonly where: string;
  readonly startedAt: number | undefined;
};

export type Marker = PlayerMarker | CallMarker;

/** Beyond it the game's own positions make no sense, and floats lose their steps. */
const COORDINATE_MAX = 1e6;
/** More would be no map any more, and no server has as many. */
export const MARKERS_MAX = 1_000;
const LABEL_LENGTH_MAX = 18;
const NAME_LENGTH_MAX = 60;
const TEXT_LENGTH_MAX = 280;
const STARS_MAX = 9;

/** Calls first, then players; within each, in the order of the game. Who has no place is not on the map. */
export function listMarkers(state: ServerState): readonly Marker[] {
  const taken = new Set<string>();
  const markers: Marker[] = [];
  for (const call of state.EmergencyCalls ?? []) {
    const marker = placeCall(call);
    if (marker) markers.push({ ...marker, key: makeUnique(marker.key, taken) });
  }
  for (const player of state.Players ?? []) {
    if (markers.length >= MARKERS_MAX) break;
    const marker = placePlayer(player);
    if (marker) markers.push({ ...marker, key: makeUnique(marker.key, taken) });
  }
  return markers.slice(0, MARKERS_MAX);
}

function placePlayer(player: Player): PlayerMarker | undefined {
  const { LocationX: x, LocationZ: y, PostalCode, StreetName, BuildingNumber } = player.Location ?? {};
  if (!isPlace(x) || !isPlace(y)) return undefined;
  const { name, id } = parsePlayerRef(player.Player);
  const callsign = shortenText(player.Callsign ?? "", LABEL_LENGTH_MAX);
  const shortName = shortenText(name, LABEL_LENGTH_MAX);
  return {
    kind: "player",
    key: `player ${id ?? name}`,
    x,
    y,
    team: shortenText(player.Team ?? "", NAME_LENGTH_MAX),
    label: callsign === "" ? shortName : callsign,
    name: shortenText(name, NAME_LENGTH_MAX),
    callsign,
    stars: Math.min(Math.max(Math.trunc(Number(player.WantedStars ?? 0)) || 0, 0), STARS_MAX),
    postal: shortenText(PostalCode ?? "", NAME_LENGTH_MAX),
    street: shortenText(StreetName ?? "", NAME_LENGTH_MAX),
    building: shortenText(BuildingNumber ?? "", NAME_LENGTH_MAX),
  };
}

function placeCall(call: EmergencyCall): CallMarker | undefined {
  const [x, y] = call.Position ?? [];
  if (!isPlace(x) || !isPlace(y)) return undefined;
  const number = String(call.CallNumber ?? "");
  return {
    kind: "call",
    key: `call ${call.Team} ${number} ${call.StartedAt}`,
    x,
    y,
    team: shortenText(call.Team ?? "", NAME_LENGTH_MAX),
    label: number === "" ? "!" : `#${number}`,
    number,
    description: shortenText(call.Description ?? "", TEXT_LENGTH_MAX),
    where: shortenText(call.PositionDescriptor ?? "", TEXT_LENGTH_MAX),
    startedAt: typeof call.StartedAt === "number" ? call.StartedAt * 1000 : undefined,
  };
}

function isPlace(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= COORDINATE_MAX;
}

function makeUnique(key: string, taken: Set<string>): string {
  let unique = key;
  for (let n = 2; taken.has(unique); n += 1) unique = `${key} ${n}`;
  taken.add(unique);
  return unique;
}

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/** Marks piled on one letter are one letter to the segmenter, and a tower on the screen. */
const UNITS_PER_LETTER_MAX = 12;
/** Would turn the text around it, or break its line. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const UNSEEN = "\ufffd";

/** At most so many letters as people count them, in one line, with nothing in it that acts on its surroundings. */
export function shortenText(text: string, lengthMax: number): string {
  // Joiners hold emoji together; whatever else cannot be seen is shown to be there.
  const flat = text
    .slice(0, lengthMax * UNITS_PER_LETTER_MAX * 2)
    .replace(INVISIBLE, (mark) => (mark === "\u200d" ? mark : mark === "\n" || mark === "\t" ? " " : UNSEEN));
  // Nearly every text ends here: counting letters takes much longer than counting units.
  if (flat.length <= lengthMax) return flat.trim();
  let cut = "";
  let count = 0;
  for (const { segment } of SEGMENTER.segment(flat)) {
    if (count === lengthMax) return `${cut.trimEnd()}…`;
    cut += segment.slice(0, UNITS_PER_LETTER_MAX);
    count += 1;
  }
  return cut.trim();
}
