// A reading thread that cannot be started, dies or is replaced: the gateway goes on, and nothing is mixed up.
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { ArchiveUnavailable } from "../core/errors.ts";
import { TIMER_MAX_MS } from "../core/ports/clock.ts";
import type { SentCommand } from "../core/ports/commands.ts";
import type { Delivery } from "../core/ports/upstream.ts";
import type { FromThread, ToThread } from "./messages.ts";
import { ReadingThread } from "./reading-thread.ts";

const AT = 1_800_000_000_000;
const DONE: Delivery = { outcome: "done", hint: null };
const FAILURE = { code: 1001, message: "down", isRateLimit: false };

/** A thread that does nothing by itself. */
class FakeWorker extends EventTarget {
  readonly got: ToThread[] = [];
  onmessage: ((event: MessageEvent<FromThread>) => void) | undefined;
  onerror: ((event: ErrorEvent) => void) | undefined;
  postMessage(message: ToThread): void {
    this.got.push(message);
  }
  unref(): void {}
  terminate(): void {}

  tell(data: FromThread): void {
    this.onmessage?.(new MessageEvent("message", { data }));
  }
  die(): void {
    this.onerror?.(new ErrorEvent("error", { message: "out of memory" }));
  }
}

let workers: FakeWorker[];
let startFault: Error | undefined;
let logged: string[];
let sent: Promise<readonly SentCommand[]>;
let thread: ReadingThread;

beforeEach(() => {
  workers = [];
  startFault = undefined;
  logged = [];
  sent = Promise.resolve([]);
  thread = openThread(5_000);
});

function openThread(timeoutMs: number): ReadingThread {
  const write = (_fields: object, message: string) => void logged.push(message);
  const opened = new ReadingThread({
    startThread() {
      if (startFault) throw startFault;
      const worker = new FakeWorker();
      workers.push(worker);
      return worker as unknown as Worker;
    },
    settings: {
      upstream: { baseUrl: "http://localhost", globalKey: undefined, timeoutMs, keepsUnknown: false },
      archive: { path: "archive.db" },
      secret: "secret",
    },
    clock: () => AT,
    log: { debug: write, info: write, warn: write, error: write },
    commands: { listSent: () => sent },
  });
  opened.planOf = () => ({ isWatched: true, intervalMs: 5_000 });
  return opened;
}

afterEach(async () => {
  const closing = thread.archive.close();
  for (const message of workers.at(-1)?.got ?? []) {
    if ("call" in message) workers.at(-1)?.tell({ id: message.id, value: undefined });
  }
  await closing;
});

function startedWorker(place: number): FakeWorker {
  const worker = workers[place];
  if (!worker) throw new Error("no thread was started");
  return worker;
}

test("a thread that cannot be started fails calls, throws at nobody, and leaves nothing waiting", async () => {
  const start = globalThis.setInterval;
  const started: string[] = [];
  const timers = spyOn(globalThis, "setInterval").mockImplementation(((run: () => void, ms: number) => {
    started.push(new Error("who starts it").stack ?? "");
    return start(run, ms);
  }) as typeof setInterval);
  startFault = new Error("no threads left");
  expect(await thread.readServer("key-Town")).toMatchObject({ failure: { code: 0 } });
  // The command certainly was not sent, so it may be sent later.
  expect(await thread.sendCommand("key-Town", ":h hi")).toMatchObject({ outcome: "unsent" });
  await expect(thread.archive.findLast([])).rejects.toThrow(ArchiveUnavailable);
  expect(() => thread.takeFailure("srv_a", FAILURE, AT)).not.toThrow();
  expect(() => thread.takeReading("srv_a", { kept: 1, at: AT, gameServer: "Town" })).not.toThrow();
  timers.mockRestore();
  // A timer would reject a promise that nobody has, and that ends the process. What other tests have left may start some.
  expect(started.filter((stack) => stack.includes("reading-thread.ts"))).toEqual([]);
  expect(logged).toEqual(["the reading thread failed"]);
});

/** Sends a command. The test passes the time; `run` checks the deadlines as often as a process does that is not held up. */
function sendWithClock() {
  const checks = new Set<() => void>();
  let now = 0;
  const start = (check: () => void) => {
    checks.add(check);
    return check;
  };
  const spies = [
    spyOn(globalThis, "setInterval").mockImplementation(start as unknown as typeof setInterval),
    spyOn(globalThis, "clearInterval").mockImplementation((check) => void checks.delete(check as never)),
    spyOn(performance, "now").mockImplementation(() => now),
  ];
  const delivery = thread.sendCommand("key-Town", ":h hi");
  const pass = (ms: number) => {
    now += ms;
    for (const check of [...checks]) check();
  };
  return {
    delivery,
    pass,
    run(ms: number) {
      for (let passed = 0; passed < ms; passed += 100) pass(100);
    },
    restore() {
      for (const spy of spies) spy.mockRestore();
    },
  };
}

test.each([1_000, 5_000, TIMER_MAX_MS])("a thread may take as long as a timeout of %d ms", async (timeoutMs) => {
  thread = openThread(timeoutMs);
  const { delivery, run, restore } = sendWithClock();
  run(Math.min(timeoutMs, 60_000));
  restore();
  startedWorker(0).tell({ id: 1, value: DONE });
  expect(await delivery).toEqual(DONE);
});

