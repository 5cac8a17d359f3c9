// Samples for the tests of what an archive keeps of the history.
import { DAY_MS, MINUTE_MS } from "../../src/core/durations.ts";
import type { Counts } from "../../src/core/history/counts.ts";
import { type HistoryChange, NO_HISTORY, type StaffAct } from "../../src/core/history/history.ts";
import type { Archive, LedgerRecord } from "../../src/core/ports/archive.ts";
import { NOW, record } from "./ledger-samples.ts";

/** The beginning of a day, UTC. */
export const MIDNIGHT = Math.floor(NOW / DAY_MS) * DAY_MS;

export type EndedSession = HistoryChange["sessions"][number];

/** A minute that is known in full. */
export function minute(at: number, players: number, changes: Partial<Counts> = {}): Counts {
  return {
    at,
    knownMs: MINUTE_MS,
    playerMs: players * MINUTE_MS,
    min: players,
    max: players,
    queueMax: null,
    staffMax: null,
    teamKnownMs: changes.knownMs ?? MINUTE_MS,
    teamMs: {},
    ...changes,
  };
}

/** Named "Player" and the id. */
export function session(
  player: string,
  joinedAt: number,
  leftAt: number,
  changes: Partial<EndedSession> = {},
): EndedSession {
  return {
    player,
    name: `Player${player}`,
    joinedAt,
    leftAt,
    ended: "log",
    wasStaff: false,
    stays: [],
    ...changes,
  };
}

export function act(
  player: string,
  at: number,
  waited: StaffAct["waited"] = null,
  kind: StaffAct["kind"] = null,
): StaffAct {
  return { player, name: `Player${player}`, at, waited, kind };
}

/** Records as one writer does who knows the version. */
export async function addHistory(
  archive: Archive,
  history: Partial<HistoryChange>,
  serverId = "srv_a",
  changes: Partial<LedgerRecord> = {},
): Promise<void> {
  const { version } = await archive.load(serverId);
  const added = record({ serverId, version, history: { ...NO_HISTORY, ...history }, ...changes });
  const [outcome] = await archive.record([added]);
  if (!outcome || "conflict" in outcome) throw new Error("a conflict");
}
