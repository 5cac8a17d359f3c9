// The client of the public API, for the holder of an API key.
import type { CommandStatus } from "../../core/command.ts";
import type { Section } from "../../core/sections.ts";
import type { ServerInfo as RelayedInfo } from "../../core/server-info.ts";
import type { Id } from "./exact-json.ts";
import type { ApiCall, Outcome } from "./request.ts";

export type Location = NonNullable<Player["Location"]>;
export type Player = NonNullable<RelayedInfo["Players"]>[number];
export type Staff = NonNullable<RelayedInfo["Staff"]>;
export type JoinLog = NonNullable<RelayedInfo["JoinLogs"]>[number];
export type KillLog = NonNullable<RelayedInfo["KillLogs"]>[number];
export type CommandLog = NonNullable<RelayedInfo["CommandLogs"]>[number];
export type ModCall = NonNullable<RelayedInfo["ModCalls"]>[number];
export type Vehicle = NonNullable<RelayedInfo["Vehicles"]>[number];
export type EmergencyCall = Omit<NonNullable<RelayedInfo["EmergencyCalls"]>[number], "Caller" | "Players"> & {
  readonly Caller?: Id;
  readonly Players?: readonly Id[];
};

/** The state of a server; ids as `parseExactJson` leaves them. */
export type ServerState = Omit<RelayedInfo, "OwnerId" | "CoOwnerIds" | "Queue" | "EmergencyCalls"> & {
  readonly OwnerId: Id;
  readonly CoOwnerIds: readonly Id[];
  readonly Queue?: readonly Id[];
  readonly EmergencyCalls?: readonly EmergencyCall[];
};

/** What the key may do that the page is signed in with. */
export type OwnKey = {
  readonly key_id: string;
  readonly community: string | null;
  readonly versions: readonly string[];
  readonly sections: readonly Section[];
  readonly commands: readonly string[];
  readonly expires_at: number | null;
};

export type CommandReport = {
  readonly command_id: string;
  readonly command: string;
  readonly status: CommandStatus;
  readonly position: number | null;
  readonly queued_at: number;
  readonly sent_at: number | null;
  readonly finished_at: number | null;
  readonly confirmed_at: number | null;
  readonly upstream_code: number | null;
  readonly upstream_message: string | null;
};

export type CommandReceipt = Pick<CommandReport, "command_id" | "status" | "queued_at"> & {
  readonly position: number;
};

export type Page<T> = { readonly items: readonly T[]; readonly next: string | null };

export type PageQuery = { readonly limit?: number; readonly cursor?: string };

const KEY = "/v2/game/key";
const SERVER = "/v2/game/server";
const COMMAND = "/v2/game/server/command";

export type CallerApi = ReturnType<typeof createCallerApi>;

export function createCallerApi(call: ApiCall) {
  return {
    readKey(signal?: AbortSignal) {
      return call<OwnKey>(KEY, { ...(signal && { signal }) });
    },
    readServer(sections: readonly Section[], etag?: string, signal?: AbortSignal) {
      return call<ServerState>(SERVER, {
        query: Object.fromEntries(sections.map((name) => [name, true])),
        ...(etag !== undefined && { headers: { "If-None-Match": etag } }),
        ...(signal && { signal }),
      });
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
      return call<Page<CommandReport>>(COMMAND, { query, ...(signal && { signal }) });
    },
    showCommand(commandId: string, signal?: AbortSignal) {
      return call<CommandReport>(`${COMMAND}/${encodeURIComponent(commandId)}`, {
        ...(signal && { signal }),
      });
    },
    cancelCommand(commandId: string) {
      return call<CommandReport>(`${COMMAND}/${encodeURIComponent(commandId)}`, { method: "DELETE" });
    },
  };
}
