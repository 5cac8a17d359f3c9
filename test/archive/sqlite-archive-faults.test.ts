// The embedded archive when its thread dies or hangs and when its disk fails: every call answers in time, the archive
// recovers by itself, and nothing is recorded twice. A full disk is in sqlite-archive-file.test.ts.
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { StoreUnavailable } from "../../src/core/errors.ts";
import { type EmbeddedArchive, openEmbeddedArchive } from "../../src/database/archive/embedded-archive.ts";
import { startArchiveThread } from "../../src/threads.ts";
import { openThreadedArchive } from "../event-archive.ts";
import { testWith, tracing } from "../needs.ts";
import { makeTestFolder } from "../start-gatehouse.ts";
import { addHistory, session } from "./history-samples.ts";
import { addEvents, kill, kills, NOW, readAll, record } from "./ledger-samples.ts";

const root = makeTestFolder();
const archives: EmbeddedArchive[] = [];
afterEach(async () => {
  for (const archive of archives.splice(0)) await archive.close().catch(() => {});
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

let files = 0;
/** An archive whose threads the test can reach. */
function open(create = startArchiveThread) {
  const workers: Worker[] = [];
  const startThread = () => {
    const worker = create();
    workers.push(worker);
    return worker;
  };
  const archive = openThreadedArchive(join(root, `${++files}.db`), startThread);
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
    const archive = openEmbeddedArchive(join(root, `${++files}.db`), stuck);
    archives.push(archive);
    const outcomes = await Promise.allSettled(Array.from({ length: 1_200 }, () => archive.load("srv_a")));
    for (const outcome of outcomes) {
      expect(outcome.status === "rejected" && outcome.reason).toBeInstanceOf(StoreUnavailable);
    }
    expect(String(outcomes[0]?.status === "rejected" && outcomes[0].reason)).toContain("did not answer within 5 s");
    // The thread has not answered a single one, so it gets no more.
    await expect(archive.load("srv_a")).rejects.toThrow("the archive is too slow");
  });
});

describe("the thread for questions", () => {
  const ask = (archive: EmbeddedArchive) =>
    archive.listSessions({ serverId: "srv_a", from: 0, to: 2 * NOW, limit: 10 });

  test("is started by the first question, sees what was recorded before, and leaves no log behind", async () => {
    const { archive, workers } = open();
    await addHistory(archive, { sessions: [session("1", NOW, NOW + 5)] });
    expect(workers).toHaveLength(1);
    expect(await ask(archive)).toHaveLength(1);
    await addHistory(archive, { sessions: [session("2", NOW, NOW + 5)] });
    expect(await ask(archive)).toHaveLength(2);
    expect(workers).toHaveLength(2);
    await archive.close();
    expect(existsSync(join(root, `${files}.db-wal`))).toBe(false);
    await expect(ask(archive)).rejects.toThrow(StoreUnavailable);
  });

  test("is asked before anything was recorded: the file is made", async () => {
    const { archive } = open();
    expect(await ask(archive)).toEqual([]);
  });

  test("dies or hangs: questions fail in time, recording goes on, and another is started", async () => {
    const { archive, workers } = open();
    expect(await ask(archive)).toEqual([]);
    const waiting = Array.from({ length: 20 }, () => ask(archive));
    workers[1]?.terminate();
    for (const outcome of await Promise.allSettled(waiting)) {
      if (outcome.status === "rejected") expect(outcome.reason).toBeInstanceOf(StoreUnavailable);
    }
    await addHistory(archive, { sessions: [session("1", NOW, NOW + 5)] });
    expect(await ask(archive)).toHaveLength(1);
    expect(workers).toHaveLength(3);
  });

  test("finds the file replaced: questions fail, and later ones are answered from the new one", async () => {
    const { archive } = open();
    await addHistory(archive, { sessions: [session("1", NOW, NOW + 5)] });
    expect(await ask(archive)).toHaveLength(1);
    const path = join(root, `${files}.db`);
    for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
    expect(await ask(archive).catch((error) => error)).toBeInstanceOf(StoreUnavailable);
    let found: readonly unknown[] | undefined;
    for (let attempt = 0; attempt < 5 && !found; attempt++) found = await ask(archive).catch(() => undefined);
    expect(found).toEqual([]);
  });
});

testWith(tracing)(
  "a disk that reports errors: what was confirmed is there, once, and the rest is recorded later",
  async () => {
    const folder = join(root, "failing");
    mkdirSync(folder);
    const script = `
      import { type EmbeddedArchive, openEmbeddedArchive } from "${join(import.meta.dir, "../../src/database/archive/embedded-archive.ts")}";
      import { startArchiveThread } from "${join(import.meta.dir, "../../src/threads.ts")}";
      import { addEvents, kill, readAll } from "${join(import.meta.dir, "ledger-samples.ts")}";
      const archive = openEmbeddedArchive("${join(folder, "archive.db")}", startArchiveThread);
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
    const [stdout, stderr, exitCode] = [await child.stdout.text(), await child.stderr.text(), await child.exited];
    expect({ exitCode, stderr: stderr.slice(0, 500) }).toEqual({ exitCode: 0, stderr: "" });
    const { faults, at } = JSON.parse(stdout);
    expect(faults).toBeGreaterThan(0);
    expect(at).toEqual(Array.from({ length: 20 }, (_, n) => NOW + n + 1));
  },
);
