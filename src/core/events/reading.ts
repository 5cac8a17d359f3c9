// One reading of a game server as the ledger sees it, and the identities of what it shows.
import type { Section } from "../sections.ts";
import { type Element, keyTextOf, timeOf } from "./elements.ts";
import { type CallKeys, type GameHook, isToldCall, type ToldEvent } from "./game-hook.ts";
import { LOG_LISTS, type LogList, type ServerMemory } from "./memory.ts";

/**
 * `sections` has only those that the answer had in their right JSON type: a missing section is not an empty one. Nor is a
 * map of Staff that was null or of another type.
 */
export type GameReading = {
  readonly at: number;
  /** Identifies the game server behind the server key. */
  readonly gameServer: string;
  /** Null when the game API said that the server is offline. */
  readonly settings: Element | null;
  readonly sections: Readonly<Partial<Record<Section, unknown>>>;
  /** What the game API said of an offline server; null when it is online. */
  readonly offline: { readonly code: number; readonly message: string } | null;
};

/** Turns the text of an identity into a keyed hash, so that what is kept tells nothing about players. */
export type HashIdentity = (text: string) => string;

export type ListEntry = {
  readonly element: Element;
  readonly at: number | null;
  readonly identity: string;
  /** The identity of the answer to a call for a moderator; null while nobody answered, and for other lists. */
  readonly answerIdentity: string | null;
};

export type ShownCall = { readonly element: Element; readonly identity: string };

export type IdentifiedReading = {
  readonly reading: GameReading;
  readonly generation: number;
  /** Oldest first. */
  readonly lists: Readonly<Partial<Record<LogList, readonly ListEntry[]>>>;
  readonly calls: readonly ShownCall[] | undefined;
};

/** The fields that make two entries equal. An answer does not make a call for a moderator another one. */
const IDENTITY_FIELDS: Readonly<Record<LogList, readonly string[]>> = {
  JoinLogs: ["Join", "Timestamp", "Player"],
  KillLogs: ["Killed", "Timestamp", "Killer"],
  CommandLogs: ["Player", "Timestamp", "Command"],
  ModCalls: ["Caller", "Timestamp"],
};

const CALL_FIELDS = ["Team", "CallNumber", "StartedAt"];

/** An offline server is an empty one. Its staff and settings are unknown, so these are not compared. */
export function readOffline(at: number, gameServer: string, offline: NonNullable<GameReading["offline"]>): GameReading {
  const sections = { Players: [], Queue: [], EmergencyCalls: [], Vehicles: [] };
  return { at, gameServer, settings: null, sections, offline };
}

export function isAnotherServer(memory: ServerMemory, { gameServer }: Pick<GameReading, "gameServer">): boolean {
  return memory.gameServer !== null && memory.gameServer !== gameServer;
}

/** `end`: the identity of a call's end, the same as `identity` for everything else. */
export type IdentifiedEvent = { readonly told: ToldEvent; readonly identity: string; readonly end: string };
export type IdentifiedHook = {
  readonly hook: GameHook;
  readonly generation: number;
  readonly events: readonly IdentifiedEvent[];
};

/** An event that is no call is named by its webhook's signature, whatever game server it came from: no webhook counts twice. */
export function identifyHook(memory: ServerMemory, hook: GameHook, hash: HashIdentity): IdentifiedHook {
  const generation = memory.generation + (isAnotherServer(memory, hook) ? 1 : 0);
  const events = hook.events.map((told, place) => {
    if (!isToldCall(told)) {
      const identity = hash(`webhook\n${hook.signature}\n${place}`);
      return { told, identity, end: identity };
    }
    const text = describeCall(told);
    return { told, identity: hash(`${generation}\n${text}`), end: hash(`${generation}\nend\n${text}`) };
  });
  return { hook, generation, events };
}

export function identifyReading(memory: ServerMemory, reading: GameReading, hash: HashIdentity): IdentifiedReading {
  const generation = memory.generation + (isAnotherServer(memory, reading) ? 1 : 0);
  const hashOfGeneration = (text: string) => hash(`${generation}\n${text}`);
  const lists: Partial<Record<LogList, ListEntry[]>> = {};
  for (const list of LOG_LISTS) {
    const elements = elementsOf(reading, list);
    if (elements) lists[list] = identifyEntries(list, elements, hashOfGeneration);
  }
  const calls = elementsOf(reading, "EmergencyCalls")?.map((element) => {
    return { element, identity: hashOfGeneration(describeFields("EmergencyCalls", element, CALL_FIELDS)) };
  });
  return { reading, generation, lists, calls };
}

/** Every identity that the reading shows, to be looked up before it is judged. */
export function listIdentities({ lists, calls = [] }: IdentifiedReading): string[] {
  const identities = calls.map(({ identity }) => identity);
  for (const list of LOG_LISTS) {
    for (const { identity, answerIdentity } of lists[list] ?? []) {
      identities.push(identity);
      if (answerIdentity !== null) identities.push(answerIdentity);
    }
  }
  return identities;
}

/** The elements of a section; undefined when the reading did not have it. */
export function elementsOf(reading: GameReading, section: Section): readonly Element[] | undefined {
  const value = reading.sections[section];
  return Array.isArray(value) ? (value as Element[]) : undefined;
}

function identifyEntries(list: LogList, elements: readonly Element[], hash: HashIdentity): ListEntry[] {
  const counts = new Map<string, number>();
  const answeredCounts = new Map<string, number>();
  return sortOldestFirst(elements).map(({ element, at }) => {
    const text = describeFields(list, element, IDENTITY_FIELDS[list]);
    const isAnswered = list === "ModCalls" && typeof element.Moderator === "string" && element.Moderator !== "";
    return {
      element,
      at,
      identity: hash(`${text}\n${countUp(counts, text)}`),
      answerIdentity: isAnswered ? hash(`answer\n${text}\n${countUp(answeredCounts, text)}`) : null,
    };
  });
}

/** The game shows the newest first; another order is tolerated. Entries of one second keep the game's order. */
function sortOldestFirst(elements: readonly Element[]): Pick<ListEntry, "element" | "at">[] {
  const entries = elements.map((element) => ({ element, at: timeOf(element, "Timestamp") }));
  return entries.reverse().sort((a, b) => (a.at ?? 0) - (b.at ?? 0));
}

function describeFields(section: Section, element: Element, fields: readonly string[]): string {
  let text: string = section;
  for (const field of fields) text += `\n${keyTextOf(element, field) ?? "-"}`;
  return text;
}

/** The same text as describeFields gives for the call of a reading. */
function describeCall({ team, number, startedAt }: CallKeys): string {
  const section: Section = "EmergencyCalls";
  return `${section}\n${team}\n${number}\n${startedAt}`;
}

function countUp(counts: Map<string, number>, text: string): number {
  const count = (counts.get(text) ?? 0) + 1;
  counts.set(text, count);
  return count;
}
