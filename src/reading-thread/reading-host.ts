// The side of the thread: calls the game API, keeps what it answered until the gateway says what to do with it, and records
// events. So neither parsing nor comparing takes time from requests.
import { StoreUnavailable } from "../core/errors.ts";
import type { GameReading } from "../core/events/reading.ts";
import type { Archive } from "../core/ports/archive.ts";
import { callArchive } from "../core/ports/archive-calls.ts";
import type { SentCommand } from "../core/ports/commands.ts";
import type { ServerContent, Upstream, UpstreamReading } from "../core/ports/upstream.ts";
import type { WatchPlan } from "../core/readings/watch-plan.ts";
import {
  type ArchivePlace,
  checkArchive,
  type DatabaseState,
  type openArchive,
} from "../database/archive/open-archive.ts";
import { EventRecorder } from "../gateway/events/event-recorder.ts";
import { createIdentityHash } from "../gateway/events/identity-hash.ts";
import { type ArchiveObserver, meterArchive } from "../gateway/events/metered-archive.ts";
import type { KeptReading } from "../gateway/events/recorder.ts";
import { UpstreamClient } from "../upstream/client.ts";
import type { Call, Fault, FromThread, LogLevel, News, ThreadSettings, ToThread } from "./messages.ts";

/** Readings that the gateway has not asked for. It asks at once, so more are left only when it gave them up. */
const KEPT_MAX = 200;
const NOT_WATCHED: WatchPlan = { isWatched: false, intervalMs: 0 };

export type OpenArchive = (
  place: ArchivePlace,
  findState: () => DatabaseState | undefined,
) => ReturnType<typeof openArchive>;
type Tell = (message: FromThread) => void;
type Parts = {
  readonly upstream: Upstream;
  readonly opened: ReturnType<OpenArchive>;
  /** The same, with every call counted. */
  readonly archive: Archive;
  readonly recorder: EventRecorder;
};

export class ReadingHost {
  readonly #kept = new Map<number, ServerContent>();
  readonly #plans = new Map<string, WatchPlan>();
  readonly #questions = new Map<number, (sent: readonly SentCommand[] | undefined) => void>();
  #parts: Parts | undefined;
  /** Undefined when the archive is in no database of the store. */
  #database: DatabaseState | undefined;
  #skewMs = 0;
  #lastQuestion = 0;
  #told: Pick<EventRecorder, "waitingEvents" | "fault"> = { waitingEvents: 0, fault: undefined };
  /** At first the gateway may still know of a fault that an earlier thread told. */
  #isFaultTold = true;

  readonly #observer: ArchiveObserver = {
    noteAnswer: () => {
      if (this.#isFaultTold) this.tell({ fault: undefined });
      this.#isFaultTold = false;
    },
    noteFailure: (error) => {
      this.#isFaultTold = true;
      this.tell({ fault: describeFault(error) });
    },
    countEvents: (events) => {
      if (events.length === 0) return;
      this.tell({
        counted: events.map(({ type, source, data }) => ({ type, source, data: type === "gap" ? data : "" })),
      });
    },
  };

  constructor(
    private readonly openArchive: OpenArchive,
    private readonly tell: Tell,
  ) {}

  take(message: ToThread): void {
    this.#skewMs = message.now - Date.now();
    if ("call" in message) void this.#answer(message);
    else this.#learn(message);
  }