test("a command is sent when its answer came while this process was held up, however long", async () => {
  const { delivery, pass, restore } = sendWithClock();
  pass(3_600_000);
  restore();
  startedWorker(0).tell({ id: 1, value: DONE });
  expect(await delivery).toEqual(DONE);
});

test("a command is sent when its answer comes late from a thread that is busy, and lost when the thread hangs", async () => {
  for (const isHanging of [false, true]) {
    thread = openThread(5_000);
    const { delivery, run, restore } = sendWithClock();
    const worker = workers.at(-1);
    run(11_000);
    expect(worker?.got.at(-1)).toMatchObject({ id: 2, call: "ping" });
    if (isHanging) run(11_000);
    else worker?.tell({ id: 2, value: undefined });
    await new Promise((resolve) => setImmediate(resolve));
    run(9_000);
    worker?.tell({ id: 1, value: DONE });
    restore();
    expect(await delivery).toMatchObject({ outcome: isHanging ? "lost" : "done" });
  }
});

test("a command is lost when the thread dies with it", async () => {
  const delivery = thread.sendCommand("key-Town", ":h hi");
  startedWorker(0).die();
  expect(await delivery).toMatchObject({ outcome: "lost" });
});

test("a thread that cannot be started does not stop a start", async () => {
  startFault = new Error("no threads left");
  await thread.checkArchive();
  expect(logged).toEqual(["the archive cannot be used; events wait in memory until it can"]);
});

async function prepare(): Promise<FakeWorker> {
  const preparing = thread.prepare();
  const worker = startedWorker(0);
  worker.tell({ isReady: true });
  await preparing;
  return worker;
}

test("a prepared thread is there at once, and gets its work in order when it may begin", async () => {
  const worker = await prepare();
  thread.tidy(AT);
  const reading = thread.readServer("key");
  expect(worker.got).toMatchObject([{ open: {} }]);
  thread.begin();
  expect(worker.got.slice(1)).toMatchObject([{ tidy: AT }, { call: "readServer" }, { call: "checkArchive" }]);
  worker.tell({ id: 1, value: { hint: null, failure: FAILURE } });
  expect(await reading).toEqual({ hint: null, failure: FAILURE });
});

test("a prepared thread that cannot be started delays no start, and another begins later", async () => {
  startFault = new Error("no file descriptors");
  await thread.prepare();
  expect(logged).toEqual(["the reading thread failed"]);
  startFault = undefined;
  thread.begin();
  expect(startedWorker(0).got).toMatchObject([{ open: {} }, { call: "checkArchive" }]);
});

test("without descriptors at its beginning a call fails, and the next one starts a thread", async () => {
  const worker = await prepare();
  const lost = thread.archive.findLast([]);
  worker.die();
  startFault = new Error("no file descriptors");
  await expect(lost).rejects.toThrow(ArchiveUnavailable);
  thread.begin();
  startFault = undefined;
  thread.tidy(AT);
  expect(startedWorker(1).got).toMatchObject([{ open: {} }, { tidy: AT }]);
});

test("no stop waits for a prepared thread that has said nothing", async () => {
  await prepare();
  thread.begin();
  await thread.stop(60_000);
  await thread.archive.close();
  expect(logged).toEqual([]);
});

test("what a dead thread told of itself is forgotten", async () => {
  thread.tidy(AT);
  const worker = startedWorker(0);
  worker.tell({ waitingEvents: 7, recorderFault: { message: "the disk is full", isUnavailable: true } });
  expect(thread.waitingEvents).toBe(7);
  worker.die();
  worker.tell({ waitingEvents: 8, recorderFault: undefined });
  expect([thread.waitingEvents, thread.fault]).toEqual([0, undefined]);
});

test("the answer to a question of a dead thread does not go to its successor", async () => {
  const answer = Promise.withResolvers<readonly SentCommand[]>();
  sent = answer.promise;
  thread.tidy(AT);
  startedWorker(0).tell({ question: 1, serverId: "srv_a", since: AT });
  startedWorker(0).die();
  thread.tidy(AT);
  answer.resolve([]);
  await answer.promise;
  await new Promise((resolve) => setImmediate(resolve));
  expect(startedWorker(1).got.filter((message) => "question" in message)).toEqual([]);
});

test("calls that the thread has not answered fail when it is closed, which is no fault for the log", async () => {
  const reading = thread.readServer("key-Town");
  const page = thread.archive.findLast([]);
  const closing = thread.archive.close();
  const close = startedWorker(0).got.at(-1);
  if (!close || !("call" in close)) throw new Error("the thread was not closed");
  startedWorker(0).tell({ id: close.id, value: undefined });
  await closing;
  await expect(page).rejects.toThrow(ArchiveUnavailable);
  expect(await reading).toMatchObject({ failure: { code: 0 } });
  // Nor is one that comes later.
  expect(await thread.readServer("key-Town")).toMatchObject({ failure: { code: 0 } });
  expect(logged).toEqual([]);
});
