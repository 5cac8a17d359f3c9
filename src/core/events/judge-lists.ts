// What the four log lists of a reading add to the ledger: entries that no reading showed before, and gaps.
import { foldCase } from "../fold-case.ts";
import type { SentCommand } from "../ports/commands.ts";
import type { EventMeta, Gap } from "../wire/event-data.ts";
import { type Element, playerIdOf, playersOf } from "./elements.ts";
import type { EventType } from "./event-types.ts";
import type { ListMemory, LogList, PlayerMemory, ServerMemory } from "./memory.ts";
import { makeEvent, type NewEvent } from "./new-event.ts";
import type { ListEntry } from "./reading.ts";

export type OwnCommand = Pick<SentCommand, "commandId" | "sentBy">;
export type FindCommand = (element: Element) => OwnCommand | undefined;

export type ListContext = {
  readonly at: number;
  readonly firstReadingAt: number | null;
  readonly lastReadingAt: number | null;
  /** No reading for so long that entries may have come and gone in an empty list. */
  readonly wasSilent: boolean;
  /** Readings were dropped, because the archive could not keep them. */
  readonly wasLost: boolean;
  readonly isKnown: (identity: string) => boolean;
  /** The command of ours that an entry of CommandLogs tells of. */
  readonly findCommand: FindCommand;
  /** Of the newest reading before this one: they are the ones that commands can be aimed at. */
  readonly players: ServerMemory["players"];
};

export type JudgedList = {
  readonly events: readonly NewEvent[];
  readonly gap: Gap | undefined;
  readonly memory: ListMemory;
};

export function judgeList(
  list: LogList,
  entries: readonly ListEntry[],
  memory: ListMemory,
  openModCalls: ReadonlyMap<string, number>,
  context: ListContext,
): JudgedList {
  const events: NewEvent[] = [];
  for (const entry of entries) {
    const isBackfill = isBeforeFirstReading(entry, memory, context);
    if (!context.isKnown(entry.identity)) events.push(toEvent(list, entry, isBackfill, context));
    const { answerIdentity } = entry;
    if (answerIdentity !== null && !context.isKnown(answerIdentity)) {
      events.push(toAnswer(entry, answerIdentity, openModCalls.get(entry.identity), isBackfill, context));
    }
  }
  return { events, gap: findGap(list, entries, memory, context), memory: learnList(entries, memory, context) };
}

/** More open calls than this are not remembered; the oldest go first. */
const OPEN_MOD_CALLS_MAX = 1_000;

/** The calls that nobody has answered yet, and when a reading last showed each so. A missing one may come back. */
export function learnOpenModCalls(
  entries: readonly ListEntry[],
  known: ReadonlyMap<string, number>,
  memory: ListMemory,
  at: number,
): ReadonlyMap<string, number> {
  if (isLateList(memory, at)) return known;
  const open = new Map(known);
  for (const { identity, answerIdentity } of entries) {
    // Deleted first, so that the calls that were shown last are the last of the map.
    open.delete(identity);
    if (answerIdentity === null) open.set(identity, at);
  }
  for (const identity of open.keys()) {
    if (open.size <= OPEN_MOD_CALLS_MAX) break;
    open.delete(identity);
  }
  return open.size === 0 && known.size === 0 ? known : open;
}

function isBeforeFirstReading({ at }: ListEntry, { shownAt }: ListMemory, { firstReadingAt }: ListContext): boolean {
  return shownAt === null && (firstReadingAt === null || at === null || at < firstReadingAt);
}

function findGap(
  list: LogList,
  entries: readonly ListEntry[],
  memory: ListMemory,
  context: ListContext,
): Gap | undefined {
  if (entries.length === 0 || entries.some(({ identity }) => context.isKnown(identity))) return undefined;
  const reason = context.wasLost ? "archive" : "no_overlap";
  const to = oldestTime(entries);
  if (isLateList(memory, context.at) && !isNewer(to, memory)) return undefined;
  if (memory.filledAt !== null) return { section: list, reason, from: memory.newestAt, to };
  const mayHaveMissed = context.lastReadingAt !== null && (context.wasSilent || context.wasLost);
  return mayHaveMissed ? { section: list, reason, from: context.lastReadingAt, to } : undefined;
}

function learnList(entries: readonly ListEntry[], memory: ListMemory, { at }: ListContext): ListMemory {
  const times = entries.map((entry) => entry.at).filter((time) => time !== null);
  const newestAt = times.reduce((newest: number | null, time) => Math.max(newest ?? time, time), memory.newestAt);
  return {
    shownAt: Math.max(memory.shownAt ?? at, at),
    filledAt: entries.length > 0 ? Math.max(memory.filledAt ?? at, at) : memory.filledAt,
    newestAt,
  };
}

/** A later reading has shown entries already, so entries of this one may be older than those that are known. */
function isLateList({ filledAt }: ListMemory, at: number): boolean {
  return filledAt !== null && at <= filledAt;
}

/** Of two answers that were on their way at once, the newer may have come first, so the game's own times decide. */
function isNewer(oldestAt: number | null, { newestAt }: ListMemory): boolean {
  return oldestAt !== null && newestAt !== null && oldestAt >= newestAt;
}

function oldestTime(entries: readonly ListEntry[]): number | null {
  const times = entries.map(({ at }) => at).filter((at) => at !== null);
  return times.length > 0 ? times.reduce((oldest, at) => Math.min(oldest, at)) : null;
}

