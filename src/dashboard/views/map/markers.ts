// The markers of the map: players with a position, emergency calls, and the kills of the last minute. Texts from the game are shortened here.
import type { Location, Player } from "../../../core/wire/server-info.ts";
import type { EmergencyCall, ServerState } from "../../api/caller.ts";
import { type PlayerRef, parsePlayerRef } from "../../player-ref.ts";
import type { Point } from "./viewport.ts";

type MarkerBase = {
  /** The same in every reading, so that the map can animate a move. */
  readonly key: string;
  readonly x: number;
  readonly y: number;
  readonly team: string;
  /** The text next to the marker. */
  readonly label: string;
};

export type PlayerMarker = MarkerBase & {
  readonly kind: "player";
  readonly id?: string | undefined;
  readonly name: string;
  readonly callsign: string;
  readonly stars: number;
  /** Whether the player waits for a moderator. */
  readonly isCalling: boolean;
  readonly postal: string;
  readonly street: string;
  readonly building: string;
};

export type CallMarker = MarkerBase & {
  readonly kind: "call";
  readonly number: string;
  readonly description: string;
  readonly where: string;
  readonly startedAt: number | undefined;
};

export type KillMarker = MarkerBase & {
  readonly kind: "kill";
  readonly killed: PlayerRef;
  readonly killer: PlayerRef | undefined;
  readonly at: number;
  /** How far it has faded, from 0 to KILL_STEPS - 1. */
  readonly step: number;
};

export type Marker = PlayerMarker | CallMarker | KillMarker;

/** A kill of the last minute, and where it was. */
export type KillMark = Point & {
  readonly key: string;
  readonly killed: PlayerRef;
  /** Undefined when nobody killed the player. */
  readonly killer: PlayerRef | undefined;
  readonly at: number;
};

/** A mark is fainter after each step, and gone after the last one. */
export const KILL_STEP_MS = 15_000;
export const KILL_STEPS = 4;

/** What the map shows beside the state. */
export type MarkerContext = {
  /** The ids of the players who wait for a moderator. */
  readonly callers: ReadonlySet<string>;
  readonly kills: readonly KillMark[];
  readonly now: number;
};
const NO_CONTEXT: MarkerContext = { callers: new Set(), kills: [], now: 0 };

/** Larger coordinates are not valid positions of the game. */
const COORDINATE_MAX = 1e6;
/** More than any server has players. */
export const MARKERS_MAX = 1_000;
const LABEL_LENGTH_MAX = 18;
const NAME_LENGTH_MAX = 60;
const TEXT_LENGTH_MAX = 280;
const STARS_MAX = 9;

/**
 * Kills first, then calls, then players: of those at one point, the last is hovered. Each in the order of the game; those
 * without a valid position are left out.
 */
export function listMarkers(state: ServerState, context: MarkerContext = NO_CONTEXT): readonly Marker[] {
  const taken = new Set<string>();
  const markers: Marker[] = context.kills.map((kill) => toKillMarker(kill, context.now));
  for (const call of state.EmergencyCalls ?? []) {
    const marker = toCallMarker(call);
    if (marker) markers.push({ ...marker, key: makeUnique(marker.key, taken) });
  }
  for (const player of state.Players ?? []) {
    if (markers.length >= MARKERS_MAX) break;
    const marker = toPlayerMarker(player, context.callers);
    if (marker) markers.push({ ...marker, key: makeUnique(marker.key, taken) });
  }
  return markers.slice(0, MARKERS_MAX);
}

function toKillMarker(kill: KillMark, now: number): KillMarker {
  const shorten = ({ name, id }: PlayerRef): PlayerRef => ({ name: shortenText(name, NAME_LENGTH_MAX), id });
  return {
    kind: "kill",
    key: kill.key,
    x: kill.x,
    y: kill.y,
    team: "",
    label: "",
    killed: shorten(kill.killed),
    killer: kill.killer && shorten(kill.killer),
    at: kill.at,
    step: findKillStep(kill.at, now),
  };
}

/** 0 at first, then one more after each step. */
function findKillStep(at: number, now: number): number {
  return Math.min(Math.max(Math.floor((now - at) / KILL_STEP_MS), 0), KILL_STEPS - 1);
}

/** Undefined without a valid position. */
export function readPoint(location: Location | null | undefined): Point | undefined {
  const { LocationX: x, LocationZ: y } = location ?? {};
  return isCoordinate(x) && isCoordinate(y) ? { x, y } : undefined;
}

function toPlayerMarker(player: Player, callers: ReadonlySet<string>): PlayerMarker | undefined {
  const { PostalCode, StreetName, BuildingNumber } = player.Location ?? {};
  const point = readPoint(player.Location);
  if (!point) return undefined;
  const { name, id } = parsePlayerRef(player.Player);
  const callsign = shortenText(player.Callsign ?? "", LABEL_LENGTH_MAX);
  const shortName = shortenText(name, LABEL_LENGTH_MAX);
  return {
    kind: "player",
    id,
    key: `player ${id ?? name}`,
    ...point,
    team: shortenText(player.Team ?? "", NAME_LENGTH_MAX),
    label: callsign === "" ? shortName : callsign,
    name: shortenText(name, NAME_LENGTH_MAX),
    callsign,
    isCalling: id !== undefined && callers.has(id),
    stars: Math.min(Math.max(Math.trunc(Number(player.WantedStars ?? 0)) || 0, 0), STARS_MAX),
    postal: shortenText(PostalCode ?? "", NAME_LENGTH_MAX),
    street: shortenText(StreetName ?? "", NAME_LENGTH_MAX),
    building: shortenText(BuildingNumber ?? "", NAME_LENGTH_MAX),
  };
}

function toCallMarker(call: EmergencyCall): CallMarker | undefined {
  const [x, y] = call.Position ?? [];
  if (!isCoordinate(x) || !isCoordinate(y)) return undefined;
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

function isCoordinate(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= COORDINATE_MAX;
}

function makeUnique(key: string, taken: Set<string>): string {
  let unique = key;
  for (let n = 2; taken.has(unique); n += 1) unique = `${key} ${n}`;
  taken.add(unique);
  return unique;
}

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/** The segmenter counts a letter with many combining marks as one, but they would be drawn very high. */
const UNITS_PER_LETTER_MAX = 12;
/** Characters that could change the direction of the text or break its line. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const REPLACEMENT = "\ufffd";

/** Cuts a text to `lengthMax` graphemes in one line, and replaces invisible characters. */
export function shortenText(text: string, lengthMax: number): string {
  // Joiners are kept, because emoji sequences need them.
  const flat = text
    .slice(0, lengthMax * UNITS_PER_LETTER_MAX * 2)
    .replace(INVISIBLE, (mark) => (mark === "\u200d" ? mark : mark === "\n" || mark === "\t" ? " " : REPLACEMENT));
  // A fast path for nearly every text: the segmenter is slow.
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
