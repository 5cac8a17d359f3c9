// What is done to forget a player: in steps of bounded size, with the progress kept in the archive, so that a
// restart goes on where it was. Events that are linked to the player come last: until then they tell the player's names.
import { typeOfKind } from "../../core/events/event-types.ts";
import { forgetInMemory } from "../../core/events/forget-memory.ts";
import { findNames, NAMES_MAX, PlayerEraser } from "../../core/events/forget-player.ts";
import { type MemoryPart, parseMemory, writeChangedParts } from "../../core/events/memory-text.ts";

/** The most players of one list of those that are to be forgotten elsewhere. */
export const FORGOTTEN_LISTED_MAX = 100;
/** The most events, and the most ledgers, of one step. */
export const FORGET_EVENTS_STEP = 500;
export const FORGET_LEDGERS_STEP = 20;
/** The most ledgers whose deliveries are looked through in one step: each has 2,000 at most. */
export const FORGET_DELIVERIES_STEP = 5;

/** The most ledgers whose history is looked through in one step. */
export const FORGET_HISTORIES_STEP = 5;

/** What each step is about, in this order. `elsewhere` comes last, because older versions do not know it and end there. */
export const PHASES = [
  /** The linked events say which names the player had. */
  "names",
  /** So do the memory and the history of each ledger. */
  "staff",
  /** The player is taken out of the memory, */
  "memory",
  /** out of sessions, playtime, acts and known players, */
  "history",
  /** out of the texts of notes about others, */
  "notes",
  /** out of calls for a moderator, */
  "calls",
  /** out of what receivers of webhooks said, */
  "deliveries",
  /** out of the events that are not linked, */
  "texts",
  /** and out of those that are. */
  "links",
  /** The archive is done, and keeps the names for what is kept outside of it. */
  "elsewhere",
] as const;
export type Phase = (typeof PHASES)[number];

/** `ledger` and `number`: the last place that is done in this phase. For notes and calls the number is their time. */
export type Forgetting = {
  readonly player: string;
  readonly phase: Phase;
  readonly ledger: number;
  readonly number: number;
  readonly names: readonly string[];
};

export type ForgettableEvent = {
  readonly ledger: number;
  readonly number: number;
  readonly kind: number;
  readonly data: string;
  readonly meta: string | null;
};

/** The progress after a step that ended at a place; the next phase begins when nothing was left in this one. */
export function advance(
  progress: Forgetting,
  place: { readonly ledger: number; readonly number: number } | undefined,
  hasMore: boolean,
): Forgetting {
  if (hasMore && place) return { ...progress, ledger: place.ledger, number: place.number };
  const phase = PHASES[PHASES.indexOf(progress.phase) + 1] ?? progress.phase;
  return { ...progress, phase, ledger: 0, number: 0 };
}

export function learnNames(progress: Forgetting, texts: readonly (string | null)[]): Forgetting {
  const names = new Set(progress.names);
  for (const text of texts) {
    if (names.size >= NAMES_MAX) break;
    if (text !== null) for (const name of findNames(text, progress.player)) names.add(name);
  }
  return { ...progress, names: [...names].slice(0, NAMES_MAX) };
}

/**
 * The names of the player in what is remembered and in the history, as texts for `learnNames`. `kept`: the names that the history
 * has.
 */
export function listRememberedNames(parts: readonly MemoryPart[], player: string, kept: readonly string[]): string[] {
  const { staff, players, sessions } = parseMemory(parts);
  const names = Object.values(staff ?? {}).map((members) => members.get(player));
  const texts = [...names, sessions.get(player)?.name, ...kept].flatMap((name) => {
    return name === undefined ? [] : [JSON.stringify({ UserId: player, Name: name })];
  });
  const reference = players?.get(player)?.Player;
  return reference === undefined ? texts : [...texts, `{"Player":${reference}}`];
}

/** The events that change, with their new texts. */
export function eraseFromEvents(
  { player: id, names }: Forgetting,
  events: readonly ForgettableEvent[],
): ForgettableEvent[] {
  const eraser = new PlayerEraser({ id, names });
  return events.flatMap((event) => {
    const isStaff = typeOfKind(event.kind).startsWith("staff.");
    const data = eraser.erase(event.data, isStaff);
    const meta = event.meta === null ? null : eraser.erase(event.meta, isStaff);
    return data === event.data && meta === event.meta ? [] : [{ ...event, data, meta }];
  });
}

/** The parts of a memory that change, with their new texts. */
export function eraseFromMemory({ player: id, names }: Forgetting, parts: readonly MemoryPart[]): MemoryPart[] {
  const memory = parseMemory(parts);
  return writeChangedParts(memory, forgetInMemory(memory, { id, names }));
}
