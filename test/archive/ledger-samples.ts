// Small events and records for tests of archives.

import { filterAll } from "../../src/core/events/event-types.ts";
import type { NewEvent } from "../../src/core/events/new-event.ts";
import { NO_HISTORY } from "../../src/core/history/history.ts";
import type { Archive, LedgerEvent, LedgerRecord } from "../../src/core/ports/archive.ts";

export const NOW = 1_800_000_000_000;

export function kill(n: number, changes: Partial<NewEvent> = {}): NewEvent {
  return {
    type: "player.killed",
    at: NOW + n,
    seenAt: NOW + n,
    source: "log",
    isBackfill: false,
    data: `{"Killed":"B:${n}","Timestamp":12345678901234567890}`,
    meta: null,
    section: null,
    identity: `kill-${n}`,
    players: [String(n)],
    ...changes,
  };
}

export const kills = (count: number, from = 1) => Array.from({ length: count }, (_, n) => kill(from + n));

export function record(changes: Partial<LedgerRecord> = {}): LedgerRecord {
  return {
    serverId: "srv_a",
    version: 0,
    events: [],
    memory: [],
    history: NO_HISTORY,
    stillShown: [],
    now: NOW,
    ...changes,
  };
}

/** Records as one writer does who knows the version. */
export async function addEvents(archive: Archive, events: readonly NewEvent[], serverId = "srv_a") {
  const { version } = await archive.load(serverId);
  const [outcome] = await archive.record([record({ serverId, version, events })]);
  if (!outcome || "conflict" in outcome) throw new Error("a conflict");
  return outcome;
}

export async function readAll(archive: Archive, serverId = "srv_a"): Promise<readonly LedgerEvent[]> {
  const page = await archive.readPage({
    serverId,
    start: { after: "earliest" },
    filter: filterAll(),
    limit: 500,
  });
  if ("expired" in page) throw new Error("the cursor has expired");
  return page.events;
}
