// A disk that is full or read-only: reads still work, /readyz reports it, and writes work again when there is room.
import { Database } from "bun:sqlite";
import { afterEach, expect } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { withReadOnlyDatabase } from "../../src/database/sqlite-file/read-only-database.ts";
import { mounting, program, testWith } from "../needs.ts";
import { type Listening, readServer, runToEnd, serve, stop } from "../run-gatehouse.ts";
import { fill, makeSmallDisk } from "../small-disk.ts";
import { cleanUp, makeFolder } from "../temporary.ts";
import { until } from "../until.ts";

const BLOCK_COUNT = 520;
const NOTICED_WITHIN_MS = 30_000;

afterEach(cleanUp);

function readToken(cwd: string): string {
  return readFileSync(join(cwd, "data", "demo.key"), "utf8").trim();
}

async function readiness(gatehouse: Listening): Promise<number> {
  const response = await fetch(`${gatehouse.url}/readyz`);
  const body = (await response.json()) as { retry_after?: number };
  if (response.status === 503) {
    expect(response.headers.get("retry-after")).toBe(String(body.retry_after));
    expect(body).toMatchObject({ code: 5106, message: "unavailable" });
  }
  return response.status;
}

async function expectWhole(path: string): Promise<void> {
  const db = new Database(path, { readonly: true });
  expect(db.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  db.close();
}

/** Returns the file that takes the room, when the full disk is noticed. */
async function fillDisk(cwd: string, gatehouse: Listening): Promise<string> {
  const ballast = join(cwd, "data", "ballast");
  fill(ballast);
  const isNoticed = async () => (await readiness(gatehouse)) === 503;
  await until("/readyz does not notice the full disk", isNoticed, NOTICED_WITHIN_MS);
  return ballast;
}

testWith(mounting)("a full disk: reads go on, /readyz is 503, and all is well again without a restart", async () => {
  const cwd = await makeSmallDisk("2m");
  const gatehouse = await serve({ cwd });
  const token = readToken(cwd);
  expect(await readiness(gatehouse)).toBe(200);

  const ballast = await fillDisk(cwd, gatehouse);
  expect((await readServer(gatehouse.url, token, "?Players=true")).status).toBe(200);
  expect((await fetch(`${gatehouse.url}/healthz`)).status).toBe(200);

  rmSync(ballast);
  await until("/readyz does not notice the room", async () => (await readiness(gatehouse)) === 200, NOTICED_WITHIN_MS);
  expect((await readServer(gatehouse.url, token)).status).toBe(200);
  expect(await stop(gatehouse)).toBe(0);
  await expectWhole(join(cwd, "data", "gatehouse.db"));
});

testWith(mounting)(
  "a spam block holds although the full disk cannot keep it, and is kept once there is room",
  async () => {
    const cwd = await makeSmallDisk("2m");
    const gatehouse = await serve({ cwd });
    const token = readToken(cwd);
    const ballast = await fillDisk(cwd, gatehouse);
    for (let count = 1; count <= BLOCK_COUNT; count++) await (await readServer(gatehouse.url, token)).text();
    const blocked = await readServer(gatehouse.url, token);
    expect(await blocked.json()).toMatchObject({ code: 5100 });

    rmSync(ballast);
    expect(await (await readServer(gatehouse.url, token)).json()).toMatchObject({ code: 5100 });
    const path = join(cwd, "data", "gatehouse.db");
    const countBlocks = () => withReadOnlyDatabase(path, (db) => db.query("SELECT * FROM blocks").all().length);
    await until("the block is not saved", () => countBlocks() === 1);
    gatehouse.kill("SIGKILL");
    await gatehouse.exited;
    const restarted = await serve({ cwd });
    expect(await (await readServer(restarted.url, token)).json()).toMatchObject({ code: 5100 });
  },
);

testWith(mounting)(
  "a first start on a full disk is refused with a clear sentence, and works once there is room",
  async () => {
    const cwd = await makeSmallDisk("64k");
    const ballast = join(cwd, "data", "ballast");
    fill(ballast);
    const { exitCode, stdout, stderr } = await runToEnd(["serve"], { cwd, env: { GATEHOUSE_PORT: "0" } });
    expect(exitCode).toBe(1);
    expect(stdout).not.toContain("listening on");
    expect(stderr).toMatch(/^gatehouse: /);
    expect(stderr).not.toMatch(/\n\s+at /);
    rmSync(ballast);
    await Bun.$`mount -o remount,size=2m ${join(cwd, "data")}`.quiet();
    const gatehouse = await serve({ cwd });
    expect((await readServer(gatehouse.url, readToken(cwd))).status).toBe(200);
  },
);

testWith(mounting)("a read-only data folder: exit code 1, a clear sentence, and nothing is changed", async () => {
  const cwd = await makeSmallDisk("2m");
  await stop(await serve({ cwd }));
  const path = join(cwd, "data", "gatehouse.db");
  const before = readFileSync(path);
  await Bun.$`mount -o remount,ro ${join(cwd, "data")}`.quiet();
  const { exitCode, stdout, stderr } = await runToEnd(["serve"], { cwd, env: { GATEHOUSE_PORT: "0" } });
  expect(exitCode).toBe(1);
  expect(stdout).not.toContain("listening on");
  expect(stderr).toMatch(/^gatehouse: /);
  expect(stderr).toContain(join(cwd, "data"));
  expect(stderr).not.toMatch(/\n\s+at /);
  expect(readFileSync(path).equals(before)).toBe(true);
});

testWith(program("prlimit"))(
  "files that may not grow: reads go on, /readyz is 503, and all is well again without a restart",
  async () => {
    const cwd = makeFolder();
    const gatehouse = await serve({ cwd });
    const token = readToken(cwd);
    expect(await readiness(gatehouse)).toBe(200);
    const limit = (bytes: string) => Bun.$`prlimit --pid ${gatehouse.pid} --fsize=${bytes}:`.quiet();

    await limit("4096");
    await until(
      "/readyz does not notice the limit",
      async () => (await readiness(gatehouse)) === 503,
      NOTICED_WITHIN_MS,
    );
    expect((await readServer(gatehouse.url, token, "?Players=true")).status).toBe(200);

    await limit("unlimited");
    await until(
      "/readyz does not notice the room",
      async () => (await readiness(gatehouse)) === 200,
      NOTICED_WITHIN_MS,
    );
    expect(await stop(gatehouse)).toBe(0);
    await expectWhole(join(cwd, "data", "gatehouse.db"));
  },
);
