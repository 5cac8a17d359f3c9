// What the gateway and its reading thread say to each other.
import type { GameHook } from "../core/events/game-hook.ts";
import type { Failure } from "../core/events/judge-state.ts";
import type { GameReading } from "../core/events/reading.ts";
import type { ArchiveMethod } from "../core/ports/archive-calls.ts";
import type { SentCommand } from "../core/ports/commands.ts";
import type { Delivery, UpstreamReading } from "../core/ports/upstream.ts";
import type { WatchPlan } from "../core/readings/watch-plan.ts";
import type { ArchivePlace, ArchiveVerdict, DatabaseState } from "../database/archive/open-archive.ts";
import type { HookOutcome, KeptReading } from "../gateway/events/recorder.ts";
import type { CountedEvent } from "../gateway/meters.ts";
import type { UpstreamSettings } from "../upstream/client.ts";

export type ThreadSettings = {
  readonly upstream: Omit<UpstreamSettings, "clock">;
  readonly archive: ArchivePlace;
  /** The key of identities is derived from it. */
  readonly secret: string;
};

/** What the gateway waits for. */
export type Calls = {
  readServer: { args: [serverKey: string]; value: UpstreamReading };
  sendCommand: { args: [serverKey: string, text: string]; value: Delivery };
  archive: { args: [method: ArchiveMethod, args: readonly unknown[]]; value: unknown };
  checkArchive: { args: []; value: ArchiveVerdict };
  recordHook: { args: [serverId: string, hook: GameHook, plan: WatchPlan]; value: HookOutcome };
  removeServer: { args: [serverId: string]; value: undefined };
  flush: { args: []; value: undefined };
  /** Whether the thread runs. */
  ping: { args: []; value: undefined };
  stop: { args: [withinMs: number]; value: undefined };
};
export type CallName = keyof Calls;
export type Call = {
  [Name in CallName]: { readonly id: number; readonly call: Name; readonly args: Calls[Name]["args"] };
}[CallName];

/** What the gateway tells. */
export type News =
  | { readonly open: ThreadSettings }
  | { readonly database: DatabaseState }
  | { readonly reading: GameReading | KeptReading; readonly serverId: string; readonly plan: WatchPlan }
  | { readonly failure: Failure; readonly at: number; readonly serverId: string; readonly plan: WatchPlan }
  | { readonly passedAt: number; readonly serverId: string; readonly plan: WatchPlan }
  | { readonly tidy: number }
  /** The answer to a question; undefined when the store did not answer. */
  | { readonly question: number; readonly sent: readonly SentCommand[] | undefined };

/** `now` is the time of the gateway's clock, which may differ from that of the machine. */
export type ToThread = { readonly now: number } & (Call | News);

export type LogLevel = "debug" | "info" | "warn" | "error";

/** A failure that is not an unavailable archive is a bug, and the log has it. */
export type Fault = { readonly message: string; readonly isUnavailable: boolean };

export type RecorderState = { readonly waitingEvents: number; readonly recorderFault: Fault | undefined };

export type FromThread =
  /** It runs, and has the archive's thread with it. */
  | { readonly isReady: true }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: Fault }
  /** Which commands were sent to a server since a time? */
  | { readonly question: number; readonly serverId: string; readonly since: number }
  | { readonly recorded: string }
  | RecorderState
  /** The last call of the archive failed for this reason, or was answered again. */
  | { readonly fault: Fault | undefined }
  | { readonly counted: readonly CountedEvent[] }
  | { readonly log: LogLevel; readonly fields: object; readonly message: string };
