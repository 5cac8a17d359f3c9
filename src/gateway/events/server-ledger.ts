// One server's way into the ledger: what is recorded, what is judged but not yet recorded, and which entries are known. It
// judges readings; the recorder does the waiting and writing.
import type { Element } from "../../core/events/elements.ts";
import { type JudgeContext, judgeReading } from "../../core/events/judge-reading.ts";
import { type FailedReading, judgeFailure } from "../../core/events/judge-state.ts";
import type { ServerMemory } from "../../core/events/memory.ts";
import { writeChangedParts } from "../../core/events/memory-text.ts";
import { type Gap, type NewEvent, toGapEvent } from "../../core/events/new-event.ts";
import {
  type GameReading,
  type HashIdentity,
  type IdentifiedReading,
  identifyReading,
  listIdentities,
} from "../../core/events/reading.ts";
import type { KnownServer, LedgerRecord } from "../../core/ports/archive.ts";

/** Identities that were not shown in this many readings are looked up again when they come back. */
const UNSHOWN_READINGS_MAX = 50;
const DAY_MS = 86_400_000;
const ATTEMPTS_MAX = 20;
/** The newest inputs of a draft are held, to be judged again when another instance has recorded meanwhile. */
const HELD_MAX = 5;

/** A reading to judge, or why there was none. */
export type LedgerInput =
  | { readonly reading: GameReading }
  | { readonly failure: FailedReading["failure"]; readonly at: number };

/** Judged and not yet recorded. */
type Draft = {
  readonly memory: ServerMemory;
  readonly events: readonly NewEvent[];
  /** How many inputs it was judged from. */
  readonly inputs: number;
  /** The newest of them, oldest first. */
  readonly held: readonly LedgerInput[];
  readonly stillShown: readonly string[];
};

export type JudgeInputs = Pick<JudgeContext, "now" | "isWatched" | "intervalMs" | "findCommandId">;

export class ServerLedger {
  readonly serverId: string;
  readonly #hash: HashIdentity;
  #known: KnownServer | undefined;
  /** Being recorded; the draft goes on from it. */
  #writing: Draft | undefined;
  #draft: Draft | undefined;
  /** What the archive was given and did not answer for. Each is the beginning of the draft. */
  #attempts: Draft[] = [];
  /** Identities that are recorded or drafted, with the number of the reading that showed each last. */
  readonly #shown = new Map<string, number>();
  #readings = 0;
  /** The identities that the archive was told of on the current day, so that it keeps them. */
  readonly #refreshed = new Set<string>();
  #hasJudged = false;
  #refreshedDay = 0;
  /** When the first reading was dropped that did not fit; null when none was. */
  #lostSince: number | null = null;

  constructor(serverId: string, hash: HashIdentity) {
    this.serverId = serverId;
    this.#hash = hash;
  }

  get isLoaded(): boolean {
    return this.#known !== undefined;
  }

  /** Whether a reading was judged since it was loaded, so that the entries that the game shows are known. */
  get hasJudged(): boolean {
    return this.#hasJudged;
  }

  get hasDraft(): boolean {
    return this.#draft !== undefined;
  }

