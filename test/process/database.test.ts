// The database file: it survives kill -9 at any moment, and a foreign or damaged file is refused and not changed.
import { Database } from "bun:sqlite";
import { afterEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mintToken } from "../../src/core/keys/token.ts";
import { withReadOnlyDatabase } from "../../src/database/sqlite-file/read-only-database.ts";
import { repeat } from "../long.ts";
import { readServer, run, runToEnd, serve, stop } from "../run-gatehouse.ts";
import { startGatehouse } from "../start-gatehouse.ts";
import { cleanUp, makeFolder } from "../temporary.ts";

const BLOCK_COUNT = 520;
const KILLS = 20;
const PAGE_BYTES = 4_096;
/** Our application id in SQLite's header: "GTHS". */
const APPLICATION_ID = 0x47544853;

afterEach(cleanUp);

function readToken(cwd: string): string {
  return readFileSync(join(cwd, "data", "demo.key"), "utf8").trim();
}

describe("kill -9", () => {
  test("a spam block survives it", async () => {
    const cwd = makeFolder();
    const first = await serve({ cwd });
    const token = readToken(cwd);
    let last = await readServer(first.url, token);
    for (let count = 2; count <= BLOCK_COUNT; count++) {
      await last.text();
      last = await readServer(first.url, token);
    }
    const block = (await last.json()) as { blocked_until: number };
    expect(block).toMatchObject({ code: 5100, message: "spam_blocked" });
    expect(await stop(first, "SIGKILL")).toBe(137);

    const second = await serve({ cwd });
    const after = await readServer(second.url, token);
    expect(after.status).toBe(429);
    expect(await after.json()).toMatchObject({ code: 5100, blocked_until: block.blocked_until });
  });

  test("the last use of a key survives it, even if it was never read", async () => {
    const cwd = makeFolder();
    const gatehouse = await serve({ cwd });
    const askedAt = Date.now();
    expect((await readServer(gatehouse.url, readToken(cwd))).status).toBe(200);
    const findLastUse = () =>
      withReadOnlyDatabase(join(cwd, "data", "gatehouse.db"), (db) =>
        db.query<{ last_used_at: number }, []>("SELECT last_used_at FROM last_uses").get(),
      )?.last_used_at;
    while (findLastUse() === undefined) await Bun.sleep(50);
    expect(await stop(gatehouse, "SIGKILL")).toBe(137);
    expect(findLastUse()).toBeGreaterThanOrEqual(askedAt);
  });

  test("at any moment of the start leaves a database that opens", async () => {
    const cwd = makeFolder();
    for (let i = 0; i < KILLS; i++) {
      const child = run(["serve"], { cwd, env: { GATEHOUSE_PORT: "0" } });
      // The critical moments are between the first file and the listening line; some kills come later.
      const files = join(cwd, "data");
      while (!existsSync(files)) await Bun.sleep(1);
      await Bun.sleep(i * 5);
      expect(await stop(child, "SIGKILL")).toBe(137);
    }
    const survivor = await serve({ cwd });
    expect((await fetch(`${survivor.url}/readyz`)).status).toBe(200);
  });

  test("in the middle of the very first write leaves a folder that starts, and starts again", async () => {
    const cwd = makeFolder();
    const path = join(cwd, "data", "gatehouse.db");
    mkdirSync(join(cwd, "data"));
    const db = new Database(path, { create: true });
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.close();
    // The state between the first page and the end of its transaction: the page, and a journal that says that
    // there was none before.
    const journal = Buffer.alloc(512);
    journal.write("d9d505f920a163d7", "hex");
    journal.writeUInt32BE(journal.length, 20);
    journal.writeUInt32BE(PAGE_BYTES, 24);
    writeFileSync(`${path}-journal`, journal);

    await stop(await serve({ cwd }));
    const again = await serve({ cwd });
    expect((await readServer(again.url, readToken(cwd))).status).toBe(200);
  });

  test.each([false, true])(
    "between writing the demo key's file and its key is repaired by the next start (server exists: %p)",
    async (isServerThere) => {
      const cwd = makeFolder();
      const folder = join(cwd, "data");
      mkdirSync(folder);
      const half = await startGatehouse({ folder, env: { GATEHOUSE_UPSTREAM_URL: "http://127.0.0.1:9" } });
      if (isServerThere) await half.addServer({ name: "Demo", serverKey: "demo-Town", isSimulated: true });
      await half.stop();
      writeFileSync(join(folder, "demo.key"), `${mintToken(randomBytes)}\n`, { mode: 0o600 });

      const next = await serve({ cwd });
      const token = /gth_[0-9A-Za-z]{36}/.exec(next.stdout)?.[0] ?? "no key was printed";
      expect(token).toBe(readToken(cwd));
      expect((await readServer(next.url, token)).status).toBe(200);
    },
  );
});

