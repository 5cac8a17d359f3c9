// Says what an event tells, as parts in a row. A sentence would need the grammatical form of a name.
import type { EventResource } from "../../../core/wire/event.ts";
import type { GapReason } from "../../../core/wire/event-data.ts";
import { isPlayerId, type PlayerRef, parsePlayerRef } from "../../player-ref.ts";

/** The words between other parts, by their name among the texts of the view. */
export type Word =
  | "killed"
  | "noKiller"
  | "answers"
  | "goesTo"
  | "releases"
  | "caller"
  | "owner"
  | "throughGatehouse"
  | "waiting"
  | "changed";

/** `code` and `values` are what `text` says, for other languages; an alert of an older Gatehouse has no code. */
export type AlertFacts = {
  readonly rule: string;
  readonly subject: string;
  readonly text: string;
  readonly code: string;
  readonly values: Fields;
};

export type EventPart =
  | { readonly kind: "player"; readonly player: PlayerRef }
  | { readonly kind: "word"; readonly word: Word }
  | { readonly kind: "text" | "code" | "team" | "role"; readonly text: string }
  | { readonly kind: "callNumber" | "count"; readonly text: string }
  | ({ readonly kind: "alert" } & AlertFacts)
  | { readonly kind: "gameError"; readonly code: number | undefined; readonly message: string | undefined }
  | {
      readonly kind: "change";
      readonly field: string;
      /** Undefined where only the name of the field is known. */
      readonly before: string | undefined;
      readonly now: string | undefined;
    };

type Fields = Readonly<Record<string, unknown>>;
type Describe = (data: Fields, meta: Fields) => readonly (EventPart | undefined)[];

const DESCRIPTIONS: ReadonlyMap<string, Describe> = new Map<string, Describe>([
  ["player.joined", ({ Player }) => [playerOf(Player)]],
  ["player.left", ({ Player }) => [playerOf(Player)]],
  [
    "player.killed",
    ({ Killer, Killed }) => [playerOf(Killer) ?? wordOf("noKiller"), wordOf("killed"), playerOf(Killed)],
  ],
  [
    "command.used",
    ({ Player, Command }, meta) => [
      playerOf(Player),
      textOf("code", Command),
      meta.command_id === undefined ? undefined : wordOf("throughGatehouse"),
    ],
  ],
  ["custom.command", describeCustomCommand],
  ["custom.unknown", ({ Event, Data }) => [textOf("code", Event), textOf("text", Data)]],
  ["modcall.opened", ({ Caller }) => [playerOf(Caller)]],
  ["modcall.answered", ({ Caller, Moderator }) => [playerOf(Moderator), wordOf("answers"), playerOf(Caller)]],
  ["modcall.claimed", ({ Caller }, { by }) => [whoOf(by), wordOf("goesTo"), playerOf(Caller)]],
  ["modcall.released", ({ Caller }, { by }) => [whoOf(by), wordOf("releases"), playerOf(Caller)]],
  ["call.opened", describeCall],
  ["call.changed", (data, { changed }) => [...describeCall(data), ...listFields(changed)]],
  ["call.closed", describeCall],
  ["player.changed", (data, { before }) => [playerOf(data.Player), ...listChanges(before, data)]],
  ["vehicle.spawned", describeVehicle],
  ["vehicle.removed", describeVehicle],
  ["staff.added", describeStaff],
  ["staff.removed", describeStaff],
  [
    "queue.changed",
    ({ Queue }) => (Array.isArray(Queue) ? [wordOf("waiting"), { kind: "count", text: String(Queue.length) }] : []),
  ],
  ["server.changed", (data, { before }) => listChanges(before, data)],
  ["server.offline", describeState],
  ["server.unreachable", describeState],
  ["server.online", () => []],
  ["alert.raised", describeAlert],
  ["alert.cleared", describeAlert],
]);

/** The parts of an event that is not a gap. Fields that are missing or of another type than expected are left out. */
export function describeEvent({ type, data, meta }: EventResource): readonly EventPart[] {
  const describe = DESCRIPTIONS.get(type);
  if (!describe) return [{ kind: "code", text: type }];
  return describe(toFields(data), toFields(meta)).filter((part) => part !== undefined);
}

/** The players that an event names with an id, as far as it says their names. */
export function listPlayers(event: EventResource): readonly (PlayerRef & { readonly id: string })[] {
  return describeEvent(event).flatMap((part) =>
    part.kind === "player" && part.player.id !== undefined ? [{ name: part.player.name, id: part.player.id }] : [],
  );
}

