// The client of the public API, for the holder of an API key.

import type { CommandStatus } from "../../core/command.ts";
import type { HistoryQuestion } from "../../core/history/history-questions.ts";
import type { Section } from "../../core/sections.ts";
import type { CommandReceipt, CommandResource } from "../../core/wire/command.ts";
import type { EventPage } from "../../core/wire/event.ts";
import type { GameMapResource } from "../../core/wire/game-map.ts";
import type { OwnKeyResource } from "../../core/wire/own-key.ts";
import type { PageOf, PageQuery } from "../../core/wire/page.ts";
import type { EmergencyCall as RelayedCall, ServerInfo } from "../../core/wire/server-info.ts";
import type { Id } from "./exact-json.ts";
import type { HistoryAnswers, HistoryQuery } from "./history.ts";
import type { EventQuery } from "./ledger.ts";
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
const EVENTS = "/v2/game/server/events";
const HISTORY = "/v2/game/server/history";
export const EVENT_STREAM = `${EVENTS}/stream`;

/** What polling a server needs. */
export type ServerReader = Pick<CallerApi, "readServer" | "readMap" | "readMapImage"> &
  Partial<Pick<CallerApi, "readKey">>;

/** What reading the ledger of a server needs. */
export type LedgerReader = Pick<CallerApi, "readEvents">;

/** What reading the past of a server needs. */
export type HistoryReader = Pick<CallerApi, "readHistory">;

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
    readHistory<Q extends HistoryQuestion>(question: Q, query: HistoryQuery, signal?: AbortSignal) {
      return call<HistoryAnswers[Q]>(`${HISTORY}/${question}`, { query, ...(signal && { signal }) });
    },
    /** Every attempt to send the same command must have the same `idempotencyKey`. */
    sendCommand(command: string, idempotencyKey: string): Promise<Outcome<CommandReceipt>> {
      return call(COMMAND, {
        method: "POST",
        body: { command },
        headers: { "Idempotency-Key": idempotencyKey },
      });
    },
    listCommands(query: PageQuery & { readonly status?: CommandStatus } = {}, signal?: AbortSignal) {
      return call<PageOf<CommandResource>>(COMMAND, { query, ...(signal && { signal }) });
    },
    showCommand(commandId: string, signal?: AbortSignal) {
      return call<CommandResource>(`${COMMAND}/${encodeURIComponent(commandId)}`, {
        ...(signal && { signal }),
      });
    },
    cancelCommand(commandId: string) {
      return call<CommandResource>(`${COMMAND}/${encodeURIComponent(commandId)}`, { method: "DELETE" });
    },
  };
}