describe("a file that is not ours is refused and not changed", () => {
  function makeForeign(path: string, kind: string): void {
    if (kind === "a text") writeFileSync(path, "Dear diary,\n");
    if (kind === "a single byte") writeFileSync(path, "x");
    if (kind === "random bytes") writeFileSync(path, randomBytes(20_000));
    if (kind === "another program's SQLite database" || kind === "another program's SQLite database in WAL mode") {
      const db = new Database(path, { create: true });
      if (kind.endsWith("mode")) db.exec("PRAGMA journal_mode = WAL");
      db.exec("CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('precious')");
      db.close();
    }
    if (kind === "a database of a newer Gatehouse") {
      const db = new Database(path, { create: true });
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 9999; CREATE TABLE future (x)`);
      db.close();
    }
  }

  test.each([
    "a text",
    "a single byte",
    "random bytes",
    "another program's SQLite database",
    "another program's SQLite database in WAL mode",
    "a database of a newer Gatehouse",
  ])("%s", async (kind) => {
    const cwd = makeFolder();
    const path = join(cwd, "data", "gatehouse.db");
    mkdirSync(join(cwd, "data"));
    makeForeign(path, kind);
    const before = readFileSync(path);
    const { exitCode, stdout, stderr } = await runToEnd(["serve"], { cwd, env: { GATEHOUSE_PORT: "0" } });
    expect(exitCode).toBe(1);
    expect(stdout).not.toContain("listening on");
    expect(stderr).toContain(path);
    expect(stderr).toMatch(/not a Gatehouse database|newer Gatehouse/);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(join(cwd, "data"))).not.toContain("gatehouse.db-wal");
  });
});

describe("a damaged database is refused and not changed", () => {
  /** The folder of a stopped Gatehouse, with its complete database in one file. */
  async function makeDatabase(): Promise<{ cwd: string; path: string }> {
    const cwd = makeFolder();
    await stop(await serve({ cwd }));
    const path = join(cwd, "data", "gatehouse.db");
    // Tables that a migration has dropped leave free pages, where nothing can be damaged.
    const db = new Database(path);
    db.exec("VACUUM");
    db.close();
    return { cwd, path };
  }

  async function expectRefused(cwd: string, path: string): Promise<void> {
    const files = () =>
      new Map(readdirSync(join(cwd, "data")).map((name) => [name, readFileSync(join(cwd, "data", name))]));
    const before = files();
    const { exitCode, stderr } = await runToEnd(["serve"], { cwd, env: { GATEHOUSE_PORT: "0" } });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 1 });
    expect(stderr).toContain(path);
    expect(stderr).toContain("damaged");
    expect(stderr).not.toMatch(/\n\s+at /);
    const after = files();
    for (const name of ["gatehouse.db", "gatehouse.db-wal"]) {
      const [old, now] = [before.get(name), after.get(name)];
      expect({ name, isSame: old === undefined || (now !== undefined && old.equals(now)) }).toEqual({
        name,
        isSame: true,
      });
    }
  }

  function overwrite(path: string, offset: number, bytes: Buffer): void {
    const whole = readFileSync(path);
    bytes.copy(whole, offset);
    writeFileSync(path, whole);
  }

  test("bytes overwritten in the middle of its pages", async () => {
    const { cwd, path } = await makeDatabase();
    const pages = readFileSync(path).length / PAGE_BYTES;
    for (let page = 1; page < pages; page++) overwrite(path, page * PAGE_BYTES, Buffer.alloc(64, 0xa5));
    await expectRefused(cwd, path);
  });

  test("any one of its pages overwritten", async () => {
    const { cwd, path } = await makeDatabase();
    copyFileSync(path, `${path}.whole`);
    const pages = readFileSync(path).length / PAGE_BYTES;
    // Every page in a long run, else every third.
    for (let page = 1; page < pages; page += repeat({ usual: 3, long: 1 })) {
      copyFileSync(`${path}.whole`, path);
      overwrite(path, page * PAGE_BYTES, Buffer.alloc(PAGE_BYTES, 0xa5));
      await expectRefused(cwd, path);
    }
  });

  test("cut in half", async () => {
    const { cwd, path } = await makeDatabase();
    truncateSync(path, readFileSync(path).length / 2);
    await expectRefused(cwd, path);
  });

  test("and so does its write-ahead log, which holds the last commits of a killed process", async () => {
    const { cwd, path } = await makeDatabase();
    const killed = await serve({ cwd });
    expect((await fetch(`${killed.url}/readyz`)).status).toBe(200);
    await stop(killed, "SIGKILL");
    expect(readFileSync(`${path}-wal`).length).toBeGreaterThan(0);
    const pages = readFileSync(path).length / PAGE_BYTES;
    for (let page = 2; page < pages; page++) overwrite(path, page * PAGE_BYTES, Buffer.alloc(64, 0xa5));
    await expectRefused(cwd, path);
  });
});

describe("one database, one secret, one process", () => {
  test("another GATEHOUSE_SECRET than the database's is refused, and the old one still opens it", async () => {
    const cwd = makeFolder();
    const right = { GATEHOUSE_SECRET: "the first secret of this database" };
    await stop(await serve({ cwd, env: right }));
    const wrong = { GATEHOUSE_PORT: "0", GATEHOUSE_SECRET: "canary: quite another secret, long enough" };
    const { exitCode, stderr } = await runToEnd(["serve"], { cwd, env: wrong });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("GATEHOUSE_SECRET");
    expect(stderr).not.toContain("canary");
    const again = await serve({ cwd, env: right });
    expect((await readServer(again.url, readToken(cwd))).status).toBe(200);
  });

  test("a lost secret.key is refused, not replaced by a new one in silence", async () => {
    const cwd = makeFolder();
    await stop(await serve({ cwd }));
    const path = join(cwd, "data", "secret.key");
    const secret = readFileSync(path);
    await Bun.file(path).delete();
    const { exitCode, stderr } = await runToEnd(["serve"], { cwd, env: { GATEHOUSE_PORT: "0" } });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("secret.key");
    writeFileSync(path, secret, { mode: 0o600 });
    const again = await serve({ cwd });
    expect((await readServer(again.url, readToken(cwd))).status).toBe(200);
  });

  test("a second instance on the same data folder is refused, and the first keeps running", async () => {
    const cwd = makeFolder();
    const first = await serve({ cwd });
    const { exitCode, stderr } = await runToEnd(["serve"], { cwd, env: { GATEHOUSE_PORT: "0" } });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("another Gatehouse");
    expect((await readServer(first.url, readToken(cwd))).status).toBe(200);
    await stop(first, "SIGKILL");
    // A killed process leaves no lock behind.
    await serve({ cwd });
  });
});
