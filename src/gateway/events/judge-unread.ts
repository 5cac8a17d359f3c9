// Emergency calls and alerts may end by time alone. The servers that nobody watches are judged for that now and then: at the
// start, and because the instance that had their timers may be gone.
import type { GameServer } from "../../core/game-server.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import type { Recorder } from "./recorder.ts";

/** So many servers at once, because each may have to be loaded from the archive. */
const BATCH = 50;

export type UnreadParts = {
  readonly servers: Pick<ServerStore, "all">;
  /** Whether the server is read by itself now. */
  readonly isWatched: (server: GameServer) => boolean;
  readonly recorder: Pick<Recorder, "takeTime" | "flush">;
  readonly clock: Clock;
};

export async function judgeUnread({ servers, isWatched, recorder, clock }: UnreadParts): Promise<void> {
  const unread = Array.from(servers.all()).filter((server) => !isWatched(server));
  for (let first = 0; first < unread.length; first += BATCH) {
    for (const { serverId } of unread.slice(first, first + BATCH)) recorder.takeTime(serverId, clock());
    await recorder.flush();
  }
}