  #learn(news: News): void {
    if ("open" in news) this.#parts = this.#open(news.open);
    else if ("database" in news) this.#learnDatabase(news.database);
    else if ("question" in news) this.#settleQuestion(news.question, news.sent);
    else if ("tidy" in news) this.#tidy(news.tidy);
    else {
      this.#plans.set(news.serverId, news.plan);
      const { recorder } = this.#getParts();
      if ("failure" in news) recorder.takeFailure(news.serverId, news.failure, news.at);
      else if ("passedAt" in news) recorder.takeTime(news.serverId, news.passedAt);
      else {
        const reading = this.#unpack(news.reading);
        if (reading) recorder.takeReading(news.serverId, reading);
      }
      this.#tellState();
    }
  }

  #learnDatabase(database: DatabaseState): void {
    this.#database = database;
    const { opened } = this.#getParts();
    if (!database.isUp && "reset" in opened) opened.reset();
  }

  async #answer(call: Call): Promise<void> {
    const { id } = call;
    try {
      this.tell({ id, value: await this.#run(call) });
    } catch (error) {
      this.tell({ id, error: describeFault(error) });
    }
  }

  async #run({ id, call, args }: Call): Promise<unknown> {
    const { upstream, opened, archive, recorder } = this.#getParts();
    switch (call) {
      case "readServer":
        return this.#keep(id, await upstream.readServer(...args));
      case "sendCommand":
        return upstream.sendCommand(...args);
      case "archive":
        return callArchive(archive, ...args);
      case "checkArchive":
        return checkArchive(opened);
      case "recordHook": {
        const [serverId, hook, plan] = args;
        this.#plans.set(serverId, plan);
        return recorder.recordHook(serverId, hook);
      }
      case "removeServer":
        this.#plans.delete(args[0]);
        return recorder.removeServer(...args);
      case "flush":
        return recorder.flush();
      case "ping":
        return undefined;
      case "stop":
        return recorder.stop(...args);
    }
  }

  #open({ upstream, archive: settings, secret }: ThreadSettings): Parts {
    const clock = () => Date.now() + this.#skewMs;
    const opened = this.openArchive(settings, () => this.#database);
    const archive = meterArchive(opened, this.#observer);
    const recorder = new EventRecorder({
      archive,
      clock,
      sleep: Bun.sleep,
      log: {
        debug: (fields, message) => this.#log("debug", fields, message),
        info: (fields, message) => this.#log("info", fields, message),
        warn: (fields, message) => this.#log("warn", fields, message),
        error: (fields, message) => this.#log("error", fields, message),
      },
      hash: createIdentityHash(secret, clock),
      commands: { listSent: (serverId, since) => this.#askSent(serverId, since) },
      planOf: (serverId) => this.#plans.get(serverId) ?? NOT_WATCHED,
    });
    recorder.onRecorded = (serverId) => {
      this.#tellState();
      this.tell({ recorded: serverId });
    };
    return { upstream: new UpstreamClient({ ...upstream, clock }), opened, archive, recorder };
  }

  /** Under the number of the call, which no later thread uses again. */
  #keep(kept: number, reading: UpstreamReading): UpstreamReading {
    if (!("parts" in reading) || "kept" in reading.content) return reading;
    this.#kept.set(kept, reading.content);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest);
    return { ...reading, content: { kept } };
  }

  #unpack(reading: GameReading | KeptReading): GameReading | undefined {
    if (!("kept" in reading)) return reading;
    const { kept, at, gameServer } = reading;
    const content = this.#kept.get(kept);
    this.#kept.delete(kept);
    return content && { ...content, at, gameServer, offline: null };
  }

  /** A server that is read again comes with its plan. */
  #tidy(now: number): void {
    const { recorder } = this.#getParts();
    recorder.tidy(now);
    for (const serverId of this.#plans.keys()) if (!recorder.knows(serverId)) this.#plans.delete(serverId);
  }

  /** The queue of commands is the gateway's. */
  async #askSent(serverId: string, since: number): Promise<readonly SentCommand[]> {
    const question = ++this.#lastQuestion;
    const { promise, resolve } = Promise.withResolvers<readonly SentCommand[] | undefined>();
    this.#questions.set(question, resolve);
    this.tell({ question, serverId, since });
    const sent = await promise;
    if (!sent) throw new StoreUnavailable("the commands could not be listed");
    return sent;
  }

  #settleQuestion(question: number, sent: readonly SentCommand[] | undefined): void {
    this.#questions.get(question)?.(sent);
    this.#questions.delete(question);
  }

  #tellState(): void {
    const { waitingEvents, fault } = this.#getParts().recorder;
    const isSame = waitingEvents === this.#told.waitingEvents && fault === this.#told.fault;
    if (isSame) return;
    this.#told = { waitingEvents, fault };
    this.tell({ waitingEvents, recorderFault: fault === undefined ? undefined : describeFault(fault) });
  }

  #log(log: LogLevel, fields: object, message: string): void {
    this.#tellState();
    this.tell({ log, fields, message });
  }

  #getParts(): Parts {
    if (!this.#parts) throw new Error("the reading thread was not opened");
    return this.#parts;
  }
}

/** Of a bug the stack is told, because the gateway logs it. */
function describeFault(error: unknown): Fault {
  if (error instanceof StoreUnavailable) return { message: error.message, isUnavailable: true };
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message, isUnavailable: false };
}
