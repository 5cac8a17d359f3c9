// The client of the public API, for the holder of an API key.
import type { CommandStatus } from "../../core/commands/command.ts";
import type { Section } from "../../core/sections.ts";
import type { CommandReceipt, CommandResource } from "../../core/wire/command.ts";
import type { EventPage } from "../../core/wire/event.ts";
import type { GameMapResource } from "../../core/wire/game-map.ts";
import type {
  PeaksResource,
  PlayersHistory,
  PlaytimePage,
  PresentHistory,
  SessionPage,
  StaffPage,
} from "../../core/wire/history.ts";
import type { OwnKeyResource } from "../../core/wire/key.ts";
import type { PageOf, PageQuery } from "../../core/wire/page.ts";
import type {
  ModCallPage,
  ModCallResource,
  NewNote,
  NoteResource,
  PlayerPage,
  PlayerRecord,
} from "../../core/wire/players.ts";
import type { EmergencyCall as RelayedCall, ServerInfo } from "../../core/wire/server-info.ts";
import type { Id } from "./exact-json.ts";
import type { ApiCall, Outcome } from "./request.ts";

export type EmergencyCall = Omit<RelayedCall, "Caller" | "Players"> & {
  readonly Caller?: Id;
  readonly Players?: readonly Id[];
};

/** The state of a server; ids as `parseExactJson` leaves them. */
export type ServerState = Omit<ServerInfo, "OwnerId" | "CoOwnerIds" | "Queue" | "EmergencyCalls"> & {
  readonly OwnerId: Id;
  readonly CoOwnerIds: readonly Id[];
  readonly Queue?: readonly Id[];
  readonly EmergencyCalls?: readonly EmergencyCall[];
};

const KEY = "/v2/game/key";
const SERVER = "/v2/game/server";
const COMMAND = "/v2/game/server/command";
const MAP = "/v2/game/server/map";
const PLAYERS = "/v2/game/server/players";
const EVENTS = "/v2/game/server/events";
const MOD_CALLS = "/v2/game/server/modcalls";
const HISTORY = "/v2/game/server/history";
export const EVENT_STREAM = `${EVENTS}/stream`;

/** What polling a server needs. */
export type ServerReader = Pick<CallerApi, "readServer" | "readMap" | "readMapImage"> &
  Partial<Pick<CallerApi, "readKey">>;

/** What reading the ledger of a server needs. */
export type LedgerReader = Pick<CallerApi, "readEvents">;

/** What reading the past of a server needs. */
export type HistoryReader = Pick<CallerApi, "readHistory" | "readPresent">;

export type CallerApi = ReturnType<typeof createCallerApi>;

export function createCallerApi(call: ApiCall) {
  return {
    readKey(signal?: AbortSignal) {
      return call<OwnKeyResource>(KEY, { ...(signal && { signal }) });
    },
    readServer(sections: readonly Section[], etag?: string, signal?: AbortSignal) {
      return call<ServerState>(SERVER, {
        query: Object.fromEntries(sections.map((name) => [name, true])),
        ...(etag !== undefined && { headers: { "If-None-Match": etag } }),
        ...(signal && { signal }),
      });
    },
    readMap(signal?: AbortSignal) {
      return call<GameMapResource>(MAP, { ...(signal && { signal }) });
    },
    readMapImage(signal?: AbortSignal) {
      return call<Blob>(`${MAP}/image`, { asFile: true, ...(signal && { signal }) });
    },
    readEvents(query: EventQuery, signal?: AbortSignal) {
      return call<EventPage>(EVENTS, { query, ...(signal && { signal }) });
    },
    readHistory<Q extends keyof HistoryAnswers>(question: Q, query: HistoryQuery, signal?: AbortSignal) {
      return call<HistoryAnswers[Q]>(`${HISTORY}/${question}`, { query, ...(signal && { signal }) });
    },
    /** Who was there at a moment, in epoch milliseconds. */
    readPresent(at: number, signal?: AbortSignal) {
      return call<PresentHistory>(`${HISTORY}/present`, { query: { at }, ...(signal && { signal }) });
    },
    /** Everybody who was ever seen, latest first. */
    listPlayers(query: PlayerQuery, signal?: AbortSignal) {
      return call<PlayerPage>(PLAYERS, { query, ...(signal && { signal }) });
    },
    showPlayer(id: string, signal?: AbortSignal) {
      return call<PlayerRecord>(`${PLAYERS}/${id}`, { ...(signal && { signal }) });
    },
    addNote: (id: string, body: NewNote) => call<NoteResource>(`${PLAYERS}/${id}/notes`, { method: "POST", body }),
    deleteNote: (id: string, noteId: string) =>
      call<undefined>(`${PLAYERS}/${id}/notes/${encodeURIComponent(noteId)}`, { method: "DELETE" }),
    listModCalls(query: { readonly state: string; readonly limit: number }, signal?: AbortSignal) {
      return call<ModCallPage>(MOD_CALLS, { query, ...(signal && { signal }) });
    },
    /** With `take` also from somebody else. */
    claimModCall(id: string, take: boolean) {
      return call<ModCallResource>(claimOf(id), { method: "POST", ...(take && { body: { take } }) });
    },
    releaseModCall(id: string) {
      return call<ModCallResource>(claimOf(id), { method: "DELETE" });
    },
    /** Every attempt to send the same command must have the same `idempotencyKey`. */
    sendCommand(command: string, idempotencyKey: string): Promise<Outcome<CommandReceipt>> {
      return call(COMMAND, { method: "POST", body: { command }, headers: { "Idempotency-Key": idempotencyKey } });
    },
    listCommands(query: PageQuery & { readonly status?: CommandStatus } = {}, signal?: AbortSignal) {
      return call<PageOf<CommandResource>>(COMMAND, { query, ...(signal && { signal }) });
    },
    showCommand(commandId: string, signal?: AbortSignal) {
      return call<CommandResource>(`${COMMAND}/${encodeURIComponent(commandId)}`, { ...(signal && { signal }) });
    },
    cancelCommand(commandId: string) {
      return call<CommandResource>(`${COMMAND}/${encodeURIComponent(commandId)}`, { method: "DELETE" });
    },
  };
}

function claimOf(id: string): string {
  return `${MOD_CALLS}/${encodeURIComponent(id)}/claim`;
}

/** By question. */
export type HistoryAnswers = {
  readonly players: PlayersHistory;
  readonly peaks: PeaksResource;
  readonly sessions: SessionPage;
  readonly playtime: PlaytimePage;
  readonly staff: StaffPage;
};
/** The questions that are answered in pages. */
export type HistoryList = "sessions" | "playtime" | "staff";

/** `from` and `to` are epoch milliseconds. */
export type HistoryQuery = {
  readonly from: number;
  readonly to: number;
  readonly tz?: string;
  readonly player?: string;
  readonly limit?: number;
  readonly cursor?: string;
};

/** The most items that one answer may have. */
export const HISTORY_PAGE_SIZE = 500;

/** `query` is a part of a name, or the beginning of an id. */
export type PlayerQuery = { readonly query?: string; readonly here?: boolean } & PageQuery;

/** The page reads forwards with `after`, backwards with `before`, or backwards from a moment. */
export type EventQuery = {
  readonly after?: string;
  readonly before?: string;
  /** In epoch milliseconds. */
  readonly at?: number;
  readonly types?: string;
  readonly player?: string;
  readonly limit?: number;
};
