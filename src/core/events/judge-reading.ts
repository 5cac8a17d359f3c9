// What happened on a game server, judged from what was known and one new reading. Pure: the caller looks up identities
// first (listIdentities), and writes the events together with the new memory.
import { type HistoryChange, NO_HISTORY } from "../history/history.ts";
import {
  breakOffSessions,
  type HistoryContext,
  joinHistories,
  judgeHistory,
  type ToldEntries,
} from "../history/judge-history.ts";
import { comparePlayers, compareQueue, compareSettings, compareStaff, compareVehicles } from "./compare-sections.ts";
import { judgeCalls, judgeUnshownCalls } from "./judge-calls.ts";
import { type FindCommand, judgeList, type ListContext, learnOpenModCalls } from "./judge-lists.ts";
import { silenceMs, toStateEvent } from "./judge-state.ts";
import { type ListMemory, LOG_LISTS, type LogList, NOTHING_KNOWN, type ServerMemory } from "./memory.ts";
import { type NewEvent, sortEvents, toGapEvent } from "./new-event.ts";
import { type GameReading, type IdentifiedReading, isAnotherServer } from "./reading.ts";

export type JudgeContext = {
  readonly now: number;
  readonly isWatched: boolean;
  readonly intervalMs: number;
  /** When the first reading was dropped that the archive could not keep; null when none was. */
  readonly lostSince: number | null;
  readonly isKnown: (identity: string) => boolean;
  /** The command of ours that an entry of the log tells of. */
  readonly findCommand: FindCommand;
};

export type Judgement = {
  readonly events: readonly NewEvent[];
  readonly memory: ServerMemory;
  readonly history: HistoryChange;
};

type Judged = Pick<Judgement, "events" | "memory">;
type JudgedLists = Judged & ToldEntries;

/** A last reading this far in the future means that the clock was set back. */
const CLOCK_TOLERANCE_MS = 5_000;

export function judgeReading(given: ServerMemory, identified: IdentifiedReading, context: JudgeContext): Judgement {
  const { reading } = identified;
  const isReplaced = isAnotherServer(given, reading);
  if (isLate(given, reading, context)) {
    // A late reading of the game server that was replaced has no place in the ledger of the new one.
    return isReplaced ? { events: [], memory: given, history: NO_HISTORY } : judgeLate(given, identified, context);
  }
  const replaced = isReplaced ? breakOffSessions(given).history : NO_HISTORY;
  const known = isReplaced ? forgetServer(given, identified.generation) : setBack(given, reading);
  const gaps = isReplaced ? [replacementGap(given, reading)] : findSilence(known, reading, context);
  const lists = judgeLists(known, identified, context);
  const compared = compareSections(lists.memory, identified, context);
  const judged = judgeHistory(known, reading, lists, historyContext(context, false));
  const state = reading.offline ? "offline" : "online";
  const stateEvent = toStateEvent(known.state, state, reading.offline, reading.at);
  const events = [...gaps, ...lists.events, ...compared.events, ...(stateEvent ? [stateEvent] : [])];
  const memory: ServerMemory = {
    ...compared.memory,
    ...judged.memory,
    gameServer: reading.gameServer,
    firstReadingAt: known.firstReadingAt ?? reading.at,
    lastReadingAt: reading.at,
    state,
    failingSince: null,
  };
  return { events: sortEvents(events), memory, history: joinHistories(replaced, judged.history) };
}

/** Of a reading that came too late to be compared, the entries of log lists count. */
function judgeLate(known: ServerMemory, identified: IdentifiedReading, context: JudgeContext): Judgement {
  const lists = judgeLists(known, identified, context);
  const judged = judgeHistory(known, identified.reading, lists, historyContext(context, true));
  return { events: lists.events, memory: { ...lists.memory, ...judged.memory }, history: judged.history };
}

function historyContext({ intervalMs, lostSince }: JudgeContext, isLate: boolean): HistoryContext {
  return { intervalMs, wasLost: lostSince !== null, isLate };
}

/** A reading that was judged before, or came out of order. A last reading in the future means that the clock was set back. */
function isLate({ lastReadingAt }: ServerMemory, { at }: GameReading, { now }: JudgeContext): boolean {
  return lastReadingAt !== null && at <= lastReadingAt && lastReadingAt <= now + CLOCK_TOLERANCE_MS;
}

