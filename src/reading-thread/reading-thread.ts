// The side of the gateway: the game API and the recorder as it uses them, both at work in the reading thread. A thread that
// dies is started again with the next call; what it had not recorded is found in the next readings, or lies in a gap.
import { ArchiveUnavailable, StartRefused, StoreUnavailable } from "../core/errors.ts";
import type { GameHook } from "../core/events/game-hook.ts";
import type { Failure } from "../core/events/judge-state.ts";
import type { GameReading } from "../core/events/reading.ts";
import type { Archive } from "../core/ports/archive.ts";
import { type ArchiveMethod, makeArchive } from "../core/ports/archive-calls.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { CommandQueue } from "../core/ports/commands.ts";
import type { Log } from "../core/ports/log.ts";
import type { Delivery, Upstream, UpstreamFailure, UpstreamReading } from "../core/ports/upstream.ts";
import { NO_CODE } from "../core/readings/upstream-codes.ts";
import type { WatchPlan } from "../core/readings/watch-plan.ts";
import { checkEveryMs, RunningTime } from "../core/running-time.ts";
import { createThrottle } from "../core/throttle.ts";
import type { DatabaseState } from "../database/archive/open-archive.ts";
import type { HookOutcome, KeptReading, Recorder } from "../gateway/events/recorder.ts";
import { ArchiveMeter } from "../gateway/meters.ts";
import type { Call, CallName, Calls, Fault, FromThread, News, ThreadSettings, ToThread } from "./messages.ts";

/** The thread keeps its own deadlines. This one is for a thread that does not run at all. */
const EXTRA_MS = 5_000;
/** No query of the archive is waited for longer than 5 s. The thread keeps to that; this one is for a thread that hangs. */
const QUERY_MS = 6_000;
/** `flush`, `removeServer` and the check at the start make more than one query. */
const QUERIES_MS = 20_000;
/** `stop` keeps to its own time, when the thread runs. */
const STOP_EXTRA_MS = 500;
/** A start does not wait longer for a thread, which then comes later. */
const READY_MS = 5_000;
/** Closing does not wait longer for an archive that hangs. What is not written then is read again after the next start. */
const CLOSE_MS = 2_000;
const STOPPED = "the reading thread has stopped";
const ARCHIVE_UNUSABLE = "the archive cannot be used; events wait in memory until it can";
const FAULT_LOG_MS = 60_000;

const THREAD_ENDED: UpstreamFailure = {
  code: NO_CODE,
  message: "The game API's answer was lost inside Gatehouse.",
  isRateLimit: false,
};
const THREAD_MISSING: UpstreamFailure = {
  code: NO_CODE,
  message: "Gatehouse could not call the game API.",
  isRateLimit: false,
};

export type ReadingThreadDeps = {
  readonly startThread: () => Worker;
  readonly settings: ThreadSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly commands: Pick<CommandQueue, "listSent">;
};

type Waiting = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  timer: NodeJS.Timeout;
};