/** One that is missing here does not compile. */
const GAP_REASONS: Readonly<Record<GapReason, true>> = {
  no_overlap: true,
  not_watched: true,
  archive: true,
  server_replaced: true,
  retention: true,
};

export type GapFacts = {
  readonly reason: GapReason | "other";
  /** A section, or `*` for everything that is compared between readings. */
  readonly section: string;
  readonly from: number | undefined;
  readonly to: number | undefined;
};

/** What a gap says; undefined for other events. */
export function readGap({ type, data }: EventResource): GapFacts | undefined {
  if (type !== "gap") return undefined;
  const { section, reason, from, to } = toFields(data);
  return {
    reason: isGapReason(reason) ? reason : "other",
    section: typeof section === "string" ? section : "*",
    from: typeof from === "number" ? from : undefined,
    to: typeof to === "number" ? to : undefined,
  };
}

function isGapReason(reason: unknown): reason is GapReason {
  return typeof reason === "string" && Object.hasOwn(GAP_REASONS, reason);
}

/** As the player typed it, with the semicolon that the event leaves out. */
function describeCustomCommand({ Command, Argument, Player }: Fields) {
  const line = [Command, Argument].map(writeValue).filter(Boolean).join(" ");
  return [playerById(Player), textOf("code", line && `;${line}`)];
}

function describeCall(call: Fields): readonly (EventPart | undefined)[] {
  const number = writeValue(call.CallNumber);
  const caller = playerById(call.Caller);
  return [
    number === "" ? undefined : { kind: "callNumber", text: number },
    textOf("team", call.Team),
    textOf("text", call.Description),
    textOf("text", call.PositionDescriptor),
    ...(caller ? [wordOf("caller"), caller] : []),
  ];
}

function describeVehicle({ Name, Plate, ColorName, Owner }: Fields): readonly (EventPart | undefined)[] {
  const owner = typeof Owner === "string" && Owner !== "" ? parsePlayerRef(Owner) : undefined;
  return [
    textOf("text", Name),
    textOf("text", Plate),
    textOf("text", ColorName),
    ...(owner ? [wordOf("owner"), { kind: "player", player: owner } as const] : []),
  ];
}

function describeStaff({ Role, UserId, Name }: Fields): readonly (EventPart | undefined)[] {
  return [playerById(UserId, writeValue(Name)), textOf("role", Role)];
}

function describeState({ upstream_code: code, upstream_message: message }: Fields): readonly EventPart[] {
  return [
    {
      kind: "gameError",
      code: typeof code === "number" ? code : undefined,
      message: typeof message === "string" ? message : undefined,
    },
  ];
}

function describeAlert({ rule, subject, text }: Fields, { code, values }: Fields): readonly EventPart[] {
  const words = { code: writeValue(code), values: toFields(values) };
  return [{ kind: "alert", rule: writeValue(rule), subject: writeValue(subject), text: writeValue(text), ...words }];
}

function listFields(changed: unknown): readonly EventPart[] {
  if (!Array.isArray(changed) || changed.length === 0) return [];
  const fields = changed.map((field): EventPart => {
    return { kind: "change", field: writeValue(field), before: undefined, now: undefined };
  });
  return [wordOf("changed"), ...fields];
}

/** One part for each field of `before`. */
function listChanges(before: unknown, now: Fields): readonly EventPart[] {
  return Object.entries(toFields(before)).map(([field, value]) => {
    return { kind: "change", field, before: writeValue(value), now: writeValue(now[field]) };
  });
}

function playerOf(value: unknown): EventPart | undefined {
  return typeof value === "string" && value !== "" ? { kind: "player", player: parsePlayerRef(value) } : undefined;
}

/** A person or a key, not a player. */
function whoOf(value: unknown): EventPart | undefined {
  return textOf("text", toFields(value).name);
}

function playerById(value: unknown, name = ""): EventPart | undefined {
  const id = writeValue(value);
  if (isPlayerId(id)) return { kind: "player", player: { name, id } };
  return name === "" ? undefined : { kind: "player", player: { name, id: undefined } };
}

function wordOf(word: Word): EventPart {
  return { kind: "word", word };
}

function textOf(kind: "text" | "code" | "team" | "role", value: unknown): EventPart | undefined {
  const text = writeValue(value);
  return text === "" ? undefined : { kind, text };
}

/** A value of the game as text; empty for null and for what is missing. */
function writeValue(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(writeValue).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function toFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
