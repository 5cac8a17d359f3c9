// What a webhook of the game says, as the ledger sees it. The values are JSON text, because exact numbers do not survive the way
// into another thread.
import { isJsonInteger, isJsonNumber, parseExactJson, writeIntegers } from "../exact-json.ts";
import type { CustomCommand } from "../wire/event-data.ts";
import { type Element, textOf, timeOf } from "./elements.ts";
import type { EventType } from "./event-types.ts";

/** A Data with more bytes is kept as the beginning of its JSON text, with as many characters. */
export const UNKNOWN_DATA_MAX = 4_096;
const PLAYER_ID = /^[0-9]{1,32}$/;

/** What tells one emergency call from another, as JSON text. */
export type CallKeys = { readonly team: string; readonly number: string; readonly startedAt: string };

export type ToldCall = CallKeys & {
  readonly isEnd: boolean;
  /** Null when the webhook gives no usable time. */
  readonly at: number | null;
  /** Named as a read names them, in its order. */
  readonly fields: Readonly<Record<string, string>>;
};

export type ToldCustom = {
  readonly type: Extract<EventType, "custom.command" | "custom.unknown">;
  readonly at: number | null;
  readonly data: string;
  readonly players: readonly string[];
};

export type ToldEvent = ToldCall | ToldCustom;

/** A body of the game. `dropped` counts the events that are none. */
export type HookBody = {
  /** The part of a server key after the hyphen; null when the body names no server. */
  readonly server: string | null;
  readonly events: readonly ToldEvent[];
  readonly probes: number;
  readonly dropped: number;
};

/** A webhook on its way into the ledger of one server. */
export type GameHook = {
  /** The game server that it is about. */
  readonly gameServer: string;
  /** In lower case. Names the webhook, so that a repeated one is recognised. */
  readonly signature: string;
  readonly seenAt: number;
  readonly events: readonly ToldEvent[];
};

const NOTHING_TOLD: HookBody = { server: null, events: [], probes: 0, dropped: 0 };

/** The size of a body bounds how much it can tell. Throws SyntaxError or RangeError for what is no JSON, or is nested too deeply. */
export function parseHookBody(text: string): HookBody {
  const body = parseExactJson(text);
  if (!isObject(body)) return NOTHING_TOLD;
  const server = typeof body.server === "string" ? body.server : null;
  const given: readonly unknown[] = Array.isArray(body.events) ? body.events : [];
  const parsed = given.map(parseEvent);
  return {
    server,
    events: parsed.filter((told) => typeof told === "object"),
    probes: parsed.filter((told) => told === "probe").length,
    dropped: parsed.filter((told) => told === "dropped").length,
  };
}

export function isToldCall(told: ToldEvent): told is ToldCall {
  return "fields" in told;
}

/** A known kind with a broken shape is kept as it is, as an unknown one: the game may have changed. */
function parseEvent(element: unknown): ToldEvent | "probe" | "dropped" {
  if (!isObject(element) || typeof element.event !== "string") return "dropped";
  switch (element.event) {
    case "WebhookProbe":
      return "probe";
    case "CustomCommand":
      return parseCommand(element) ?? toUnknown(element, element.event);
    case "EmergencyCallStarted":
      return parseCall(element, false) ?? toUnknown(element, element.event);
    case "EmergencyCallEnded":
      return parseCall(element, true) ?? toUnknown(element, element.event);
    default:
      return toUnknown(element, element.event);
  }
}

function parseCommand(element: Element): ToldCustom | undefined {
  const { data, origin } = element;
  const id = typeof origin === "string" ? origin : textOf(element, "origin");
  if (!isObject(data) || id === undefined || !PLAYER_ID.test(id)) return undefined;
  const { command, argument } = data;
  const text = argument ?? "";
  if (!isText(command) || !isText(text)) return undefined;
  const named = command.trim().replace(/^;+\s*/, "");
  if (named === "") return undefined;
  return {
    type: "custom.command",
    at: timeOf(element, "timestamp"),
    data: JSON.stringify({ Command: named, Argument: text, Player: id } satisfies CustomCommand),
    players: [id],
  };
}

function toUnknown(element: Element, kind: string): ToldCustom {
  const text = JSON.stringify(element.data ?? null);
  const isLong = Buffer.byteLength(text) > UNKNOWN_DATA_MAX;
  const data = isLong ? JSON.stringify(cutText(text, UNKNOWN_DATA_MAX)) : text;
  return {
    type: "custom.unknown",
    at: timeOf(element, "timestamp"),
    data: `{"Event":${JSON.stringify(kind)},"Data":${data}}`,
    players: [],
  };
}

/** Characters are code points. */
function cutText(text: string, charactersMax: number): string {
  return Array.from(text.slice(0, 2 * charactersMax))
    .slice(0, charactersMax)
    .join("");
}

type Fit = (value: unknown) => boolean;

/** The fields of a call as a read has them and in its order, how a webhook names them, and what each must be. */
const CALL_FIELDS: readonly (readonly [name: string, told: string, fits: Fit])[] = [
  ["Team", "team", isText],
  ["Caller", "caller", isInteger],
  ["Players", "players", isListOfIds],
  ["Position", "position", isPosition],
  ["StartedAt", "startedAt", isInteger],
  ["CallNumber", "callNumber", isInteger],
  ["Description", "description", isText],
  ["PositionDescriptor", "positionDescriptor", isText],
];

/** Undefined without what tells the call from others. Other fields that do not fit are left out, as a read leaves them out. */
function parseCall(element: Element, isEnd: boolean): ToldCall | undefined {
  const { data } = element;
  if (!isObject(data) || timeOf(data, "startedAt") === null) return undefined;
  const fields: Record<string, string> = {};
  for (const [name, told, fits] of CALL_FIELDS) {
    if (fits(data[told])) fields[name] = textOf(data, told) ?? "null";
  }
  const { Team: team, CallNumber, StartedAt } = fields;
  if (team === undefined || CallNumber === undefined || StartedAt === undefined) return undefined;
  const number = writeIntegers(CallNumber);
  const startedAt = writeIntegers(StartedAt);
  const at = timeOf(element, "timestamp");
  return { isEnd, at, team, number, startedAt, fields: { ...fields, CallNumber: number, StartedAt: startedAt } };
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** A number of thousands of digits is an integer too, but no id. */
function isInteger(value: unknown): boolean {
  return isJsonInteger(value) && JSON.stringify(value).length <= 32;
}

function isListOfIds(value: unknown): boolean {
  return Array.isArray(value) && value.every(isInteger);
}

function isPosition(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every(isCoordinate);
}

function isCoordinate(value: unknown): boolean {
  return isJsonNumber(value) && JSON.stringify(value).length <= 32;
}

function isObject(value: unknown): value is Element {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** The key that the game publishes. */
export const PUBLISHED_GAME_KEY = "MCowBQYDK2VwAyEAjSICb9pp0kHizGQtdG8ySWsDChfGqi+gyFCttigBNOA=";

/** The beginning says: an Ed25519 key. The 32 bytes of the key follow. */
const SHAPE = /^MCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=$/;

/** Why this text cannot be the public key; undefined when it can. */
export function findGameKeyProblem(text: string): string | undefined {
  const isKey = SHAPE.test(text) && Buffer.from(text, "base64").toString("base64") === text;
  if (isKey) return undefined;
  return "must be the game's public key: an Ed25519 key in SPKI form as base64, 60 characters that begin with MCowBQYDK2VwAyEA";
}