function toEvent(list: LogList, entry: ListEntry, isBackfill: boolean, context: ListContext): NewEvent {
  const { element, identity, at } = entry;
  const isCommand = list === "CommandLogs";
  const command = isCommand ? context.findCommand(element) : undefined;
  const targets = isCommand ? findTargets(element.Command, context.players) : [];
  const targetIds = targets.map((reference) => playerIdOf(reference) ?? "");
  const named = [...playersOf(element, "Player", "Killed", "Killer", "Caller"), ...targetIds];
  return makeEvent({
    ...toLogged(element, identity, isBackfill, context),
    type: typeOfEntry(list, element),
    at: at ?? context.at,
    meta: writeCommandMeta(command, targets),
    players: [...new Set(named)],
    ...(targetIds.length > 0 && { targets: targetIds }),
    ...(command?.sentBy.playerId && { staff: `${command.sentBy.name}:${command.sentBy.playerId}` }),
    ...(list === "ModCalls" && { call: identity }),
  });
}

/** Null when there is nothing to add. */
function writeCommandMeta(command: OwnCommand | undefined, targets: readonly string[]): string | null {
  const meta: EventMeta = {
    ...(command && describeCommand(command)),
    ...(targets.length > 0 && { targets: [...targets] }),
  };
  return Object.keys(meta).length === 0 ? null : JSON.stringify(meta);
}

function describeCommand({ commandId, sentBy: { kind, id, name } }: OwnCommand): EventMeta {
  return { command_id: commandId, sent_by: { kind, id, name } };
}

/** `unansweredAt`: when a reading last showed the call without an answer. */
function toAnswer(
  { element, at, identity: call }: ListEntry,
  identity: string,
  unansweredAt: number | undefined,
  isBackfill: boolean,
  context: ListContext,
): NewEvent {
  const since = unansweredAt ?? at ?? context.at;
  return makeEvent({
    ...toLogged(element, identity, isBackfill, context),
    type: "modcall.answered",
    meta: JSON.stringify({ answered_between: [since, context.at] } satisfies EventMeta),
    players: playersOf(element, "Caller", "Moderator"),
    call,
  });
}

function toLogged(element: Element, identity: string, isBackfill: boolean, { at }: ListContext) {
  return { at, seenAt: at, source: "log", isBackfill, data: JSON.stringify(element), identity } as const;
}

function typeOfEntry(list: LogList, element: Element): EventType {
  switch (list) {
    case "JoinLogs":
      return element.Join === false ? "player.left" : "player.joined";
    case "KillLogs":
      return "player.killed";
    case "CommandLogs":
      return "command.used";
    case "ModCalls":
      return "modcall.opened";
  }
}

/** More targets of one command are not kept. */
export const TARGETS_MAX = 20;
/** Longer arguments are cut: no list of that many names is longer. */
const ARGUMENT_LENGTH_MAX = 2_000;

/** Commands that take no player. Their first argument is a text, a number or the name of a thing. */
const WITHOUT_PLAYER: ReadonlySet<string> = new Set([
  ...["h", "hint", "m", "message", "announce", "announcement", "sm"],
  ...["weather", "time", "settime", "prty", "priority", "prioritytimer", "pt", "peacetimer"],
  ...["startfire", "startnearfire", "snf", "stopfire", "shutdown", "loadlayout", "unloadlayout"],
  ...["log", "logs", "cmds", "commands", "help", "killlogs", "kl", "cmdlogs", "commandlogs", "joinlogs"],
  ...["mods", "moderators", "admins", "administrators", "helpers", "bans", "modcalls"],
]);
/** These name nobody in particular. */
const GROUPS: ReadonlySet<string> = new Set(["all", "others", "me"]);

type Known = { readonly id: string; readonly reference: string; readonly name: string };

/** The targets as `Name:id`, in the order of the command. `players` are those of the newest reading before it was seen. */
export function findTargets(command: unknown, players: ReadonlyMap<string, PlayerMemory> | null): string[] {
  const argument = typeof command === "string" ? findArgument(command) : undefined;
  if (argument === undefined || !players || players.size === 0) return [];
  const known = Array.from(players, ([id, { Player = '""' }]): Known => {
    const reference: string = JSON.parse(Player);
    return { id, reference, name: foldCase(reference.slice(0, Math.max(0, reference.lastIndexOf(":")))) };
  });
  const targets = new Set<string>();
  for (const part of argument.split(",")) {
    const target = findTarget(part, known);
    if (target && targets.size < TARGETS_MAX) targets.add(target.reference);
  }
  return [...targets];
}

/** Without case; undefined for a command that names no player. */
function findArgument(command: string): string | undefined {
  const [, name, argument] = /^\s*[:;]?\s*(\S+)\s+(\S+)/.exec(command.slice(0, ARGUMENT_LENGTH_MAX)) ?? [];
  if (name === undefined || WITHOUT_PLAYER.has(name.toLowerCase())) return undefined;
  return argument && foldCase(argument);
}

/** A whole name counts before the beginning of others. */
function findTarget(part: string, known: readonly Known[]): Known | undefined {
  if (part === "" || GROUPS.has(part)) return undefined;
  const byId = known.find(({ id }) => id === part);
  if (byId) return byId;
  const whole = known.filter(({ name }) => name === part);
  const found = whole.length > 0 ? whole : known.filter(({ name }) => name.startsWith(part));
  return found.length === 1 ? found[0] : undefined;
}
