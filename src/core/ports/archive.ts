// The archive: the ledgers of events and what is remembered of each server between readings.
import type { AlertStates } from "../alerts/alert-states.ts";
import type { AlertRules } from "../alerts/rules.ts";
import type { LedgerPosition } from "../events/cursor.ts";
import type { EventFilter, EventKind } from "../events/event-types.ts";
import type { ForgottenPlayer } from "../events/forget-player.ts";
import type { ServerMemory, ServerState } from "../events/memory.ts";
import type { MemoryPart } from "../events/memory-text.ts";
import type { EventSource, NewEvent } from "../events/new-event.ts";
import type { HistoryChange } from "../history/history.ts";
import type { MapImage, MapImageFacts } from "../maps/map-image.ts";
import type { SeenPlace } from "../maps/seen-places.ts";
import type { HistoryStore, HourStore } from "./history.ts";
import type { ModCallStore, PlayerStore } from "./players.ts";
import type { WebhookStore } from "./webhooks.ts";

/** An event with its place. `data` and `meta` are JSON text. */
export type LedgerEvent = LedgerPosition & {
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
export type RecordOutcome = { readonly version: number; readonly last: LedgerPosition } | { readonly conflict: true };

export type PageStart =
  /** The events after a place. */
  | { readonly after: LedgerPosition }
  | { readonly after: "earliest" | "now" }
  /** The newest events up to a place. */
  | { readonly before: LedgerPosition | "now" }
  /** The newest of the events that were seen at this time or before. */
  | { readonly seenUntil: number };

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
      readonly next: LedgerPosition;
      readonly previous: LedgerPosition;
      readonly hasMore: boolean;
    }
  | { readonly expired: true; readonly oldest: LedgerPosition };

export type Retention = { readonly now: number; readonly days: number; readonly eventsMax: number };

/** The most events that one page looks at. */
export const PAGE_LOOK_MAX = 10_000;

/**
 * Every method throws StoreUnavailable when the archive cannot answer within its deadline. A write that failed so may have
 * happened all the same; the version tells.
 */
export interface Archive
  extends MapArchive,
    WebhookStore,
    AlertRuleStore,
    HistoryStore,
    HourStore,
    StateChangeLog,
    PlayerStore,
    ModCallStore {
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
  findLast(serverIds: readonly string[]): Promise<ReadonlyMap<string, LedgerPosition>>;
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

/** Every method throws StoreUnavailable when the archive cannot answer within its deadline. */
export interface AlertRuleStore {
  /** What is remembered of the alerts of every server that ever had rules. */
  listAlertStates(): Promise<readonly { readonly serverId: string; readonly states: AlertStates }[]>;
  /** NO_ALERTS for a server without a ledger. */
  readAlertRules(serverId: string): Promise<AlertRules>;
  /**
   * Replaces all rules, and creates the ledger when there is none. The version of the server changes with them, so that a
   * writer that knows the former rules has to load the memory again.
   */
  setAlertRules(serverId: string, rules: AlertRules): Promise<void>;
}

export type StateChange = { readonly state: ServerState; readonly at: number };

export interface StateChangeLog {
  /** The newest changes of the server's state that are kept, newest first. Reads an index, however long the ledger is. */
  listStateChanges(serverId: string, limit: number): Promise<readonly StateChange[]>;
}

export interface MapArchive {
  /**
   * Adds to the counts of the places. A server without a ledger is ignored, so that a deleted one does not come back. Above
   * PLACES_MAX the places that were seen least are dropped.
   */
  addPlaces(serverId: string, places: readonly SeenPlace[]): Promise<void>;
  /** In no particular order. */
  listPlaces(serverId: string): Promise<readonly SeenPlace[]>;
  /** Replaces the picture that there was. */
  saveMapImage(serverId: string, image: MapImage): Promise<void>;
  /** Without the bytes. */
  findMapImage(serverId: string): Promise<MapImageFacts | undefined>;
  readMapImage(serverId: string): Promise<MapImage | undefined>;
  removeMapImage(serverId: string): Promise<void>;
}
