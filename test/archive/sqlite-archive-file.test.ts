// The file of the embedded archive: an unusable one is refused and left as it is, and a disk or file that comes back is
// used again without a restart.
import { Database } from "bun:sqlite";
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { ArchiveUnavailable, StoreUnavailable } from "../../src/core/errors.ts";
import { filterAll } from "../../src/core/events/event-types.ts";
import { NO_KINDS } from "../../src/core/history/command-kinds.ts";
import type { EmbeddedArchive } from "../../src/database/archive/embedded-archive.ts";
import { ARCHIVE_MIGRATIONS } from "../../src/database/archive/migrations.ts";
import { openThreadedArchive } from "../event-archive.ts";
import { mounting, program, testWith } from "../needs.ts";
import { fill } from "../small-disk.ts";
import { makeTestFolder } from "../start-gatehouse.ts";
import { cleanUp, undoLater } from "../temporary.ts";
import { act, addHistory, session } from "./history-samples.ts";
import { addEvents, kill, kills, NOW, readAll, record } from "./ledger-samples.ts";
import { makeWebhook } from "./webhook-samples.ts";

const root = makeTestFolder();
let folders = 0;
const archives: EmbeddedArchive[] = [];

afterEach(async () => {
  for (const archive of archives.splice(0)) await archive.close().catch(() => {});
  await cleanUp();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function makePath(): string {
  const folder = join(root, String(++folders));
  mkdirSync(folder);
  return join(folder, "archive.db");
}

function open(path: string): EmbeddedArchive {
  const archive = openThreadedArchive(path);
  archives.push(archive);
  return archive;
}

async function makeArchive(path: string, events = 3): Promise<void> {
  const archive = openThreadedArchive(path);
  await addEvents(archive, kills(events));
  await archive.close();
}

async function refusalOf(path: string): Promise<string> {
  const before = readFileSync(path);
  const archive = open(path);
  const refusal = await archive.findRefusal();
  // Neither a read nor a write gets to it.
  for (const call of [archive.load("srv_a"), archive.record([record({ version: 0, events: [kill(1)] })])]) {
    const error = await call.catch((caught) => caught);
    expect(error).toBeInstanceOf(ArchiveUnavailable);
    expect(error.message).toBe(refusal);
  }
  await archive.close();
  expect(readFileSync(path).equals(before)).toBe(true);
  return refusal ?? "";
}

describe("the file is refused and left untouched, and its name and fault are told, when it", () => {
  test("is not a database", async () => {
    const path = makePath();
    writeFileSync(path, "my diary");
    expect(await refusalOf(path)).toContain(`${path} is not an archive of Gatehouse`);
  });

  test("is another program's database, or the store", async () => {
    const path = makePath();
    const db = new Database(path);
    db.exec("CREATE TABLE diary (day TEXT)");
    db.close();
    expect(await refusalOf(path)).toContain("is not an archive of Gatehouse");
  });

  test("was made by a newer version", async () => {
    const path = makePath();
    await makeArchive(path);
    const db = new Database(path);
    db.exec("PRAGMA journal_mode = DELETE; PRAGMA user_version = 99");
    db.close();
    expect(await refusalOf(path)).toContain("newer Gatehouse (schema 99");
  });

  test.each([
    ["cut short", (path: string) => truncateSync(path, 8_192)],
    [
      "overwritten in the middle",
      (path: string) => {
        const bytes = readFileSync(path);
        bytes.fill(0x5a, 8_192, 16_384);
        writeFileSync(path, bytes);
      },
    ],
  ])("is %s", async (_, damage) => {
    const path = makePath();
    await makeArchive(path, 400);
    damage(path);
    expect(await refusalOf(path)).toContain(`${path} is damaged`);

    // Without a look beforehand too, as in a thread that took the place of one that died.
    const archive = open(path);
    expect((await archive.load("srv_a").catch((error) => error)).message).toContain("is damaged");
    // Replaced in place, it is used without a restart.
    const good = makePath();
    await makeArchive(good, 5);
    copyFileSync(good, path);
    expect(await readAll(archive)).toHaveLength(5);
  });
});

test("a forgotten player is not in the bytes of the file or its log, deleted rows included", async () => {
  const path = makePath();
  const archive = open(path);
  const data = JSON.stringify({ Killed: "Zanzibar:77", Note: "x".repeat(9_000) });
  await addEvents(archive, [...kills(50), kill(77, { data }), ...kills(50, 100)]);
  await addHistory(archive, { sessions: [session("77", NOW, NOW + 5, { name: "Zanzibar" })] });
  for (const size of [30_000, 10]) {
    const memory = [{ part: "other", text: JSON.stringify(["Zanzibar:77", "x".repeat(size)]) }];
    await addHistory(archive, {}, "srv_a", { memory });
  }
  await addHistory(archive, {}, "srv_a", { memory: [{ part: "other", text: "[]" }] });
  const isInFile = () => [path, `${path}-wal`].some((file) => readFileSync(file).includes("Zanzibar"));
  expect(isInFile()).toBe(true);
  await archive.startForgetting("77");
  while (await archive.continueForgetting()) {}
  expect(await archive.listForgotten()).toEqual([{ id: "77", names: ["Zanzibar"] }]);
  const reader = new Database(path, { readonly: true });
  reader.exec("BEGIN; SELECT count(*) FROM events");
  await archive.finishForgetting("77");
  expect(isInFile()).toBe(true);
  reader.close();
  // While somebody else reads, the log cannot be emptied; the next look does it.
  await archive.continueForgetting();
  expect(isInFile()).toBe(false);
  expect(await archive.listForgotten()).toEqual([]);
});

test("a file of the version before webhooks and the history gets their tables and keeps its events", async () => {
  const path = makePath();
  await makeArchive(path, 5);
  const db = new Database(path);
  db.exec("DROP TABLE webhooks; DROP TABLE deliveries; DROP INDEX events_by_kind");
  for (const table of ["counts", "sessions", "player_days", "staff_acts", "player_names"])
    db.exec(`DROP TABLE ${table}`);
  for (const table of ["known_players", "command_targets", "notes", "mod_calls"]) db.exec(`DROP TABLE ${table}`);
  for (const column of ["known_count", "known_from"]) db.exec(`ALTER TABLE ledgers DROP COLUMN ${column}`);
  db.exec(`PRAGMA user_version = ${ARCHIVE_MIGRATIONS.steps.length - 4}`);
  db.close();
  const archive = open(path);
  expect(await readAll(archive)).toHaveLength(5);
  expect(await archive.createWebhook(makeWebhook())).toBe("created");
  expect(await archive.countWaiting("srv_a", { number: 0, mark: 0 }, filterAll())).toBe(5);
});

test("what staff did before kinds of commands were told apart still counts", async () => {
  const path = makePath();
  const before = open(path);
  await addHistory(before, { acts: [act("1", 5, null, "kick"), act("1", 6, [1, 2])] });
  await before.close();
  const db = new Database(path);
  db.exec("DROP INDEX staff_acts_by_player; ALTER TABLE staff_acts DROP COLUMN kind");
  db.exec("CREATE INDEX staff_acts_by_player ON staff_acts (ledger, player, at)");
  db.exec(`PRAGMA user_version = ${ARCHIVE_MIGRATIONS.steps.length - 1}`);
  db.close();
  const { members } = await open(path).readStaff("srv_a", { from: 0, to: 10 }, []);
  expect(members).toMatchObject([{ player: "1", commands: 1, byKind: NO_KINDS, waits: [[1, 2]] }]);
});

test("a file that is locked by another program is unavailable, and is used when it is free", async () => {
  const path = makePath();
  await makeArchive(path);
  const db = new Database(path);
  db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE ledgers SET version = version");
  const archive = open(path);
  expect(await archive.findRefusal()).toBeUndefined();
  const error = await archive.load("srv_a").catch((caught) => caught);
  expect(error).toBeInstanceOf(ArchiveUnavailable);
  expect(error.message).toContain(path);
  expect(error.message).toContain("locked");
  expect(error.message).not.toContain("start again");
  db.close();
  expect(await readAll(archive)).toHaveLength(3);
});

test("an absent file, an empty one and a good one are no reason to refuse", async () => {
  const path = makePath();
  expect(await open(path).findRefusal()).toBeUndefined();
  writeFileSync(path, "");
  expect(await open(path).findRefusal()).toBeUndefined();
  await makeArchive(path);
  expect(await open(path).findRefusal()).toBeUndefined();
  expect(await readAll(open(path))).toHaveLength(3);
});

testWith(mounting)("a disk that is full or read-only stops no start, and is used when it is back", async () => {
  const path = makePath();
  const disk = join(path, "..");
  await Bun.$`mount -t tmpfs -o size=1m tmpfs ${disk}`.quiet();
  undoLater(() => Bun.$`umount ${disk}`.nothrow().quiet());
  fill(join(disk, "ballast"));
  const archive = open(path);
  expect(await archive.findRefusal()).toBeUndefined();
  expect(await archive.load("srv_a").catch((error) => error)).toBeInstanceOf(StoreUnavailable);
  rmSync(join(disk, "ballast"));
  await addEvents(archive, kills(2));

  fill(join(disk, "ballast"));
  const big = kills(200, 10).map((event) => ({ ...event, data: JSON.stringify("x".repeat(2_000)) }));
  const writing = archive.record([record({ version: 1, events: big })]);
  expect(await writing.catch((error) => error)).toBeInstanceOf(StoreUnavailable);
  rmSync(join(disk, "ballast"));
  expect(await readAll(archive)).toHaveLength(2);

  await archive.close();
  await Bun.$`mount -o remount,ro ${disk}`.quiet();
  const second = open(path);
  expect(await second.findRefusal()).toBeUndefined();
  const refused = second.record([record({ version: 1, events: [kill(9)] })]);
  expect(await refused.catch((error) => error)).toBeInstanceOf(StoreUnavailable);
  await Bun.$`mount -o remount,rw ${disk}`.quiet();
  await addEvents(second, [kill(9)]);
  expect(await readAll(second)).toHaveLength(3);
});

describe("while it is used", () => {
  test("a folder that is missing, and comes", async () => {
    const path = join(root, "later", "archive.db");
    const archive = open(path);
    expect(await archive.findRefusal()).toBeUndefined();
    expect(await archive.load("srv_a").catch((error) => error)).toBeInstanceOf(StoreUnavailable);
    mkdirSync(join(root, "later"));
    await addEvents(archive, kills(1));
  });

  test("a deleted file: the write is not confirmed, and an empty archive takes its place", async () => {
    const path = makePath();
    const archive = open(path);
    await addEvents(archive, kills(3));
    rmSync(path);
    const writing = archive.record([record({ version: 1, events: [kill(4)] })]);
    expect(await writing.catch((error) => error)).toBeInstanceOf(StoreUnavailable);
    expect(await archive.record([record({ version: 1, events: [kill(4)] })])).toEqual([{ conflict: true }]);
    await addEvents(archive, [kill(5)]);
    expect(existsSync(path)).toBe(true);
    expect(await readAll(archive)).toHaveLength(1);
  });

  test("a replaced file is used as it is, without the log of the one before", async () => {
    const path = makePath();
    await makeArchive(path, 2);
    copyFileSync(path, `${path}.old`);
    const archive = open(path);
    await addEvents(archive, kills(300, 10));
    renameSync(`${path}.old`, path);
    expect(await archive.load("srv_a").catch((error) => error)).toBeInstanceOf(StoreUnavailable);
    expect(await readAll(archive)).toHaveLength(2);
    await addEvents(archive, [kill(7)]);
    expect(await readAll(archive)).toHaveLength(3);
    await archive.close();
    const db = new Database(path);
    expect(db.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    db.close();
  });

  testWith(program("python3"))("another program that looks into it does not take its log away", async () => {
    const path = makePath();
    const archive = open(path);
    await addEvents(archive, kills(3));
    // As at a start: what was asked of the archive already has opened the file.
    expect(await archive.findRefusal()).toBeUndefined();
    // Locks are those of a process. The last one that closes a database removes its log.
    const look =
      "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('SELECT 1 FROM events'); db.close()";
    expect(Bun.spawnSync(["python3", "-c", look, path]).exitCode).toBe(0);
    expect(existsSync(`${path}-wal`)).toBe(true);
  });

  test("a closed archive answers nothing more", async () => {
    const archive = open(makePath());
    await addEvents(archive, kills(1));
    await archive.close();
    expect(await archive.load("srv_a").catch((error) => error)).toBeInstanceOf(StoreUnavailable);
  });
});
