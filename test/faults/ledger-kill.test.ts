// kill -9 again and again while readings are recorded: every entry of the game's logs is in the ledger once, or in a gap.
import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SqliteLedger } from "../../src/archive/sqlite/sqlite-ledger.ts";
import { filterAll, typeOfKind } from "../../src/core/events/event-types.ts";
import { LOG_LISTS } from "../../src/core/events/memory.ts";
import type { LedgerEvent, PageStart } from "../../src/core/ports/archive.ts";
import type { Gap } from "../../src/core/wire/event-data.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { repeat } from "../long.ts";
import { cleanUp, makeFolder, serve, undoLater } from "../process/run-gatehouse.ts";
import { findHidden } from "./ledger-witness.ts";

const KILLS = repeat({ usual: 5, long: 100 });
const READS_PER_LIFE = 12;
const LOG_WINDOW = 20;

afterEach(cleanUp);

const LIST_OF: Readonly<Record<string, string>> = {
  "player.joined": "JoinLogs",
  "player.left": "JoinLogs",
  "player.killed": "KillLogs",
  "command.used": "CommandLogs",
  "modcall.opened": "ModCalls",
};

/** ModCalls are compared without the answer, which comes later. */
function keyOf(list: string, { Moderator: _, ...element }: Record<string, unknown>): string {
  return `${list} ${JSON.stringify(element)}`;
}

function readLedger(path: string, serverId: string): LedgerEvent[] {
  const db = new Database(path, { strict: true });
  try {
    const ledger = new SqliteLedger(db);
    const events: LedgerEvent[] = [];
    let start: PageStart = { after: "earliest" };
    for (;;) {
      const page = ledger.readPage({ serverId, start, filter: filterAll(), limit: 500 });
      if ("expired" in page) throw new Error("a cursor expired");
      events.push(...page.events);
      if (!page.hasMore) return events;
      start = { after: page.next };
    }
  } finally {
    db.close();
  }
}

test("a process that is killed while it records loses no entry without a gap and records none twice", async () => {
  // Fast enough that entries come with every reading, and sometimes more than the window shows.
  const simulator = await startSimulator({ players: 30, speed: 600, readLimit: 0, logWindow: LOG_WINDOW });
  undoLater(() => simulator.stop());
  const folder = makeFolder();
  const env = {
    GATEHOUSE_DATA_DIR: folder,
    GATEHOUSE_UPSTREAM_URL: simulator.url,
    GATEHOUSE_FRESH_MS: "1",
    GATEHOUSE_WATCH: "off",
  };
  let serverId = "";
  for (let life = 0; life <= KILLS; life++) {
    const gatehouse = await serve({ cwd: folder, env });
    const headers = {
      Authorization: `Bearer ${readFileSync(join(folder, "master.key"), "utf8").trim()}`,
      "Content-Type": "application/json",
    };
    if (serverId === "") {
      const body = JSON.stringify({ name: "Town", server_key: "torture-Town" });
      const made = await fetch(`${gatehouse.url}/admin/servers`, { method: "POST", headers, body });
      serverId = ((await made.json()) as { server_id: string }).server_id;
    }
    for (let read = 0; read < READS_PER_LIFE; read++) {
      const response = await fetch(`${gatehouse.url}/admin/servers/${serverId}/info`, { headers });
      expect(response.status).toBe(200);
      await response.bytes();
    }
    // The last life ends in order, so that everything that waits is recorded.
    gatehouse.kill(life < KILLS ? "SIGKILL" : "SIGTERM");
    await gatehouse.exited;
  }

  const events = readLedger(join(folder, "archive.db"), serverId);
  expect(events.map(({ number }) => number)).toEqual(events.map((_, place) => place + 1));
  const told = new Map<string, number>();
  const gaps: Gap[] = [];
  for (const { kind, data } of events) {
    const type = typeOfKind(kind);
    if (type === "gap") gaps.push(JSON.parse(data));
    const list = LIST_OF[type];
    if (list) told.set(keyOf(list, JSON.parse(data)), (told.get(keyOf(list, JSON.parse(data))) ?? 0) + 1);
  }
  const { entries } = simulator.findEntries("Town") ?? { entries: [] };
  expect(entries.length).toBeGreaterThan(READS_PER_LIFE * KILLS);
  const happened = new Map<string, number>();
  for (const { list, element } of entries) {
    const key = keyOf(list, element);
    happened.set(key, (happened.get(key) ?? 0) + 1);
  }
  for (const [key, count] of told) expect([key, count <= (happened.get(key) ?? 0)]).toEqual([key, true]);
  const lastAt = Math.max(...events.map(({ seenAt }) => seenAt));
  const hidden = LOG_LISTS.map((list) => {
    return findHidden(
      entries.filter((entry) => entry.list === list).map(({ element }) => keyOf(list, element)),
    );
  }).reduce((all, some) => all.union(some));
  expect(hidden.size).toBeLessThan(happened.size / 2);
  for (const { list, element } of entries) {
    const key = keyOf(list, element);
    const at = Number(element.Timestamp) * 1000;
    if (told.has(key) || hidden.has(key) || at >= lastAt - 1_000) continue;
    const isCovered = gaps.some(({ section, from, to }) => {
      return section === list && (from === null || from <= at) && (to === null || at <= to);
    });
    if (!isCovered) throw new Error(`lost without a gap: ${key}`);
  }
}, 600_000);
