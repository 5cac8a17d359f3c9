// Which state of a server people are shown, on its public page and in Discord, from what its readings brought.
import { silenceMs } from "../../core/events/judge-state.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { PublicState } from "../../core/wire/status.ts";
import type { Relay } from "./relay.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Watcher } from "./watcher.ts";

/** A server whose readings fail and that was not asked for this long is unknown. */
const FAILURE_KEPT_MS = 10 * 60_000;

export type StateFacts = Pick<ReturnType<Relay["summarize"]>, "state" | "lastReadAt" | "lastError"> & {
  /** When the last reading was made that showed the server online; null for none. */
  readonly onlineAt: number | null;
  /** How often the server is read. */
  readonly intervalMs: number;
};

export type ShownServer = Pick<ReturnType<Relay["summarize"]>, "lastReadAt" | "counts"> & {
  readonly state: PublicState;
  /** What the last reading of the online server brought. */
  readonly snapshot: Snapshot | undefined;
};

export type ShownParts = {
  readonly relay: Pick<Relay, "findSnapshot" | "summarize">;
  readonly watcher: Pick<Watcher, "planOf">;
};

/** What this instance knows; the game API is not called. */
export function describeShown({ relay, watcher }: ShownParts, server: GameServer, now: number): ShownServer {
  const summary = relay.summarize(server);
  const snapshot = relay.findSnapshot(server);
  const { intervalMs } = watcher.planOf(server.serverId);
  const state = judgeShownState({ ...summary, intervalMs, onlineAt: snapshot?.fetchedAt ?? null }, now);
  return { state, lastReadAt: summary.lastReadAt, counts: summary.counts, snapshot };
}

/** A good reading counts as long as the ledger lets it: one failed reading, or a short pause, changes nothing. */
export function judgeShownState(facts: StateFacts, now: number): PublicState {
  const { state, lastReadAt, lastError, onlineAt, intervalMs } = facts;
  if (state === "parked" || state === "not_asked") return "unknown";
  if (lastReadAt !== null && now - lastReadAt < silenceMs(intervalMs)) {
    return onlineAt === lastReadAt ? "online" : "offline";
  }
  // A refused key is not tried again, so its failure does not get old.
  if (state === "key_refused") return "unreachable";
  const isFailing = state === "unreachable" && lastError !== null && now - lastError.at < FAILURE_KEPT_MS;
  return isFailing ? "unreachable" : "unknown";
}
