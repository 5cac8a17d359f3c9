// npm run bench:players: how long a search among 200,000 known players takes, on the embedded archive, and on a PostgreSQL when
// GATEHOUSE_BENCH_POSTGRES names one. Prints the median and the slowest of each question, and the goal.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { NO_HISTORY } from "../src/core/history/history.ts";
import type { Archive } from "../src/core/ports/archive.ts";
import { openEmbeddedArchive } from "../src/database/archive/embedded-archive.ts";
import { openPostgresArchive } from "../src/database/archive/open-archive.ts";
import { startArchiveThread } from "../src/threads.ts";
import { makeTestFolder } from "../test/start-gatehouse.ts";

const PLAYERS = 200_000;
const STEP = 2_000;
const ROUNDS = 20;
const GOAL_MS = 100;
const NOW = 1_800_000_000_000;
const QUESTIONS = {
  everybody: "",
  "a frequent part": "ow",
  "a rare part": "ow_199321",
  nobody: "zzzz",
  "an id": "777",
};

const postgresUrl = process.env.GATEHOUSE_BENCH_POSTGRES;
const folder = makeTestFolder();
try {
  await run("embedded", openEmbeddedArchive(join(folder, "archive.db"), startArchiveThread));
  if (postgresUrl !== undefined) await run("PostgreSQL", openPostgresArchive(postgresUrl));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function run(name: string, archive: Archive): Promise<void> {
  await fill(archive);
  for (const [question, query] of Object.entries(QUESTIONS)) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const begun = performance.now();
      await archive.searchPlayers({
        serverId: "srv_bench",
        query,
        isHere: undefined,
        after: undefined,
        limit: 50,
        now: NOW,
      });
      times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    const [median = 0, slowest = 0] = [times[ROUNDS / 2], times.at(-1)];
    const verdict = median <= GOAL_MS ? "ok" : "TOO SLOW";
    console.log(`${name}, ${question}: ${median.toFixed(1)} ms, slowest ${slowest.toFixed(1)} ms (${verdict})`);
  }
  await archive.close();
}

async function fill(archive: Archive): Promise<void> {
  let { version } = await archive.load("srv_bench");
  for (let first = 0; first < PLAYERS; first += STEP) {
    const seen = Array.from({ length: STEP }, (_, n) => {
      const id = first + n;
      return { player: String(1_000_000_000 + id * 7), name: `WindyWillow_${id}`, at: NOW - id * 1_000 };
    });
    const [outcome] = await archive.record([
      {
        serverId: "srv_bench",
        version,
        events: [],
        memory: [],
        history: { ...NO_HISTORY, seen },
        stillShown: [],
        now: NOW,
      },
    ]);
    if (!outcome || "conflict" in outcome) throw new Error("a conflict");
    version = outcome.version;
  }
}
