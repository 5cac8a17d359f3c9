// What the gateway uses of the recorder, wherever it runs: beside the gateway, or in the reading thread.
import type { GameHook } from "../../core/events/game-hook.ts";
import type { Failure } from "../../core/events/judge-state.ts";
import type { GameReading } from "../../core/events/reading.ts";
import type { KeptContent } from "../../core/ports/upstream.ts";

/** A reading whose content stayed in the thread that made it. */
export type KeptReading = KeptContent & Pick<GameReading, "at" | "gameServer">;

/** `isRepeated`: it was recorded before, so nothing was recorded now. */
export type HookOutcome = { readonly isRepeated: boolean };

export interface Recorder {
  /** Called with the server of every record that is on disk. */
  onRecorded: ((serverId: string) => void) | undefined;
  /** Events that are not recorded yet. */
  readonly waitingEvents: number;
  /** Why nothing could be recorded at the last try; undefined when it could. */
  readonly fault: unknown;
  takeReading(serverId: string, reading: GameReading | KeptReading): void;
  /** `failure` is what the game API said, or why it could not be asked. */
  takeFailure(serverId: string, failure: Failure, at: number): void;
  /** Records what ends by time alone, such as an alert, for a server that may not be read any more. */
  takeTime(serverId: string, at: number): void;
  /**
   * Resolves when the webhook's events are on disk, in order with the readings. Throws StoreUnavailable when the archive is away;
   * they may be recorded all the same then.
   */
  recordHook(serverId: string, hook: GameHook): Promise<HookOutcome>;
  /** Forgets a deleted server and deletes its ledger. */
  removeServer(serverId: string): Promise<void>;
  /** Drops servers that nobody reads from memory. */
  tidy(now: number): void;
  /** Resolves when everything that was taken so far is recorded, or the archive is away. */
  flush(): Promise<void>;
  /** Records what waits, if the archive answers within this time, and takes nothing more. */
  stop(withinMs: number): Promise<void>;
}
