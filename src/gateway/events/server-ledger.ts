// One server's way into the ledger: what is recorded, what is judged but not yet recorded, and which entries are known. It
// judges readings; the recorder does the waiting and writing.
import { randomBytes } from "node:crypto";
import type { AlertMemory } from "../../core/alerts/alert-states.ts";
import { DAY_MS } from "../../core/durations.ts";
import type { GameHook } from "../../core/events/game-hook.ts";
import { hasUnshownCalls, judgeUnshownCalls } from "../../core/events/judge-calls.ts";
import { judgeHook } from "../../core/events/judge-hook.ts";
import { type JudgeContext, judgeReading } from "../../core/events/judge-reading.ts";
import { countUnknownTime, type Failure, type JudgedFailure, judgeFailure } from "../../core/events/judge-state.ts";
import { LOG_LISTS, type ServerMemory } from "../../core/events/memory.ts";
import { writeChangedParts } from "../../core/events/memory-text.ts";
import { type NewEvent, toGapEvent } from "../../core/events/new-event.ts";
import {
  type GameReading,
  type HashIdentity,
  type IdentifiedHook,
  type IdentifiedReading,
  identifyHook,
  identifyReading,
  type ListEntry,
  listIdentities,
} from "../../core/events/reading.ts";
import { type HistoryChange, NO_HISTORY } from "../../core/history/history.ts";
import { breakOffSessions, cutHistory, joinHistories, WAITING_SESSIONS_MAX } from "../../core/history/judge-history.ts";
import type { KnownServer, LedgerRecord } from "../../core/ports/archive.ts";
import type { Gap } from "../../core/wire/event-data.ts";

/** Identities that were not shown in this many readings are looked up again when they come back. */
const UNSHOWN_READINGS_MAX = 50;
const ATTEMPTS_MAX = 20;
/** The newest inputs of a draft are held, to be judged again when another instance has recorded meanwhile. */
const HELD_READINGS_MAX = 5;
/** Webhooks are small, and come to any instance, so more of them are held. */
const HELD_MAX = 200;

/** A webhook that somebody waits for. */
export type HookInput = { readonly hook: GameHook };

/** A reading to judge, or why there was none; a webhook; or only that time has passed. */
export type LedgerInput =
  | { readonly reading: GameReading }
  | { readonly failure: Failure; readonly at: number }
  | HookInput
  | { readonly passedAt: number };

/** Judged and not yet recorded. */
type Draft = {
  readonly memory: ServerMemory;
  readonly events: readonly NewEvent[];
  readonly history: HistoryChange;
  /** How many inputs it was judged from. */
  readonly inputs: number;
  /** The newest of them, oldest first. */
  readonly held: readonly LedgerInput[];
  /** The webhooks among all of them, oldest first. */
  readonly hooks: readonly HookInput[];
  readonly stillShown: readonly string[];
};

export type JudgeInputs = Pick<JudgeContext, "now" | "isWatched" | "intervalMs" | "findCommand">;

export class ServerLedger {
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
  /** The webhooks that are on disk and were not taken yet. */
  #recordedHooks: HookInput[] = [];
  /** What the names of our writes begin with. */
  readonly #writer = randomBytes(6).toString("base64url");
  #writes = 0;

  constructor(
    readonly serverId: string,
    private readonly hash: HashIdentity,
  ) {}

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

  /** Whether calls are open that only webhooks have told of: they end as time passes. */
  get hasUnshownCalls(): boolean {
    return this.memory !== undefined && hasUnshownCalls(this.memory);
  }

