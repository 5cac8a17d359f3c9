// A start that the disk prevents: each cause has a sentence of its own that says what to do, nothing is changed, and only a
// damaged database is called damaged.
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mounting, testWith, tracing } from "../needs.ts";
import { PROGRAM, readServer, runToEnd, serve, stop } from "../run-gatehouse.ts";
import { fill, makeSmallDisk } from "../small-disk.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";

afterEach(cleanUp);

function pathOf(cwd: string): string {
  return join(cwd, "data", "gatehouse.db");
}

/** Starts and expects a refusal, which is returned. The database must not change. */
async function expectRefusal(cwd: string, start: () => ReturnType<typeof startIn>): Promise<string> {
  const before = readFileSync(pathOf(cwd));
  const { exitCode, stdout, stderr } = await start();
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringMatching(/^gatehouse: [^\n]+\n$/),
  });
  expect(stdout).not.toContain("listening on");
  expect(stderr).toContain(join(cwd, "data"));
  expect(readFileSync(pathOf(cwd)).equals(before)).toBe(true);
  return stderr;
}

function startIn(cwd: string) {
  return runToEnd(["serve"], { cwd, env: { GATEHOUSE_PORT: "0" } });
}

/** Starts with failing system calls on the database and its log. */
function startWithFault(cwd: string, inject: string) {
  const files = ["", "-wal", "-shm"].flatMap((suffix) => ["-P", pathOf(cwd) + suffix]);
  const rules = ["-f", "-qq", "-o", "/dev/null", ...files, "-e", inject];
  return runToEnd([...rules, PROGRAM, "serve"], {
    cwd,
    env: { GATEHOUSE_PORT: "0" },
    program: "strace",
  });
}

async function expectStarts(cwd: string): Promise<void> {
  const gatehouse = await serve({ cwd });
  const token = readFileSync(join(cwd, "data", "demo.key"), "utf8").trim();
  expect((await readServer(gatehouse.url, token)).status).toBe(200);
  expect(await stop(gatehouse)).toBe(0);
}

testWith(mounting)("on a full disk: it is called full, not damaged, and starts once there is room", async () => {
  const cwd = await makeSmallDisk("2m");
  await stop(await serve({ cwd }));
  const ballast = join(cwd, "data", "ballast");
  fill(ballast);
  const refusal = await expectRefusal(cwd, () => startIn(cwd));
  expect(refusal).toContain("its disk is full");
  expect(refusal).toContain("free some space");
  expect(refusal).not.toContain("is damaged");
  rmSync(ballast);
  await expectStarts(cwd);
});

testWith(mounting)("on a read-only disk: it is called read-only or not openable, not damaged", async () => {
  const cwd = await makeSmallDisk("2m");
  await stop(await serve({ cwd }));
  await Bun.$`mount -o remount,ro ${join(cwd, "data")}`.quiet();
  const refusal = await expectRefusal(cwd, () => startIn(cwd));
  expect(refusal).toMatch(/read-only|permissions/);
  expect(refusal).not.toContain("is damaged");
});

for (const call of ["pread64", "pwrite64"]) {
  testWith(tracing)(`${call} fails (EIO): the disk is named, and never a damaged database`, async () => {
    const cwd = makeFolder();
    await stop(await serve({ cwd }));
    const refusal = await expectRefusal(cwd, () => startWithFault(cwd, `inject=${call}:error=EIO:when=2+`));
    expect(refusal).toContain("the disk reports an error");
    expect(refusal).not.toContain("is damaged");
    await expectStarts(cwd);
  });
}

test("a database that another program has locked is called locked", async () => {
  const cwd = makeFolder();
  await stop(await serve({ cwd }));
  const script = `
    const db = new (require("bun:sqlite").Database)(process.argv.at(-1));
    db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    console.log("locked");
    setInterval(() => db, 1_000);`;
  const other = Bun.spawn([process.execPath, "-e", script, pathOf(cwd)], { stdout: "pipe" });
  undoLater(() => other.kill("SIGKILL"));
  await other.stdout.getReader().read();
  const refusal = await expectRefusal(cwd, () => startIn(cwd));
  expect(refusal).toContain("locked by another program");
  expect(refusal).not.toContain("is damaged");
  other.kill("SIGKILL");
  await other.exited;
  await expectStarts(cwd);
});

test("a lock file that is something else is to be deleted, and no backup restored", async () => {
  const cwd = makeFolder();
  await stop(await serve({ cwd }));
  const lock = `${pathOf(cwd)}.lock`;
  writeFileSync(lock, "x".repeat(8_192));
  const refusal = await expectRefusal(cwd, () => startIn(cwd));
  expect(refusal).toContain("delete it");
  expect(refusal).not.toContain("backup");
  rmSync(lock);
  await expectStarts(cwd);
});

testWith(mounting)("a first start without room for the secret says that the disk is full", async () => {
  const cwd = await makeSmallDisk("64k");
  fill(join(cwd, "data", "ballast"));
  const { exitCode, stderr } = await startIn(cwd);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("its disk is full");
  expect(readdirSync(join(cwd, "data"))).not.toContain("secret.key");
});

test("a database folder that is a file is refused with a sentence about the folder", async () => {
  const cwd = makeFolder();
  mkdirSync(join(cwd, "data"));
  mkdirSync(pathOf(cwd));
  const { exitCode, stderr } = await startIn(cwd);
  expect(exitCode).toBe(1);
  expect(stderr).not.toContain("is damaged");
});