/** After the clock was set back, times of lists that lie ahead would make every reading look late. */
function setBack(memory: ServerMemory, { at }: GameReading): ServerMemory {
  if (memory.lastReadingAt === null || memory.lastReadingAt < at) return memory;
  const before = (time: number | null) => (time === null ? null : Math.min(time, at - 1));
  const lists = { ...memory.lists };
  for (const list of LOG_LISTS) {
    const { shownAt, filledAt, newestAt } = lists[list];
    lists[list] = { shownAt: before(shownAt), filledAt: before(filledAt), newestAt };
  }
  return { ...memory, lists };
}

/**
 * The generation keeps the identities of two game servers apart. Players are counted whatever game server they are on, and what
 * clears the alerts of the old one stays.
 */
export function forgetServer(given: ServerMemory, generation: number): ServerMemory {
  const { state, counts, unknownMs, alertRules, alerts } = given;
  return { ...NOTHING_KNOWN, generation, state, counts, unknownMs, alertRules, alerts };
}

export function replacementGap({ lastReadingAt }: ServerMemory, { at }: Pick<GameReading, "at">): NewEvent {
  return toGapEvent({ section: "*", reason: "server_replaced", from: lastReadingAt, to: at }, at);
}

function wasSilent({ lastReadingAt }: ServerMemory, { at }: GameReading, intervalMs: number): boolean {
  return lastReadingAt !== null && at - lastReadingAt > silenceMs(intervalMs);
}

function findSilence(known: ServerMemory, reading: GameReading, context: JudgeContext): NewEvent[] {
  const { at } = reading;
  const from = known.lastReadingAt;
  if (context.lostSince !== null && from !== null)
    return [toGapEvent({ section: "*", reason: "archive", from, to: at }, at)];
  if (!context.isWatched || !wasSilent(known, reading, context.intervalMs)) return [];
  return [toGapEvent({ section: "*", reason: "not_watched", from, to: at }, at)];
}

function judgeLists(
  known: ServerMemory,
  { reading, generation, lists: shown }: IdentifiedReading,
  { isKnown, findCommand, intervalMs, lostSince }: JudgeContext,
): JudgedLists {
  const context: ListContext = {
    at: reading.at,
    firstReadingAt: known.firstReadingAt,
    lastReadingAt: known.lastReadingAt,
    wasSilent: wasSilent(known, reading, intervalMs),
    wasLost: lostSince !== null,
    isKnown,
    findCommand,
    players: known.players,
  };
  const events: NewEvent[] = [];
  let joins: readonly NewEvent[] = [];
  let hasJoinGap = false;
  const learned: Partial<Record<LogList, ListMemory>> = {};
  for (const list of LOG_LISTS) {
    const entries = shown[list];
    if (!entries) continue;
    const judged = judgeList(list, entries, known.lists[list], known.openModCalls, context);
    if (judged.gap) events.push(toGapEvent(judged.gap, reading.at));
    events.push(...judged.events);
    if (list === "JoinLogs") {
      joins = judged.events;
      hasJoinGap = judged.gap !== undefined;
    }
    if (judged.memory !== known.lists[list]) learned[list] = judged.memory;
  }
  const lists = Object.keys(learned).length > 0 ? { ...known.lists, ...learned } : known.lists;
  const modCalls = shown.ModCalls;
  const openModCalls = modCalls
    ? learnOpenModCalls(modCalls, known.openModCalls, known.lists.ModCalls, reading.at)
    : known.openModCalls;
  const memory = { ...known, generation, lists, openModCalls };
  return { events: sortEvents(events), memory, joins, hasJoinGap };
}

function compareSections(
  known: ServerMemory,
  { reading, calls: shownCalls }: IdentifiedReading,
  { isKnown }: JudgeContext,
): Judged {
  const players = comparePlayers(reading, known.players);
  const vehicles = compareVehicles(reading, known);
  const staff = compareStaff(reading, known.staff);
  const queue = compareQueue(reading, known.queue);
  const settings = compareSettings(reading, known.settings);
  const calls = shownCalls ? judgeCalls(reading, shownCalls, known, isKnown) : judgeUnshownCalls(known, reading.at);
  const parts = [calls, players, vehicles, staff, queue, settings];
  return {
    events: parts.flatMap(({ events }) => events),
    memory: {
      ...known,
      players: players.memory,
      ...vehicles.memory,
      staff: staff.memory,
      queue: queue.memory,
      settings: settings.memory,
      calls: calls.memory.calls,
      closedCalls: calls.memory.closedCalls,
    },
  };
}
