// Judges the alerts of one server after its events are recorded: reads what the ledger has told since, and drafts the events of
// alerts together with the new states, so that each is recorded once. Drafts are dropped at a conflict and judged anew.
import type { AlertFact } from "../../core/alerts/alert-events.ts";
import type { AlertMemory } from "../../core/alerts/alert-states.ts";
import { ALERT_FACTS, judgeAlerts } from "../../core/alerts/judge-alerts.ts";
import type { ServerFacts } from "../../core/alerts/judge-server.ts";
import { hasRules } from "../../core/alerts/rules.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import { type LedgerPosition, writeCursor } from "../../core/events/cursor.ts";
import { typeOfKind } from "../../core/events/event-types.ts";
import { silenceMs } from "../../core/events/judge-state.ts";
import type { ServerMemory } from "../../core/events/memory.ts";
import { parseExactJson } from "../../core/exact-json.ts";
import type { Archive, LedgerEvent } from "../../core/ports/archive.ts";
import type { ServerLedger } from "./server-ledger.ts";

const PAGE_SIZE = 500;
/** What is left after so many pages is judged in the next round. */
const PAGES_MAX = 20;
/** A place that moved past events without any meaning for alerts is written after so many of them. */
const POSITION_LAG_MAX = 1_000;

type ReadFacts = { readonly facts: readonly AlertFact[]; readonly place: LedgerPosition; readonly hasMore: boolean };

export class AlertJudge {
  #isDue = false;
  /** Where rules that were just set begin. */
  #start: LedgerPosition | undefined;
  /** The newest place of the ledger, as far as we know. */
  #last: LedgerPosition | undefined;
  /** How far the ledger was judged without a change of these alerts. */
  #reached: { readonly from: AlertMemory; readonly place: LedgerPosition } | undefined;
  #nextAt: number | null = null;

  constructor(
    private readonly ledger: ServerLedger,
    private readonly archive: Pick<Archive, "readPage">,
  ) {}

  /** Whether something may have changed since alerts were judged. */
  get isDue(): boolean {
    return this.#isDue;
  }

  /** When time alone could change something; null for never. */
  get nextAt(): number | null {
    return this.#nextAt;
  }

  noteRecorded(last: LedgerPosition): void {
    this.#last = last;
    this.#isDue = true;
  }

  /** Meanwhile somebody may have recorded what is no change of what is remembered, such as a claim. */
  noteTime(): void {
    this.#last = undefined;
    this.#isDue = true;
  }

  /** What is known was loaded from the archive. */
  noteLoaded(): void {
    this.#start = undefined;
    this.#last = undefined;
    this.#reached = undefined;
    this.#isDue = true;
  }

  /** Called before anything more is recorded: rules that are new begin here. */
  async prepare(): Promise<void> {
    const memory = this.ledger.recorded;
    if (!memory || this.#start || memory.alerts.place || !hasRules(memory.alertRules)) return;
    const { serverId } = this.ledger;
    const start = { after: "now" } as const;
    const page = await this.archive.readPage({ serverId, start, filter: ALERT_FACTS, limit: 1 });
    this.#start = "expired" in page ? page.oldest : page.next;
  }

  async judge(now: number, intervalMs: number): Promise<void> {
    try {
      await this.#judge(now, intervalMs);
    } catch (error) {
      // Judged when the archive is back. A bug would come again at once.
      this.#isDue = error instanceof StoreUnavailable;
      throw error;
    }
  }

  async #judge(now: number, intervalMs: number): Promise<void> {
    await this.prepare();
    const ledger = this.ledger;
    const memory = ledger.recorded;
    this.#isDue = false;
    // What is drafted is judged again when it is recorded or was refused.
    if (!memory || ledger.memory?.alerts !== memory.alerts) return;
    const { alertRules: rules, alerts } = memory;
    const isJudged = hasRules(rules) || alerts.place !== null;
    const from = this.#reached?.from === alerts ? this.#reached.place : (alerts.place ?? this.#start);
    if (!from || !isJudged) {
      this.#nextAt = null;
      return;
    }
    const { facts, place, hasMore } = await this.#readFacts(from);
    const server = toServerFacts(memory, intervalMs);
    const judged = judgeAlerts({ rules, states: alerts.states, facts, server, hasMore, now });
    this.#nextAt = judged.nextAt;
    const isLagging = place.number - (alerts.place?.number ?? 0) > POSITION_LAG_MAX;
    const isChanged = judged.states !== alerts.states || alerts.place === null || isLagging || hasMore;
    const changed = isChanged ? { place: hasRules(rules) ? place : null, states: judged.states } : alerts;
    this.#reached = { from: changed, place };
    if (isChanged) ledger.addAlerts(changed, judged.events);
  }

  async #readFacts(from: LedgerPosition): Promise<ReadFacts> {
    const { serverId } = this.ledger;
    if (this.#last?.number === from.number) return { facts: [], place: from, hasMore: false };
    const facts: AlertFact[] = [];
    let place = from;
    let hasMore = true;
    for (let pages = 0; pages < PAGES_MAX && hasMore; pages++) {
      const start = { after: place };
      const page = await this.archive.readPage({ serverId, start, filter: ALERT_FACTS, limit: PAGE_SIZE });
      if ("expired" in page) {
        place = page.oldest;
        continue;
      }
      for (const event of page.events) facts.push(toFact(serverId, event));
      place = page.next;
      hasMore = page.hasMore;
    }
    return { facts, place, hasMore };
  }
}

function toFact(serverId: string, event: LedgerEvent): AlertFact {
  const { kind, at, seenAt, isBackfill, data } = event;
  const parsed = parseExactJson(data);
  const isObject = typeof parsed === "object" && parsed !== null;
  return {
    id: writeCursor(serverId, event),
    type: typeOfKind(kind),
    at,
    seenAt,
    isBackfill,
    data: isObject ? (parsed as AlertFact["data"]) : {},
  };
}

function toServerFacts(memory: ServerMemory, intervalMs: number): ServerFacts {
  const { state, lastReadingAt, unknownMs, counts, sessions, playersShownAt } = memory;
  const { last } = counts;
  return {
    state,
    validUntil: lastReadingAt === null ? null : lastReadingAt + silenceMs(intervalMs),
    unknownMs,
    count: last && { players: last.now.players, at: last.at, until: last.until },
    goneSince(player) {
      const session = sessions.get(player);
      return session ? (session.absence?.seenUntil ?? null) : playersShownAt;
    },
  };
}