export class ReadingThread implements Upstream, Recorder {
  readonly #waiting = new Map<number, Waiting>();
  readonly #throttleLog = createThrottle(FAULT_LOG_MS);
  #worker: Worker | undefined;
  #lastId = 0;
  #database: DatabaseState | undefined;
  #isStopped = false;
  /** Messages that wait for `begin`. Undefined when none has to. */
  #held: (Call | News)[] | undefined;
  readonly #ready = Promise.withResolvers<void>();
  /** A prepared thread has nothing to finish until it has said something, so that no stop waits for its loading. */
  #isLoading = false;
  waitingEvents = 0;
  fault: unknown;
  /** Counts every call of the archive, also those that the thread makes for the recorder. */
  readonly meter = new ArchiveMeter();
  readonly archive: Archive = makeArchive((method, args) => this.#useArchive(method, args));
  onRecorded: ((serverId: string) => void) | undefined;
  /** How a server is watched. Set before the first reading. */
  planOf: ((serverId: string) => WatchPlan) | undefined;

  constructor(private readonly deps: ReadingThreadDeps) {}

  /**
   * Starts the thread and keeps its work until `begin`, so that loading it delays no start. Resolves when the thread is there:
   * one that is started while no file descriptor is free would end the process. One that cannot be started comes later.
   */
  async prepare(): Promise<void> {
    this.#held = [];
    try {
      this.#start();
      this.#isLoading = true;
    } catch (error) {
      return this.#logFault(error);
    }
    const timer = setTimeout(this.#ready.resolve, READY_MS);
    await this.#ready.promise;
    clearTimeout(timer);
  }

  /** Gives a prepared thread its work, and checks the archive. */
  begin(): void {
    if (!this.#held) return;
    this.#release();
    void this.checkArchive().catch((error) => this.#logFault(error));
  }

  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    try {
      for (const message of held) this.#post(message);
    } catch (error) {
      this.#logFault(error);
      this.#failCalls(new ArchiveUnavailable("the reading thread could not be started", { cause: error }));
    }
  }

  async readServer(serverKey: string): Promise<UpstreamReading> {
    try {
      return await this.#call("readServer", this.#callMs, serverKey);
    } catch (error) {
      this.#logFault(error);
      return { hint: null, failure: THREAD_ENDED };
    }
  }

  async sendCommand(serverKey: string, text: string): Promise<Delivery> {
    let delivery: Promise<Delivery>;
    try {
      delivery = this.#send("sendCommand", this.#callMs, serverKey, text);
    } catch (error) {
      this.#logFault(error);
      return { hint: null, outcome: "unsent", failure: THREAD_MISSING };
    }
    try {
      return await delivery;
    } catch (error) {
      this.#logFault(error);
      return { hint: null, outcome: "lost", failure: THREAD_ENDED };
    }
  }

  takeReading(serverId: string, reading: GameReading | KeptReading): void {
    this.#tell({ reading, serverId, plan: this.#getPlan(serverId) });
  }

  takeFailure(serverId: string, failure: Failure, at: number): void {
    const { code, message } = failure;
    this.#tell({ failure: { code, message }, at, serverId, plan: this.#getPlan(serverId) });
  }

  takeTime(serverId: string, at: number): void {
    this.#tell({ passedAt: at, serverId, plan: this.#getPlan(serverId) });
  }

  async recordHook(serverId: string, hook: GameHook): Promise<HookOutcome> {
    return this.#call("recordHook", QUERY_MS, serverId, hook, this.#getPlan(serverId));
  }

  /** For an archive in the store's database. */
  learnDatabase(database: DatabaseState): void {
    this.#database = database;
    if (this.#worker) this.#tell({ database });
  }

  /** Throws StartRefused when the archive can never be used as it is. */
  async checkArchive(): Promise<void> {
    const verdict = await this.#call("checkArchive", QUERIES_MS).catch((error) => {
      // A thread that is missing now may be there with the next call.
      if (error instanceof ArchiveUnavailable) return { problem: error.message };
      throw error;
    });
    if ("refusal" in verdict) throw new StartRefused(verdict.refusal, 2);
    const { problem: reason } = verdict;
    if (reason !== undefined && !this.#isStopped) this.deps.log.error({ reason }, ARCHIVE_UNUSABLE);
  }

  async removeServer(serverId: string): Promise<void> {
    await this.#call("removeServer", QUERIES_MS, serverId);
  }

  tidy(now: number): void {
    this.#tell({ tidy: now });
  }

  async flush(): Promise<void> {
    await this.#call("flush", QUERIES_MS);
  }

  async stop(withinMs: number): Promise<void> {
    if (this.#worker && !this.#isLoading) await this.#call("stop", withinMs + STOP_EXTRA_MS, withinMs);
  }

  /** Closing the archive ends the thread. */
  async #useArchive(method: ArchiveMethod, args: readonly unknown[]): Promise<unknown> {
    if (method !== "close") return this.#call("archive", QUERY_MS, method, args);
    this.#release();
    const closing = this.#worker && !this.#isLoading && this.#call("archive", CLOSE_MS, method, args);
    this.#isStopped = true;
    try {
      return await closing;
    } finally {
      this.#worker?.terminate();
      this.#worker = undefined;
      this.#failCalls(new ArchiveUnavailable(STOPPED));
    }
  }

  get #callMs(): number {
    return this.deps.settings.upstream.timeoutMs + EXTRA_MS;
  }

  #getPlan(serverId: string): WatchPlan {
    if (!this.planOf) throw new Error("the reading thread does not know how servers are watched");
    return this.planOf(serverId);
  }

  /** A thread that cannot be started, or has stopped, is a rejection like any other. */
  async #call<Name extends CallName>(
    call: Name,
    waitMs: number,
    ...args: Calls[Name]["args"]
  ): Promise<Calls[Name]["value"]> {
    return this.#send(call, waitMs, ...args);
  }

