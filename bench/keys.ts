// npm run bench:keys: what a hundred thousand keys cost. Prints, for growing numbers of keys, the time to make one and to
// find one, the time that the real program needs to start with them, and its memory. All in a folder that is deleted afterwards.
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { DEFAULT_RIGHTS } from "../src/core/api-key.ts";
import type { Log, Store } from "../src/core/ports.ts";
import { hashToken, mintToken } from "../src/core/token.ts";
import { createSealer } from "../src/store/sealer.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";

const SIZES = [1_000, 10_000, 100_000] as const;
const SERVERS = 200;
const MADE_AT_ONCE = 256;
const ONE_BY_ONE = 500;
const LOOKUPS = 200_000;
const SECRET = "a secret for a benchmark";
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

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
      `${(last.findMicros / first.findMicros).toFixed(2)}; each key takes ${Math.round(bytes)} bytes.`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure(): Promise<Row[]> {
  const rows: Row[] = [];
  const hashes: string[] = [];
  for (const keys of SIZES) {
    const store = openSqliteStore({
      path: join(folder, "gatehouse.db"),
      sealer: createSealer(SECRET),
      log: SILENT,
      clock: Date.now,
    });
    const serverIds = await listServerIds(store);
    const makeMicros = await makeKeys(store, serverIds, hashes, keys);
    const findMicros = findKeys(store, hashes);
    await store.close();
    rows.push({ keys, makeMicros, findMicros, ...(await startProgram()) });
    if (process.stderr.isTTY) process.stderr.write(`${keys} keys measured\n`);
  }
  return rows;
}

async function listServerIds(store: Store): Promise<string[]> {
  const { items } = await store.listServers({ limit: SERVERS });
  const servers = [...items];
  while (servers.length < SERVERS) {
    const draft = { name: `Town ${servers.length}`, community: null, serverKey: "bench-Town" };
    servers.push(await store.createServer(draft, Date.now()));
  }
  return servers.map(({ serverId }) => serverId);
}

/** Fills up to `total`, many at a time, and makes the last ones one by one; microseconds for each of those. */
async function makeKeys(
  store: Store,
  serverIds: readonly string[],
  hashes: string[],
  total: number,
): Promise<number> {
  async function makeOne(): Promise<void> {
    const tokenHash = hashToken(mintToken(randomBytes));
    const serverId = serverIds[hashes.length % serverIds.length] ?? "";
    hashes.push(tokenHash);
    await store.createKey(
      { ...DEFAULT_RIGHTS, serverId, label: "bench", expiresAt: null, tokenHash },
      Date.now(),
    );
  }
  while (hashes.length < total - ONE_BY_ONE) {
    const count = Math.min(MADE_AT_ONCE, total - ONE_BY_ONE - hashes.length);
    await Promise.all(Array.from({ length: count }, makeOne));
  }
  const startedAt = performance.now();
  while (hashes.length < total) await makeOne();
  return ((performance.now() - startedAt) * 1000) / ONE_BY_ONE;
}

function findKeys(store: Store, hashes: readonly string[]): number {
  const now = Date.now();
  const startedAt = performance.now();
  for (let i = 0; i < LOOKUPS; i++) {
    if (!store.findKey(hashes[(i * 7919) % hashes.length] ?? "", now)) throw new Error("a key is not found");
  }
  return ((performance.now() - startedAt) * 1000) / LOOKUPS;
}

/** The real program on these keys: how long until it listens, and what it holds in memory then. */
async function startProgram(): Promise<{ startMs: number; residentMb: number }> {
  const startedAt = performance.now();
  const program = Bun.spawn([resolve(import.meta.dir, "../gatehouse"), "serve"], {
    env: {
      PATH: process.env.PATH ?? "",
      GATEHOUSE_DATA_DIR: folder,
      GATEHOUSE_PORT: "0",
      GATEHOUSE_SECRET: SECRET,
      GATEHOUSE_UPSTREAM_URL: "http://127.0.0.1:9",
    },
    stdout: "pipe",
    stderr: "ignore",
  });
  try {
    let said = "";
    for await (const chunk of program.stdout) {
      said += new TextDecoder().decode(chunk);
      if (said.includes("listening on")) break;
    }
    const startMs = performance.now() - startedAt;
    const status = readFileSync(`/proc/${program.pid}/status`, "utf8");
    return { startMs, residentMb: (Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024) / 1e6 };
  } finally {
    program.kill("SIGTERM");
    await program.exited;
  }
}
