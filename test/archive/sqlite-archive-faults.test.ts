// The embedded archive when its thread dies or hangs and when its disk fails: every call answers in time, the archive
// recovers by itself, and nothing is recorded twice. A full disk is in sqlite-archive-file.test.ts.
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SqliteArchive } from "../../src/archive/sqlite/sqlite-archive.ts";
import { StoreUnavailable } from "../../src/core/errors.ts";
import { startArchiveThread } from "../../src/threads.ts";
import { testWith, tracing } from "../needs.ts";
import { makeTestFolder } from "../start-gatehouse.ts";
import { addEvents, kill, kills, NOW, readAll, record } from "./ledger-samples.ts";

const root = makeTestFolder();
const archives: SqliteArchive[] = [];
afterEach(async () => {
  for (const archive of archives.splice(0)) await archive.close().catch(() => {});
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

let files = 0;
/** An archive whose threads the test can reach. */
function open(create = startArchiveThread) {
  const workers: Worker[] = [];
  const archive = new SqliteArchive(join(root, `${++files}.db`), () => {
    const worker = create();
    workers.push(worker);
    return worker;
  });
  archives.push(archive);
  return { archive, workers };
}

describe("the thread", () => {
  test("killed while calls wait: they fail at once, and the next call starts another", async () => {
    const { archive, workers } = open();
    await addEvents(archive, kills(3));
    const waiting = Array.from({ length: 20 }, (_, n) =>
      archive.record([record({ version: 1 + n, events: [kill(10 + n)] })]),
    );
    workers[0]?.terminate();
    const outcomes = await Promise.allSettled(waiting);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).toBeInstanceOf(StoreUnavailable);
    }
    const { version } = await archive.load("srv_a");
    expect(workers).toHaveLength(2);
    const numbers = (await readAll(archive)).map(({ number }) => number);
    expect(numbers).toEqual(Array.from({ length: 3 + version - 1 }, (_, n) => n + 1));
    await addEvents(archive, [kill(99)]);
  });

  test("not to be had: a call fails, and a later one starts it", async () => {
    let isShort = true;
    const { archive } = open(() => {
      if (isShort) throw new Error("no threads left");
      return startArchiveThread();
    });
    await expect(archive.load("srv_a")).rejects.toThrow(StoreUnavailable);
    isShort = false;
    await addEvents(archive, kills(1));
  });

  test("stuck: a call fails after its deadline, and calls beyond a ceiling fail at once", async () => {
    const stuck = () => {
      const url = URL.createObjectURL(new Blob(["self.onmessage = () => {};"], { type: "text/javascript" }));
      return new Worker(url);
    };
    const { archive } = open(stuck);
    const startedAt = performance.now();
    const outcomes = await Promise.allSettled(Array.from({ length: 1_200 }, () => archive.load("srv_a")));
    for (const outcome of outcomes) {
      expect(outcome.status === "rejected" && outcome.reason).toBeInstanceOf(StoreUnavailable);
    }
    expect(performance.now() - startedAt).toBeLessThan(7_000);
    // The thread has not answered a single one, so it gets no more.
    const again = performance.now();
    expect(await archive.load("srv_a").catch((error) => error)).toBeInstanceOf(StoreUnavailable);
    expect(performance.now() - again).toBeLessThan(1_000);
  }, 20_000);
});

testWith(tracing)(
  "a disk that reports errors: what was confirmed is there, once, and the rest is recorded later",
  async () => {
    const folder = join(root, "failing");
    mkdirSync(folder);
    const script = `
      import { SqliteArchive } from "${join(import.meta.dir, "../../src/archive/sqlite/sqlite-archive.ts")}";
      import { startArchiveThread } from "${join(import.meta.dir, "../../src/threads.ts")}";
      import { addEvents, kill, readAll } from "${join(import.meta.dir, "ledger-samples.ts")}";
      const archive = new SqliteArchive("${join(folder, "archive.db")}", startArchiveThread);
      let faults = 0;
      for (let n = 1; n <= 20; n++) {
        for (let done = false; !done; ) {
          try {
            await addEvents(archive, [kill(n)]);
            done = true;
          } catch (error) {
            if (error.name !== "ArchiveUnavailable") throw error;
            faults++;
          }
        }
      }
      const events = await readAll(archive);
      console.log(JSON.stringify({ faults, at: events.map(({ at }) => at) }));
      await archive.close();`;
    const inject = ["fsync", "fdatasync"].flatMap((call) => ["-e", `inject=${call}:error=EIO:when=20+7`]);
    const child = Bun.spawn(
      ["strace", "-f", "-o", "/dev/null", ...inject, process.execPath, "--no-env-file", "-e", script],
      { stdin: "ignore", stdout: "pipe", stderr: "pipe" },
    );
    const [stdout, stderr, exitCode] = [
      await child.stdout.text(),
      await child.stderr.text(),
      await child.exited,
    ];
    expect({ exitCode, stderr: stderr.slice(0, 500) }).toEqual({ exitCode: 0, stderr: "" });
    const { faults, at } = JSON.parse(stdout);
    expect(faults).toBeGreaterThan(0);
    expect(at).toEqual(Array.from({ length: 20 }, (_, n) => NOW + n + 1));
  },
  60_000,
);