  /** Throws when the thread has certainly not got the call. */
  #send<Name extends CallName>(
    call: Name,
    waitMs: number,
    ...args: Calls[Name]["args"]
  ): Promise<Calls[Name]["value"]> {
    if (this.#isStopped) throw new ArchiveUnavailable(STOPPED);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const id = ++this.#lastId;
    this.#post({ id, call, args } as Call);
    this.#waiting.set(id, { resolve, reject, timer: this.#startDeadline(id, call, waitMs) });
    return promise as Promise<Calls[Name]["value"]>;
  }

  #startDeadline(id: number, call: CallName, waitMs: number): NodeJS.Timeout {
    // An answer that has arrived while this thread was held up is still read.
    const everyMs = checkEveryMs(waitMs);
    const running = new RunningTime(performance.now(), everyMs);
    const timer = setInterval(() => {
      if (running.at(performance.now()) < waitMs) return;
      clearInterval(timer);
      if (call === "sendCommand") void this.#waitOnIfAlive(id, waitMs);
      else this.#giveUp(id);
    }, everyMs);
    return timer;
  }

  /** A thread that is only slow still says what became of the command: it gives the call up itself when its time is over. */
  async #waitOnIfAlive(id: number, waitMs: number): Promise<void> {
    const isAlive = await this.#call("ping", waitMs).then(
      () => true,
      () => false,
    );
    const waiting = this.#waiting.get(id);
    if (waiting && isAlive) waiting.timer = this.#startDeadline(id, "sendCommand", waitMs);
    else this.#giveUp(id);
  }

  #giveUp(id: number): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.reject(new ArchiveUnavailable("the reading thread did not answer in time"));
  }

  /** Never throws: no caller waits for a result. */
  #tell(news: News): void {
    if (this.#isStopped && !this.#worker) return;
    try {
      this.#post(news);
    } catch (error) {
      this.#logFault(error);
    }
  }

  #post(message: Call | News): void {
    if (this.#held) this.#held.push(message);
    else this.#postTo(this.#worker ?? this.#start(), message);
  }

  #postTo(worker: Worker, message: Call | News): void {
    worker.postMessage({ ...message, now: this.deps.clock() } satisfies ToThread);
  }

  #start(): Worker {
    const worker = this.#startThread();
    worker.onmessage = ({ data }: MessageEvent<FromThread>) => this.#take(worker, data);
    worker.onerror = ({ message }) => this.#end(worker, message);
    worker.addEventListener("close", () => this.#end(worker, "it was closed"));
    this.#worker = worker;
    this.#postTo(worker, { open: this.deps.settings });
    if (this.#database) this.#postTo(worker, { database: this.#database });
    // The thread must not keep a finished process alive.
    worker.unref();
    return worker;
  }

  #startThread(): Worker {
    try {
      return this.deps.startThread();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ArchiveUnavailable(`the reading thread could not be started: ${reason}`, { cause: error });
    }
  }

  #take(worker: Worker, message: FromThread): void {
    // Numbers of questions begin anew with each thread, and so does what waits in it.
    if (worker !== this.#worker) return;
    if ("isReady" in message) {
      this.#ready.resolve();
      return;
    }
    this.#isLoading = false;
    if ("id" in message) this.#settle(message);
    else if ("recorded" in message) this.onRecorded?.(message.recorded);
    else if ("question" in message) void this.#answer(worker, message);
    else if ("log" in message) this.deps.log[message.log](message.fields, message.message);
    else if ("counted" in message) this.meter.countEvents(message.counted);
    else if ("waitingEvents" in message) {
      this.waitingEvents = message.waitingEvents;
      this.fault = message.recorderFault && toError(message.recorderFault);
    } else if (message.fault) this.meter.noteFailure(toError(message.fault));
    else this.meter.noteAnswer();
  }

  #settle(message: Extract<FromThread, { id: number }>): void {
    const waiting = this.#waiting.get(message.id);
    if (!waiting) return;
    this.#waiting.delete(message.id);
    clearInterval(waiting.timer);
    if ("value" in message) waiting.resolve(message.value);
    else waiting.reject(toError(message.error));
  }

  async #answer(
    worker: Worker,
    { question, serverId, since }: Extract<FromThread, { question: number }>,
  ): Promise<void> {
    const sent = await this.deps.commands.listSent(serverId, since).catch((error) => {
      if (!(error instanceof StoreUnavailable)) this.#logFault(error);
      return undefined;
    });
    if (worker === this.#worker) this.#tell({ question, sent });
  }

  #end(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    worker.terminate();
    this.#ready.resolve();
    this.#isLoading = false;
    // What waited in the thread is gone with it.
    this.waitingEvents = 0;
    this.fault = undefined;
    const error = new ArchiveUnavailable(`the reading thread has ended: ${reason}`);
    this.#logFault(error);
    this.#failCalls(error);
  }

  #failCalls(error: Error): void {
    for (const { reject, timer } of this.#waiting.values()) {
      clearInterval(timer);
      reject(error);
    }
    this.#waiting.clear();
  }

  #logFault(error: unknown): void {
    // What a stop cuts off is no fault.
    if (this.#isStopped) return;
    const { log, clock } = this.deps;
    this.#throttleLog(clock(), (unlogged) => {
      log.error({ err: error, unlogged }, "the reading thread failed");
    });
  }
}

function toError({ message, isUnavailable }: Fault): Error {
  return isUnavailable ? new ArchiveUnavailable(message) : new Error(message);
}