  get waitingEvents(): number {
    return (this.#draft?.events.length ?? 0) + (this.#writing?.events.length ?? 0);
  }

  get #waitingSessions(): number {
    const { length: drafted } = this.#draft?.history.sessions ?? [];
    return drafted + (this.#writing?.history.sessions.length ?? 0);
  }

  get memory(): ServerMemory | undefined {
    return this.#draft?.memory ?? this.#writing?.memory ?? this.#known?.memory;
  }

  /** What is known to be on disk. */
  get recorded(): ServerMemory | undefined {
    return this.#known?.memory;
  }

  /** Whether another instance, or an operator, has written since. Never while something of ours is not recorded. */
  isOutdated({ version }: KnownServer): boolean {
    return !this.#draft && !this.#writing && version !== this.#known?.version;
  }

  load(known: KnownServer): void {
    this.#known = known;
    this.#shown.clear();
    this.#refreshed.clear();
    this.#hasJudged = false;
  }

  /** The identities of a reading, and those of them that must be looked up in the archive. */
  identify(reading: GameReading): { identified: IdentifiedReading; unknown: string[] } {
    const identified = identifyReading(this.#getMemory(), reading, this.hash);
    if (!this.#needsLookup(identified)) return { identified, unknown: [] };
    const unknown = listIdentities(identified).filter((identity) => !this.#shown.has(identity));
    return { identified, unknown };
  }

  /**
   * A list that shows an entry that we know has no gap, and the archive records no entry twice, so its new entries need no
   * lookup. Those that are older than others do: an entry that was not shown for long and comes back would count twice in the
   * history. A call that was closed must not be opened again, so calls do.
   */
  #needsLookup({ lists, calls = [] }: IdentifiedReading): boolean {
    const isUnknown = ({ identity }: { identity: string }) => !this.#shown.has(identity);
    if (!this.#hasJudged || calls.some(isUnknown)) return true;
    const { lists: known } = this.#getMemory();
    return LOG_LISTS.some((list) => {
      const entries = lists[list] ?? [];
      const newestAt = known[list].newestAt ?? 0;
      const isLate = (entry: ListEntry) => (entry.at ?? 0) <= newestAt && isUnknown(entry);
      return entries.length > 0 && (entries.every(isUnknown) || entries.some(isLate));
    });
  }

  /** `recorded`: the identities that the archive has. More events than `eventsMax` are given up, and a gap tells of them. */
  judge(identified: IdentifiedReading, recorded: ReadonlySet<string>, inputs: JudgeInputs, eventsMax: number): void {
    for (const identity of recorded) this.#shown.set(identity, this.#readings);
    this.#hasJudged = true;
    const before = this.#getMemory();
    const judged = judgeReading(before, identified, {
      ...inputs,
      lostSince: this.#lostSince,
      isKnown: (identity) => this.#shown.has(identity),
    });
    const { events, history } = judged;
    const hasRoom = history.sessions.length === 0 || this.#waitingSessions < WAITING_SESSIONS_MAX;
    if (events.length > eventsMax || !hasRoom) {
      this.#lostSince ??= identified.reading.at;
      return;
    }
    this.#lostSince = null;
    this.#noteShown(identified);
    const stillShown = this.#findStillShown(identified, inputs.now);
    this.#noteDrafted(events);
    // Also those that a webhook has told of for all teams, which are recorded under another identity.
    for (const { identity } of identified.calls ?? []) this.#shown.set(identity, this.#readings);
    const held = [{ reading: identified.reading }];
    const memory = countUnknownTime(before, judged.memory, inputs.intervalMs);
    this.#addToDraft({ memory, events, history, inputs: 1, held, hooks: [], stillShown });
  }

  identifyHook(hook: GameHook): IdentifiedHook {
    return identifyHook(this.#getMemory(), hook, this.hash);
  }

  /** `recorded`: the identities that the archive has. Returns whether the webhook was recorded before. */
  judgeHook(input: HookInput, identified: IdentifiedHook, recorded: ReadonlySet<string>): boolean {
    const before = this.#getMemory();
    const isKnown = (identity: string) => recorded.has(identity) || this.#shown.has(identity);
    const { events, memory, history, isRepeated } = judgeHook(before, identified, isKnown);
    // Also with nothing to tell it is written: another instance may know of a call that we do not, which its version shows.
    if (isRepeated && memory === before && !this.#draft && !this.#writing) this.#recordedHooks.push(input);
    else this.#addToDraft({ memory, events, history, inputs: 1, held: [input], hooks: [input], stillShown: [] });
    return isRepeated;
  }

  /** The webhooks that are on disk since the last time. */
  takeRecordedHooks(): readonly HookInput[] {
    const hooks = this.#recordedHooks;
    this.#recordedHooks = [];
    return hooks;
  }

  /** Time has passed without anything else to judge. */
  judgeTime(passedAt: number): void {
    const before = this.#getMemory();
    const { events, memory } = judgeUnshownCalls(before, passedAt);
    if (events.length === 0) return;
    const { calls, closedCalls } = memory;
    this.#addToDraft({
      memory: { ...before, calls, closedCalls },
      events,
      history: NO_HISTORY,
      inputs: 1,
      held: [{ passedAt }],
      hooks: [],
      stillShown: [],
    });
  }

  /** They are judged from what is recorded, so a rebase drops them, and they are judged anew. */
  addAlerts(alerts: AlertMemory, events: readonly NewEvent[]): void {
    const memory = { ...this.#getMemory(), alerts };
    this.#addToDraft({ memory, events, history: NO_HISTORY, inputs: 0, held: [], hooks: [], stillShown: [] });
  }

  /** A reading was dropped, so the next one tells of a gap. */
  noteLoss(at: number): void {
    this.#lostSince ??= at;
  }

  judgeFailure(failed: JudgedFailure): void {
    const before = this.#getMemory();
    const { events, memory } = judgeFailure(before, failed);
    if (memory === before) return;
    const { failure, at } = failed;
    const held = [{ failure, at }];
    this.#addToDraft({ memory, events, history: NO_HISTORY, inputs: 1, held, hooks: [], stillShown: [] });
  }

  /** Takes the draft for recording; undefined when there is none. */
  startWriting(now: number): LedgerRecord | undefined {
    const draft = this.#draft;
    const known = this.#known;
    if (!draft || !known || this.#writing) return undefined;
    const memory = { ...draft.memory, writeMark: `${this.#writer}.${++this.#writes}` };
    this.#writing = { ...draft, memory };
    this.#draft = undefined;
    return {
      serverId: this.serverId,
      version: known.version,
      events: draft.events,
      memory: writeChangedParts(known.memory, memory),
      history: draft.history,
      stillShown: draft.stillShown,
      now,
    };
  }

  finishWriting(version: number): void {
    if (!this.#writing) return;
    this.#known = { version, memory: this.#writing.memory };
    this.#recordedHooks.push(...this.#writing.hooks);
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
   * are kept, because the archive records each entry once; changes of compared sections may be lost, and a gap says so. Open
   * sessions end then: entries that are kept are known, so they would not be judged again.
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
      this.#recordedHooks.push(...own.hooks);
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
    const hooks = draft.hooks.filter((hook) => !draft.held.includes(hook));
    if (events.length > 0) {
      this.#noteDrafted(events);
      const broken = isHeld ? undefined : breakOffSessions(known.memory);
      const memory = { ...known.memory, ...broken?.memory };
      const history = broken ? { ...broken.history, acts: draft.history.acts, seen: draft.history.seen } : NO_HISTORY;
      this.#addToDraft({ memory, events, history, inputs, held: [], hooks, stillShown: [] });
    }
    return draft.held;
  }

  #getMemory(): ServerMemory {
    const { memory } = this;
    if (!memory) throw new Error("the ledger was not loaded");
    return memory;
  }

  #addToDraft(added: Draft): void {
    this.#draft = this.#draft ? joinDrafts(this.#draft, added) : added;
  }

  /** Only entries of readings: the identities of webhooks are looked up, and would never be shown again. */
  #noteDrafted(events: readonly NewEvent[]): void {
    for (const { identity } of events) if (identity !== null) this.#shown.set(identity, this.#readings);
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
  return found.version === before.version + 1 && found.memory.writeMark === memory.writeMark;
}

function joinDrafts(first: Draft, second: Draft): Draft {
  return {
    memory: second.memory,
    events: [...first.events, ...second.events],
    history: joinHistories(first.history, second.history),
    inputs: first.inputs + second.inputs,
    held: holdNewest([...first.held, ...second.held]),
    hooks: [...first.hooks, ...second.hooks],
    stillShown: [...first.stillShown, ...second.stillShown],
  };
}

/** The newest inputs, as many of each kind as may be held. */
function holdNewest(inputs: readonly LedgerInput[]): readonly LedgerInput[] {
  let readings = 0;
  const excess = inputs.findLastIndex((input, place) => {
    if (!("hook" in input)) readings++;
    return readings > HELD_READINGS_MAX || inputs.length - place > HELD_MAX;
  });
  return excess < 0 ? inputs : inputs.slice(excess + 1);
}

/** What is left of a draft when its beginning is recorded. */
function cutDraft(draft: Draft, recorded: Draft): Draft {
  const inputs = draft.inputs - recorded.inputs;
  return {
    ...draft,
    events: draft.events.slice(recorded.events.length),
    history: cutHistory(draft.history, recorded.history),
    inputs,
    held: draft.held.slice(-inputs),
    hooks: draft.hooks.slice(recorded.hooks.length),
  };
}
