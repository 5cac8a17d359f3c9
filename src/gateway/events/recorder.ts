// What the gateway uses of the recorder, wherever it runs (beside the gateway, or in the reading thread), and what feeds it.
import type { GameHook } from "../../core/events/game-hook.ts";
import type { Failure } from "../../core/events/judge-state.ts";
import { type GameReading, readOffline } from "../../core/events/reading.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import type { KeptContent } from "../../core/ports/upstream.ts";
import { OFFLINE } from "../../core/readings/upstream-codes.ts";
import type { Relay } from "../readings/relay.ts";

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

/** Hands the readings of the relay to the recorder, whoever they were made for. */
export function recordReadings(
  { listeners }: Pick<Relay, "listeners">,
  recorder: Pick<Recorder, "takeReading" | "takeFailure">,
): void {
  listeners.add("recording events", async ({ serverId, content, gameServer, fetchedAt }) => {
    const about = { at: fetchedAt, gameServer, offline: null };
    recorder.takeReading(serverId, { ...content, ...about });
  });
  listeners.addForFailures(({ serverId, failure, gameServer, at }) => {
    if (failure.code === OFFLINE) recorder.takeReading(serverId, readOffline(at, gameServer, failure));
    else recorder.takeFailure(serverId, failure, at);
  });
}

/** So many servers at once, because each may have to be loaded from the archive. */
const BATCH = 50;

export type UnreadDeps = {
  readonly servers: Pick<ServerStore, "all">;
  /** Whether the server is read by itself now. */
  readonly isWatched: (server: GameServer) => boolean;
  readonly recorder: Pick<Recorder, "takeTime" | "flush">;
  readonly clock: Clock;
};

/**
 * Emergency calls and alerts may end by time alone. Servers that nobody watches are checked for that now and then, because
 * the instance that had their timers may be gone.
 */
export async function judgeUnread({ servers, isWatched, recorder, clock }: UnreadDeps): Promise<void> {
  const unread = Array.from(servers.all()).filter((server) => !isWatched(server));
  for (let first = 0; first < unread.length; first += BATCH) {
    for (const { serverId } of unread.slice(first, first + BATCH)) recorder.takeTime(serverId, clock());
    await recorder.flush();
  }
}
