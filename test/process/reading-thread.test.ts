// The reading thread: calls the game API, records what it answered, and gives nothing up when it dies.
import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { ArchiveUnavailable } from "../../src/core/errors.ts";
import { filterAll } from "../../src/core/events/event-types.ts";
import type { LedgerEvent } from "../../src/core/ports/archive.ts";
import type { SentCommand } from "../../src/core/ports/commands.ts";
import { ReadingThread } from "../../src/reading-thread/reading-thread.ts";
import { startReadingThread } from "../../src/threads.ts";
import { ALL_SECTIONS_INFO, BASE_INFO, type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { makeTestFolder } from "../start-gatehouse.ts";

const KEY = "key-Town";
const SERVER = "srv_a";
const AT = 1_704_614_405_000;

let api: FakeGameApi;
let thread: ReadingThread;
let workers: Worker[];
let sent: SentCommand[];
let questions: string[];
const logged: string[] = [];

function startThread(path = join(makeTestFolder(), "archive.db")): void {
  workers = [];
  sent = [];
  questions = [];
  logged.length = 0;
  const write = (_fields: object, message: string) => void logged.push(message);
  api = startFakeGameApi(() => Response.json({ ...BASE_INFO, ...ALL_SECTIONS_INFO }));
  thread = new ReadingThread({
    startThread: () => {
      const worker = startReadingThread();
      workers.push(worker);
      return worker;
    },
    settings: {
      upstream: { baseUrl: api.url, globalKey: undefined, timeoutMs: 5_000, keepsUnknown: false },
      archive: { path },
      secret: "secret",
    },
    clock: () => AT,
    log: { debug: write, info: write, warn: write, error: write },
    commands: {
      async listSent(serverId) {
        questions.push(serverId);
        return sent;
      },
    },
  });
  thread.planOf = () => ({ isWatched: true, intervalMs: 5_000 });
}

afterEach(async () => {
  await thread.archive.close();
  await api.stop();
});

async function readAndRecord(at = AT): Promise<void> {
  const reading = await thread.readServer(KEY);
  if (!("parts" in reading) || !("kept" in reading.content)) throw new Error("no reading");
  thread.takeReading(SERVER, { ...reading.content, at, gameServer: "Town" });
}

async function listEvents(): Promise<readonly LedgerEvent[]> {
  await thread.flush();
  const start = { after: "earliest" } as const;
  const page = await thread.archive.readPage({ serverId: SERVER, start, filter: filterAll(), limit: 500 });
  if ("expired" in page) throw new Error("expired");
  return page.events;
}

test("a reading comes as text, and its content is recorded in the thread", async () => {
  startThread();
  const reading = await thread.readServer(KEY);
  if (!("parts" in reading)) throw new Error("no reading");
  expect(reading.parts.sections).toHaveLength(9);
  expect(JSON.parse(`${reading.parts.base}}`)).toEqual(BASE_INFO);
  expect(reading.content).toEqual({ kept: 1 });
  const recorded = Promise.withResolvers<string>();
  thread.onRecorded = recorded.resolve;
  thread.takeReading(SERVER, { kept: 1, at: AT, gameServer: "Town" });
  expect(await recorded.promise).toBe(SERVER);
  expect(await listEvents()).toHaveLength(5);
});

test("a failure of the game API comes as such", async () => {
  startThread();
  api.answer = () => Response.json({ code: 3002, message: "offline" }, { status: 422 });
  const reading = await thread.readServer(KEY);
  expect(reading).toMatchObject({ failure: { code: 3002 } });
  expect(await thread.sendCommand(KEY, ":h hi")).toMatchObject({ outcome: "refused" });
});

test("the thread asks which commands were ours", async () => {
  startThread();
  const entry = { Player: "Remote Server", Timestamp: AT / 1000 - 5, Command: ":h hi" };
  api.answer = () => Response.json({ ...BASE_INFO, ...ALL_SECTIONS_INFO, CommandLogs: [entry] });
  const sentBy = { kind: "key", id: "key_1", name: "bot" } as const;
  sent = [{ commandId: "cmd_1", sentBy, text: ":h hi", sentAt: AT - 5_000, loggedAt: null }];
  await readAndRecord();
  const metas = (await listEvents()).map(({ meta }) => meta);
  expect(metas).toContain(JSON.stringify({ command_id: "cmd_1", sent_by: sentBy }));
  expect(questions).toEqual([SERVER]);
});

test("after its thread has died, the next call starts another, and the ledger goes on", async () => {
  startThread();
  await readAndRecord();
  const before = await listEvents();
  const arrived = Promise.withResolvers<void>();
  api.answer = () => {
    arrived.resolve();
    return new Promise(() => {});
  };
  const command = thread.sendCommand(KEY, ":h hi");
  await arrived.promise;
  workers[0]?.terminate();
  expect(await command).toMatchObject({ outcome: "lost" });
  api.answer = () => Response.json({ ...BASE_INFO, ...ALL_SECTIONS_INFO });
  await readAndRecord(AT + 5_000);
  expect(await listEvents()).toEqual(before);
  expect(workers).toHaveLength(2);
  expect(logged).toContain("the reading thread failed");
});

test("a reading that died with its thread is never taken for one of the next thread", async () => {
  startThread();
  const lost = await thread.readServer(KEY);
  if (!("parts" in lost) || !("kept" in lost.content)) throw new Error("no reading");
  workers[0]?.terminate();
  await new Promise((resolve) => workers[0]?.addEventListener("close", resolve));
  const other = await thread.readServer("key-Other");
  expect("parts" in other).toBe(true);
  thread.takeReading(SERVER, { ...lost.content, at: AT, gameServer: "Town" });
  expect(await listEvents()).toEqual([]);
});

test("a file that is not an archive is told, and the game API is called all the same", async () => {
  const path = join(makeTestFolder(), "archive.db");
  await Bun.write(path, "not a database, but long enough to look like one".repeat(10));
  startThread(path);
  await thread.checkArchive();
  expect(logged).toEqual(["the archive cannot be used; events wait in memory until it can"]);
  await readAndRecord();
  await thread.flush();
  expect(thread.fault).toBeInstanceOf(ArchiveUnavailable);
  expect(thread.waitingEvents).toBe(0);
});
