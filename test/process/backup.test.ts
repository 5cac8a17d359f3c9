// gatehouse backup and restore: a consistent copy of an instance that is writing, and a restore that overwrites nothing and
// detects a missing or wrong secret.
import { Database } from "bun:sqlite";
import { afterEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { root, testWith } from "../needs.ts";
import { makeDataFolder, readServer, runToEnd, serve, stop } from "../run-gatehouse.ts";
import { startGatehouse } from "../start-gatehouse.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

const DEFAULT_NAME = /^gatehouse-backup-\d{8}T\d{6}Z\.db$/;

afterEach(cleanUp);

/** The backup of a stopped instance with one server and one key, beside its data folder. */
async function makeBackup(): Promise<{ file: string; folder: string; token: string }> {
  const { folder, token } = await makeDataFolder();
  const file = join(makeFolder(), "backup.db");
  const { exitCode, stderr } = await runToEnd(["backup", file, "--data-dir", folder], { cwd: folder });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return { file, folder, token };
}

/** A new data folder that has only the secret of another one. */
function makeNewFolder(old: string): string {
  const folder = makeFolder();
  copyFileSync(join(old, "secret.key"), join(folder, "secret.key"));
  return folder;
}

function listTree(folder: string): string[] {
  return readdirSync(folder).sort();
}

test("--keep leaves the newest backups in a folder, and everything that is no backup of ours", async () => {
  const { folder } = await makeDataFolder();
  const target = makeFolder();
  const days = ["20260101T000000Z", "20260102T000000Z", "20260103T000000Z"].map((day) => `gatehouse-backup-${day}`);
  const others = ["gatehouse-backup-of-mine.db", "monday.db", "notes.txt"];
  for (const name of [...days.flatMap((day) => [`${day}.db`, `${day}.archive.db`]), ...others]) {
    writeFileSync(join(target, name), "");
  }
  const backUp = (...args: string[]) => runToEnd(["backup", ...args, "--data-dir", folder, "--json"], { cwd: folder });
  const { exitCode, stdout } = await backUp(target, "--keep", "2");
  expect(exitCode).toBe(0);
  const made = JSON.parse(stdout) as { file: string; removed: string[] };
  expect(made.removed).toEqual(days.slice(0, 2).map((day) => join(target, `${day}.db`)));
  const kept = listTree(target).filter((name) => !name.startsWith(basename(made.file, ".db")));
  expect(kept).toEqual([`${days[2]}.archive.db`, `${days[2]}.db`, ...others].toSorted());
  expect(existsSync(made.file)).toBe(true);

  const refused = await backUp(join(target, "tuesday.db"), "--keep", "2");
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--keep needs a folder") });
  expect(existsSync(join(target, "tuesday.db"))).toBe(false);
  const failed = await backUp(target, "--keep", "0");
  expect(failed.exitCode).toBe(2);
});

describe("a backup", () => {
  test("of a running instance under load is whole, and restores to an instance that takes the same keys", async () => {
    const cwd = makeFolder();
    const gatehouse = await serve({ cwd });
    const data = join(cwd, "data");
    const [demoKey, masterKey] = ["demo.key", "master.key"].map((name) =>
      readFileSync(join(data, name), "utf8").trim(),
    ) as [string, string];
    const admin = { Authorization: `Bearer ${masterKey}`, "Content-Type": "application/json" };
    const { items } = (await (await fetch(`${gatehouse.url}/admin/servers`, { headers: admin })).json()) as {
      items: { server_id: string }[];
    };
    const makeKey = async (label: string): Promise<string> => {
      const body = JSON.stringify({ server_id: items[0]?.server_id, label });
      const made = await fetch(`${gatehouse.url}/admin/keys`, { method: "POST", headers: admin, body });
      expect(made.status).toBe(201);
      return ((await made.json()) as { token: string }).token;
    };
    const early = await makeKey("before the backup");

    let isOver = false;
    let written = 0;
    const load = (async () => {
      while (!isOver) {
        await makeKey(`key ${written}`);
        written++;
      }
    })();
    await until("nothing is written", () => written > 5);
    const writtenBefore = written;
    const { exitCode, stdout, stderr } = await runToEnd(["backup"], { cwd });
    const writtenAfter = written;
    await until("the instance has stopped writing", () => written > writtenAfter + 5);
    isOver = true;
    await load;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain("secret.key");
    const late = await makeKey("after the backup");
    const [name = "none was made"] = readdirSync(cwd).filter((each) => DEFAULT_NAME.test(each));
    expect(await stop(gatehouse)).toBe(0);

    const elsewhere = makeFolder();
    mkdirSync(join(elsewhere, "data"));
    copyFileSync(join(data, "secret.key"), join(elsewhere, "data", "secret.key"));
    const restored = await runToEnd(["restore", join(cwd, name), "--json"], { cwd: elsewhere });
    expect({ exitCode: restored.exitCode, stderr: restored.stderr }).toEqual({ exitCode: 0, stderr: "" });
    const facts = JSON.parse(restored.stdout) as { keys: number };
    // The demo key, the first key, and as many others as there were at the moment of the copy.
    expect(facts.keys).toBeGreaterThanOrEqual(writtenBefore + 2);
    expect(facts.keys).toBeLessThanOrEqual(writtenAfter + 3);

    const again = await serve({ cwd: elsewhere });
    expect((await readServer(again.url, early)).status).toBe(200);
    expect((await readServer(again.url, demoKey)).status).toBe(200);
    expect((await readServer(again.url, late)).status).toBe(401);
  });

  test("is one file for its owner alone, and leaves the data folder as it was", async () => {
    const { folder } = await makeDataFolder();
    const before = listTree(folder);
    const cwd = makeFolder();
    const { exitCode } = await runToEnd(["backup", "--data-dir", folder], { cwd });
    expect(exitCode).toBe(0);
    const files = readdirSync(cwd);
    expect(files).toEqual([expect.stringMatching(DEFAULT_NAME)]);
    expect(statSync(join(cwd, files[0] ?? "")).mode & 0o777).toBe(0o600);
    expect(listTree(folder)).toEqual(before);
  });

  test("of a killed instance has everything that the instance had acknowledged", async () => {
    const cwd = makeFolder();
    const gatehouse = await serve({ cwd });
    await stop(gatehouse, "SIGKILL");
    const { exitCode, stdout } = await runToEnd(["backup", "b.db", "--json"], { cwd });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ servers: 1, keys: 1, instance_running: false });
    expect(JSON.parse(stdout)).toMatchObject({
      file: join(cwd, "b.db"),
      size_bytes: statSync(join(cwd, "b.db")).size,
    });
  });

  test("has no server key and no token in the clear", async () => {
    const folder = makeFolder();
    const env = { GATEHOUSE_UPSTREAM_URL: "http://127.0.0.1:9" };
    const gatehouse = await startGatehouse({ folder, env });
    undoLater(() => gatehouse.stop());
    const { token } = await gatehouse.addKey(await gatehouse.addServer({ serverKey: "canary-ServerKey" }));
    const file = join(makeFolder(), "backup.db");
    expect((await runToEnd(["backup", file, "--data-dir", folder], { cwd: folder })).exitCode).toBe(0);
    const content = readFileSync(file, "latin1");
    for (const secret of ["canary", token, readFileSync(join(folder, "secret.key"), "utf8").trim()]) {
      expect(content).not.toContain(secret);
    }
  });

  test("never overwrites a file", async () => {
    const { folder } = await makeDataFolder();
    const cwd = makeFolder();
    writeFileSync(join(cwd, "precious"), "precious");
    const { exitCode, stderr } = await runToEnd(["backup", "precious", "--data-dir", folder], { cwd });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("exists already");
    expect(readFileSync(join(cwd, "precious"), "utf8")).toBe("precious");
    expect(readdirSync(cwd)).toEqual(["precious"]);
  });

  test("of nothing, or into a folder that is not there, is refused in one sentence and leaves nothing", async () => {
    const cwd = makeFolder();
    const nothing = await runToEnd(["backup"], { cwd });
    expect(nothing.exitCode).toBe(1);
    expect(nothing.stderr).toContain("no database");
    const { folder } = await makeDataFolder();
    const nowhere = await runToEnd(["backup", "no/such/folder.db", "--data-dir", folder], { cwd });
    expect(nowhere.exitCode).toBe(1);
    for (const { stderr } of [nothing, nowhere]) expect(stderr).toMatch(/^gatehouse: [^\n]+\n$/);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe("restore refuses, and changes nothing,", () => {
  async function expectRefused(file: string, folder: string, words: RegExp, env = {}): Promise<void> {
    const before = existsSync(folder) ? listTree(folder) : undefined;
    const { exitCode, stdout, stderr } = await runToEnd(["restore", file, "--data-dir", folder], {
      cwd: makeFolder(),
      env,
    });
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: expect.stringMatching(words),
    });
    expect(stderr).toMatch(/^gatehouse: [^\n]+\n$/);
    expect(existsSync(folder) ? listTree(folder) : undefined).toEqual(before);
  }

  test("where there is a database already", async () => {
    const { file, folder } = await makeBackup();
    const content = readFileSync(join(folder, "gatehouse.db"));
    await expectRefused(file, folder, /gatehouse\.db exists already/);
    expect(readFileSync(join(folder, "gatehouse.db")).equals(content)).toBe(true);
  });

  test("where a Gatehouse is running, which is not affected", async () => {
    const { file } = await makeBackup();
    const cwd = makeFolder();
    const gatehouse = await serve({ cwd });
    // The archive is opened after the start.
    await until("the archive is not open", () => existsSync(join(cwd, "data/archive.db-wal")));
    await expectRefused(file, join(cwd, "data"), /running/);
    expect((await fetch(`${gatehouse.url}/readyz`)).status).toBe(200);
  });

  test("where the log of a lost database would be played into the restored one", async () => {
    const { file, folder } = await makeBackup();
    const target = makeNewFolder(folder);
    writeFileSync(join(target, "gatehouse.db-wal"), "remains");
    await expectRefused(file, target, /gatehouse\.db-wal exists already/);
  });

  test("without the secret, naming the folder it belongs into, which is not made", async () => {
    const { file } = await makeBackup();
    await expectRefused(file, makeFolder(), /put the secret\.key/);
    await expectRefused(file, join(makeFolder(), "new"), /put the secret\.key/);
  });

  test("with another secret", async () => {
    const { file } = await makeBackup();
    const target = makeFolder();
    writeFileSync(join(target, "secret.key"), "another secret than the backup's\n", { mode: 0o600 });
    await expectRefused(file, target, /not the one that the backup was made with/);
    const env = { GATEHOUSE_SECRET: "canary: quite another secret, long enough" };
    await expectRefused(file, makeFolder(), /GATEHOUSE_SECRET/, env);
  });

  test.each<[string, (file: string) => void, RegExp]>([
    ["a file that is not there", () => {}, /there is no file/],
    ["an empty file", (file) => writeFileSync(file, ""), /holds nothing/],
    ["random bytes", (file) => writeFileSync(file, randomBytes(20_000)), /not a Gatehouse database/],
    [
      "another program's database",
      (file) => {
        const db = new Database(file, { create: true });
        db.exec("CREATE TABLE notes (text TEXT)");
        db.close();
      },
      /not a Gatehouse database/,
    ],
  ])("%s", async (_, make, words) => {
    const { folder } = await makeDataFolder();
    const file = join(makeFolder(), "backup.db");
    make(file);
    await expectRefused(file, makeNewFolder(folder), words);
  });

  test.each<[string, (whole: Buffer) => Buffer, RegExp]>([
    ["half a backup", (whole) => whole.subarray(0, whole.length / 2), /damaged/],
    ["a backup with bytes overwritten", (whole) => whole.fill(0xa5, 4_096, 12_000), /damaged/],
    [
      "a backup of a newer Gatehouse",
      (whole) => {
        whole.writeUInt32BE(9_999, 60);
        return whole;
      },
      /newer Gatehouse/,
    ],
  ])("%s", async (_, harm, words) => {
    const { file, folder } = await makeBackup();
    writeFileSync(file, harm(readFileSync(file)));
    await expectRefused(file, makeNewFolder(folder), words);
  });
});

describe("restore", () => {
  test("makes the folder when GATEHOUSE_SECRET is the secret, and files for its owner alone", async () => {
    const { file, folder, token } = await makeBackup();
    const cwd = makeFolder();
    const env = {
      GATEHOUSE_SECRET: readFileSync(join(folder, "secret.key"), "utf8").trim(),
      GATEHOUSE_UPSTREAM_URL: "http://127.0.0.1:9",
    };
    const { exitCode, stdout } = await runToEnd(["restore", file], { cwd, env });
    expect(exitCode).toBe(0);
    expect(stdout).toContain("servers: 1, keys: 1");
    expect(statSync(join(cwd, "data")).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(join(cwd, "data"))) {
      expect([name, statSync(join(cwd, "data", name)).mode & 0o777]).toEqual([name, 0o600]);
    }
    const gatehouse = await serve({ cwd, env });
    // The key is accepted; only the game API is missing in this test.
    expect((await readServer(gatehouse.url, token)).status).toBe(400);
  });

  testWith(root)("for a folder of another user leaves files that this user can open", async () => {
    const { file, folder } = await makeBackup();
    const target = makeNewFolder(folder);
    await Bun.$`chown -R 65534:65534 ${target}`.quiet();
    // Root has put the secret there, too.
    await Bun.$`chown 0:0 ${join(target, "secret.key")}`.quiet();
    const { exitCode } = await runToEnd(["restore", file, "--data-dir", target], { cwd: makeFolder() });
    expect(exitCode).toBe(0);
    for (const name of readdirSync(target)) expect([name, statSync(join(target, name)).uid]).toEqual([name, 65_534]);
  });

  test("without a file is wrong usage", async () => {
    const { exitCode } = await runToEnd(["restore"], { cwd: makeFolder() });
    expect(exitCode).toBe(2);
  });
});
