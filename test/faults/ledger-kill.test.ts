// kill -9 again and again while readings are recorded: every entry of the game's logs is in the ledger once, or in a gap.
import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SqliteLedger } from "../../src/archive/sqlite/sqlite-ledger.ts";
import { filterAll, typeOfKind } from "../../src/core/events/event-types.ts";
import type { LedgerEvent, PageStart } from "../../src/core/ports/archive.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { repeat } from "../long.ts";
import { cleanUp, makeFolder, serve, undoLater } from "../process/run-gatehouse.ts";
import { findLedgerFaults } from "./ledger-judge.ts";

const KILLS = repeat({ usual: 5, long: 100 });
const READS_PER_LIFE = 12;
const LOG_WINDOW = 20;

afterEach(cleanUp);

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
  const { entries } = simulator.findEntries("Town") ?? { entries: [] };
  expect(entries.length).toBeGreaterThan(READS_PER_LIFE * KILLS);
  const told = events.map(({ kind, data }) => ({ type: typeOfKind(kind), data: JSON.parse(data) }));
  // A town is advanced only when it is read, so the last reading has shown everything that happened.
  const { faults, judged } = findLedgerFaults(told, entries);
  expect(faults).toEqual([]);
  expect(judged).toBeGreaterThan(entries.length / 2);
}, 600_000);
