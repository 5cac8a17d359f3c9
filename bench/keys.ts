// npm run bench:keys: the cost of a hundred thousand keys. For growing numbers of keys it prints the time to create and to
// find one, the time that the real program needs to start, and its memory. Uses a folder that is deleted afterwards.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashToken, mintToken } from "../src/core/keys/token.ts";
import type { Store } from "../src/core/ports/store.ts";
import { GATEHOUSE, settingsOf } from "./contenders/gatehouse.ts";
import { fillKeys, fillServers, openSqlite } from "./fill-store.ts";
import { readResidentMb } from "./process-usage.ts";
import { startProgram } from "./processes.ts";

const SIZES = [1_000, 10_000, 100_000] as const;
const SERVERS = 200;
const CREATED_SINGLY = 500;
const LOOKUPS = 200_000;

type Row = { keys: number; makeMicros: number; findMicros: number; startMs: number; residentMb: number };

const folder = mkdtempSync(join(tmpdir(), "gatehouse-bench-"));
try {
  const rows = await measure();
  console.table(
    rows.map((row) => ({
      keys: row.keys,
      "make one (µs)": row.makeMicros.toFixed(1),
      "find one (µs)": row.findMicros.toFixed(2),
      "start (ms)": Math.round(row.startMs),
      "resident (MB)": row.residentMb.toFixed(1),
    })),
  );
  const [first, last] = [rows[0], rows.at(-1)];
  if (first && last) {
    const bytes = ((last.residentMb - first.residentMb) * 1e6) / (last.keys - first.keys);
    console.log(`With ${last.keys} keys instead of ${first.keys}, making one takes`);
    console.log(`${(last.makeMicros / first.makeMicros).toFixed(2)} of the time and finding one`);
    console.log(
      `${(last.findMicros / first.findMicros).toFixed(2)}; each key takes ${Math.round(bytes)} bytes after the start.`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure(): Promise<Row[]> {
  const rows: Row[] = [];
  const tokens: string[] = [];
  for (const keys of SIZES) {
    const store = await openSqlite(folder);
    const serverIds = await fillServers(store, SERVERS);
    const makeMicros = await makeKeys(store, serverIds, tokens, keys);
    const findMicros = findKeys(store, tokens);
    await store.close();
    rows.push({ keys, makeMicros, findMicros, ...(await measureProgram()) });
    if (process.stderr.isTTY) process.stderr.write(`${keys} keys measured\n`);
  }
  return rows;
}

/** Fills the store to `total` keys, some of them one by one. Returns the microseconds for each of those. */
async function makeKeys(store: Store, serverIds: readonly string[], tokens: string[], total: number): Promise<number> {
  const fresh = Array.from({ length: total - tokens.length }, () => mintToken(randomBytes));
  for (const token of fresh) tokens.push(token);
  await fillKeys(store, serverIds, fresh.slice(CREATED_SINGLY));
  const startedAt = performance.now();
  for (const token of fresh.slice(0, CREATED_SINGLY)) await fillKeys(store, serverIds, [token]);
  return ((performance.now() - startedAt) * 1000) / CREATED_SINGLY;
}

function findKeys(store: Store, tokens: readonly string[]): number {
  const hashes = tokens.map(hashToken);
  const now = Date.now();
  // The cost of the first request with a key; later requests find it in a cache.
  const startedAt = performance.now();
  for (let i = 0; i < LOOKUPS; i++) {
    if (!store.keys.find(hashes[(i * 7919) % hashes.length] ?? "", now)) throw new Error("a key is not found");
  }
  return ((performance.now() - startedAt) * 1000) / LOOKUPS;
}

/** The time until the real program listens with these keys, and its memory at that moment. */
async function measureProgram(): Promise<{ startMs: number; residentMb: number }> {
  const program = await startProgram({
    command: GATEHOUSE,
    core: undefined,
    env: settingsOf(folder, "http://127.0.0.1:9"),
  });
  try {
    return { startMs: program.startMs, residentMb: readResidentMb(program.pid) };
  } finally {
    await program.stop();
  }
}