  get waitingEvents(): number {
    return (this.#draft?.events.length ?? 0) + (this.#writing?.events.length ?? 0);
  }

  get memory(): ServerMemory | undefined {
    return this.#draft?.memory ?? this.#writing?.memory ?? this.#known?.memory;
  }

  load(known: KnownServer): void {
    this.#known = known;
    this.#shown.clear();
    this.#refreshed.clear();
    this.#hasJudged = false;
  }

  /** The identities of a reading, and those of them that must be looked up in the archive. */
  identify(reading: GameReading): { identified: IdentifiedReading; unknown: string[] } {
    const identified = identifyReading(this.#getMemory(), reading, this.#hash);
    if (!this.#needsLookup(identified)) return { identified, unknown: [] };
    const unknown = listIdentities(identified).filter((identity) => !this.#shown.has(identity));
    return { identified, unknown };
  }

  /**
   * A list that shows an entry that we know has no gap, and the archive records no entry twice, so its new entries need no
   * lookup. A call that was closed must not be opened again, so calls do.
   */
  #needsLookup({ lists, calls = [] }: IdentifiedReading): boolean {
    const isUnknown = ({ identity }: { identity: string }) => !this.#shown.has(identity);
    if (!this.#hasJudged || calls.some(isUnknown)) return true;
    return Object.values(lists).some((entries) => entries.length > 0 && entries.every(isUnknown));
  }

  /** `recorded`: the identities that the archive has. Returns false when the events would be more than `eventsMax`. */
  judge(
    identified: IdentifiedReading,
    recorded: ReadonlySet<string>,
    inputs: JudgeInputs,
    eventsMax: number,
  ): boolean {
    for (const identity of recorded) this.#shown.set(identity, this.#readings);
    this.#hasJudged = true;
    const { events, memory } = judgeReading(this.#getMemory(), identified, {
      ...inputs,
      lostSince: this.#lostSince,
      isKnown: (identity) => this.#shown.has(identity),
    });
    if (events.length > eventsMax) {
      this.#lostSince ??= identified.reading.at;
      return false;
    }
    this.#lostSince = null;
    this.#noteShown(identified);
    const stillShown = this.#findStillShown(identified, inputs.now);
    this.#addToDraft({ memory, events, inputs: 1, held: [{ reading: identified.reading }], stillShown });
    return true;
  }

  /** A reading was dropped, so the next one tells of a gap. */
  noteLoss(at: number): void {
    this.#lostSince ??= at;
  }

  judgeFailure(failed: FailedReading): void {
    const before = this.#getMemory();
    const { events, memory } = judgeFailure(before, failed);
    if (memory === before) return;
    const { failure, at } = failed;
    this.#addToDraft({ memory, events, inputs: 1, held: [{ failure, at }], stillShown: [] });
  }

  /** Takes the draft for recording; undefined when there is none. */
  startWriting(now: number): LedgerRecord | undefined {
    const draft = this.#draft;
    const known = this.#known;
    if (!draft || !known || this.#writing) return undefined;
    this.#writing = draft;
    this.#draft = undefined;
    return {
      serverId: this.serverId,
      version: known.version,
      events: draft.events,
      memory: writeChangedParts(known.memory, draft.memory),
      stillShown: draft.stillShown,
      now,
    };
  }

  finishWriting(version: number): void {
    if (!this.#writing) return;
    this.#known = { version, memory: this.#writing.memory };
    this.#writing = undefined;
    this.#attempts = [];
  }

  /** The archive did not take the draft, or did not say so. It waits with what came meanwhile. */
  failWriting(): void {
    const writing = this.#writing;
    if (!writing) return;
    this.#attempts.push(writing);
    if (this.#attempts.length > ATTEMPTS_MAX) this.#attempts.shift();
    this.#draft = this.#draft ? joinDrafts(writing, this.#draft) : writing;
    this.#writing = undefined;
  }

  /**
   * Another version was found than the draft was judged from. Returns the inputs to judge again, oldest first. If the version is
   * an earlier attempt of ours whose answer was lost, only the rest of the draft is left. If another instance has recorded, the
   * held inputs are judged again from what is known now. Of inputs that are not held any more, the entries and gaps of log lists
   * are kept, because the archive records each entry once; changes of compared sections may be lost, and a gap says so.
   */
  rebase(known: KnownServer, now: number): readonly LedgerInput[] {
    const before = this.#known;
    const draft = this.#writing && this.#draft ? joinDrafts(this.#writing, this.#draft) : this.#writing;
    const own = before && this.#attempts.find((attempt) => isOwnWrite(before, attempt, known));
    this.#writing = undefined;
    this.#draft = undefined;
    this.#attempts = [];
    this.load(known);
    if (!draft || !before) return [];
    if (own) {
      this.#draft = draft.inputs > own.inputs ? cutDraft(draft, own) : undefined;
      return [];
    }
    const isHeld = draft.inputs === draft.held.length;
    const { lastReadingAt: from } = before.memory;
    const gap = toGapEvent({ section: "*", reason: "archive", from, to: now }, now);
    const events = isHeld
      ? draft.events.filter(isLossGap)
      : [gap, ...draft.events.filter((event) => isLossGap(event) || isOfLogList(event))];
    // More inputs than are held, so that the entries are kept at the next rebase too.
    const inputs = isHeld ? 0 : HELD_MAX + 1;
    if (events.length > 0)
      this.#addToDraft({ memory: known.memory, events, inputs, held: [], stillShown: [] });
    return draft.held;
  }

  #getMemory(): ServerMemory {
    const { memory } = this;
    if (!memory) throw new Error("the ledger was not loaded");
    return memory;
  }

  #addToDraft(added: Draft): void {
    const draft = this.#draft;
    for (const { identity } of added.events) if (identity !== null) this.#shown.set(identity, this.#readings);
    this.#draft = draft ? joinDrafts(draft, added) : added;
  }

  #noteShown(identified: IdentifiedReading): void {
    this.#readings++;
    const shown = listIdentities(identified);
    for (const identity of shown) if (this.#shown.has(identity)) this.#shown.set(identity, this.#readings);
    if (this.#shown.size <= 4 * shown.length) return;
    for (const [identity, reading] of this.#shown) {
      if (reading >= this.#readings - UNSHOWN_READINGS_MAX) continue;
      this.#shown.delete(identity);
      this.#refreshed.delete(identity);
    }
  }

  /** Each identity that is shown, once a day, so that the archive keeps it. */
  #findStillShown(identified: IdentifiedReading, now: number): string[] {
    const day = Math.floor(now / DAY_MS);
    if (day !== this.#refreshedDay) this.#refreshed.clear();
    this.#refreshedDay = day;
    const shown = listIdentities(identified).filter((identity) => !this.#refreshed.has(identity));
    for (const identity of shown) this.#refreshed.add(identity);
    // Those that are not known yet are recorded today anyway.
    return shown.filter((identity) => this.#shown.has(identity));
  }
}

/** Tells of readings that were dropped, which nobody else can tell. */
function isLossGap({ type, section, data }: NewEvent): boolean {
  return type === "gap" && section === "*" && (JSON.parse(data) as Gap).reason === "archive";
}

function isOfLogList({ type, section, identity }: NewEvent): boolean {
  return identity !== null || (type === "gap" && section !== "*");
}

/** Whether the version that was found is one of our own attempts. */
function isOwnWrite(before: KnownServer, { memory }: Draft, found: KnownServer): boolean {
  return (
    found.version === before.version + 1 &&
    found.memory.lastReadingAt === memory.lastReadingAt &&
    found.memory.failingSince === memory.failingSince
  );
}

function joinDrafts(first: Draft, second: Draft): Draft {
  return {
    memory: second.memory,
    events: [...first.events, ...second.events],
    inputs: first.inputs + second.inputs,
    held: [...first.held, ...second.held].slice(-HELD_MAX),
    stillShown: [...first.stillShown, ...second.stillShown],
  };
}

/** What is left of a draft when its beginning is recorded. */
function cutDraft(draft: Draft, recorded: Draft): Draft {
  const inputs = draft.inputs - recorded.inputs;
  return {
    ...draft,
    events: draft.events.slice(recorded.events.length),
    inputs,
    held: draft.held.slice(-inputs),
  };
}

export type FindCommandId = (element: Element) => string | undefined;
