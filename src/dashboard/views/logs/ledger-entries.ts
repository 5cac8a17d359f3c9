// Makes the entries of the time line from the events of the ledger. Pure.
import { type EventType, sectionOfType } from "../../../core/events/event-types.ts";
import type { Section } from "../../../core/sections.ts";
import type { EventResource } from "../../../core/wire/event.ts";
import { readGap } from "../activity/describe-event.ts";
import { type Kind, type LogEntry, makeEntry } from "./time-line.ts";

/** What may be missing, at the place in time where it is missing. */
export type GapEntry = {
  readonly kind: "gap";
  readonly at: number;
  readonly event: EventResource;
  readonly key: string;
};
export type LedgerEntry = LogEntry | GapEntry;

const TYPES: Readonly<Record<Kind, readonly EventType[]>> = {
  join: ["player.joined"],
  leave: ["player.left"],
  kill: ["player.killed"],
  command: ["command.used"],
  modCall: ["modcall.opened", "modcall.answered"],
};

/** The section that a key needs for a kind. */
export function sectionOfKind(kind: Kind): Section | undefined {
  return TYPES[kind].map(sectionOfType).find((section) => section !== null);
}

/** The parameter `types` of the API; undefined when there is nothing to ask for. */
export function writeKinds(kinds: readonly Kind[]): string | undefined {
  return kinds.length === 0 ? undefined : kinds.flatMap((kind) => TYPES[kind]).join();
}

/** The entries by time, newest first. `events` are newest first, in the order of the ledger. */
export function listLedgerEntries(events: readonly EventResource[]): readonly LedgerEntry[] {
  const entries = foldAnswers(events).flatMap((event): readonly LedgerEntry[] => {
    const gap = readGap(event);
    // The lost entries are older than the first one that was read again.
    if (gap) return [{ kind: "gap", at: gap.to ?? event.at, event, key: event.id }];
    const entry = readEntry(event);
    return entry ? [entry] : [];
  });
  return entries.sort((a, b) => placeOf(b) - placeOf(a) || Number(a.kind === "gap") - Number(b.kind === "gap"));
}

export function readEntry({ id, type, at, data }: EventResource): LogEntry | undefined {
  const seconds = at / 1000;
  const fields = { id, seconds };
  const player = textOf(data.Player);
  if (type === "player.joined") return makeEntry({ ...fields, kind: "join", player });
  if (type === "player.left") return makeEntry({ ...fields, kind: "leave", player });
  if (type === "player.killed")
    return makeEntry({ ...fields, kind: "kill", player: textOf(data.Killer), other: textOf(data.Killed) });
  if (type === "command.used") return makeEntry({ ...fields, kind: "command", player, command: textOf(data.Command) });
  if (type !== "modcall.opened" && type !== "modcall.answered") return undefined;
  const { Timestamp } = data;
  return makeEntry({
    kind: "modCall",
    id,
    // An answer is recorded with the time at which it was seen; the time line shows the call.
    seconds: typeof Timestamp === "number" ? Timestamp : seconds,
    player: textOf(data.Caller),
    other: textOf(data.Moderator),
  });
}

/** One call for a moderator is one entry: its answer replaces it. */
function foldAnswers(events: readonly EventResource[]): readonly EventResource[] {
  const answers = new Map<string, number>();
  return events.filter((event) => {
    const call = `${textOf(event.data.Caller)} ${String(event.data.Timestamp)}`;
    const count = answers.get(call) ?? 0;
    if (event.type === "modcall.answered") answers.set(call, count + 1);
    if (event.type !== "modcall.opened" || count === 0) return true;
    answers.set(call, count - 1);
    return false;
  });
}

function placeOf({ at }: LedgerEntry): number {
  return at ?? Number.NEGATIVE_INFINITY;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
