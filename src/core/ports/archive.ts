// The archive: the ledgers of events and what is remembered of each server between readings.
import type { LedgerPlace } from "../events/cursor.ts";
import type { EventFilter, EventKind } from "../events/event-types.ts";
import type { ForgottenPlayer } from "../events/forget-player.ts";
import type { ServerMemory } from "../events/memory.ts";
import type { MemoryPart } from "../events/memory-text.ts";
import type { EventSource, NewEvent } from "../events/new-event.ts";
import type { HistoryChange } from "../history/history.ts";
import type { AlertRuleStore } from "./alert-rules.ts";
import type { HistoryStore } from "./history.ts";
import type { MapArchive } from "./map-archive.ts";
import type { StateChangeLog } from "./state-changes.ts";
import type { WebhookStore } from "./webhooks.ts";

/** An event with its place. `data` and `meta` are JSON text. */
export type LedgerEvent = LedgerPlace & {
  readonly kind: EventKind;
  readonly at: number;
  readonly seenAt: number;
  readonly source: EventSource;
  readonly isBackfill: boolean;
  readonly data: string;
  readonly meta: string | null;
};

/** `version` changes with every record of the server, so that a writer with an outdated memory is noticed. */
export type KnownServer = { readonly version: number; readonly memory: ServerMemory };

export type LedgerRecord = {
  readonly serverId: string;
  /** The version that the events were judged from. */
  readonly version: number;
  readonly events: readonly NewEvent[];
  readonly memory: readonly MemoryPart[];
  /** What it adds to the history. */
  readonly history: HistoryChange;
  /** Identities that were recorded before and are still shown, so that they are kept. */
  readonly stillShown: readonly string[];
  readonly now: number;
};

/** `conflict`: another instance has recorded since; load and judge again. `last` is the newest place of the ledger. */
export type RecordOutcome =
  | { readonly version: number; readonly last: LedgerPlace }
  | { readonly conflict: true };

export type PageStart =
  /** The events after a place. */
  | { readonly after: LedgerPlace }
  | { readonly after: "earliest" | "now" }
  /** The newest events up to a place. */
  | { readonly before: LedgerPlace | "now" };

export type PageRequest = {
  readonly serverId: string;
  readonly start: PageStart;
  readonly filter: EventFilter;
  /** Only events that name this player; undefined for all. */
  readonly player?: string | undefined;
  readonly limit: number;
};

/**
 * Events oldest first. `next` is the place that was reached, and is past what the filter left out. `previous` is the place
 * before the first of these events. `hasMore`: there are more events in the direction of reading.
 * `expired`: the place is older than what is kept, newer than the newest, or not of this ledger; `oldest` is the place
 * before the oldest kept event.
 */
export type LedgerPage =
  | {
      readonly events: readonly LedgerEvent[];
      readonly next: LedgerPlace;
      readonly previous: LedgerPlace;
      readonly hasMore: boolean;
    }
  | { readonly expired: true; readonly oldest: LedgerPlace };

export type Retention = { readonly now: number; readonly days: number; readonly eventsMax: number };

/** The most events that one page looks at. */
export const PAGE_LOOK_MAX = 10_000;

/**
 * Every method throws StoreUnavailable when the archive cannot answer within its deadline. A write that failed so may have
 * happened all the same; the version tells.
 */
export interface Archive extends MapArchive, WebhookStore, AlertRuleStore, HistoryStore, StateChangeLog {
  load(serverId: string): Promise<KnownServer>;
  /** Which of the identities have been recorded before. */
  findRecorded(serverId: string, identities: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Records events, memory and history of several servers, each server's atomically. They are on disk when this resolves, and become
   * readable in the order of their numbers. An event whose identity was recorded before is left out.
   */
  record(records: readonly LedgerRecord[]): Promise<readonly RecordOutcome[]>;
  readPage(request: PageRequest): Promise<LedgerPage>;
  /** The place of the newest event of each server, in one query. Servers without a ledger are left out. */
  findLast(serverIds: readonly string[]): Promise<ReadonlyMap<string, LedgerPlace>>;
  /** Deletes a bounded number of events, identities and rows of the history that need not be kept. True when there is more to delete. */
  prune(retention: Retention): Promise<boolean>;
  /** Deletes everything about a server, with its webhooks. */
  removeServer(serverId: string): Promise<void>;
  /**
   * Notes durably that a player is to be forgotten, see core/events/forget-player.ts. Does nothing for an id that is being
   * worked on. Cursors and identities stay valid, so an entry that the game still shows is not recorded again.
   */
  startForgetting(playerId: string): Promise<void>;
  /** Takes one step of bounded size for the players that are noted. True when there is more to do. */
  continueForgetting(): Promise<boolean>;
  /** Some of the players that are taken out of the archive, with their names, and not yet out of what is kept elsewhere. */
  listForgotten(): Promise<readonly ForgottenPlayer[]>;
  /** Deletes the note of a player that is taken out of everything. */
  finishForgetting(playerId: string): Promise<void>;
  close(): Promise<void>;
}
