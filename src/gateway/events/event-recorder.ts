// Records what readings say happened. Readings are judged one server at a time and written in batches; while the archive is
// away, events wait in memory up to a ceiling, and a gap tells of what did not fit.
import {
  CONFIRM_WITHIN_MS,
  isRemoteEntry,
  type LogEntry,
  matchCommands,
} from "../../core/commands/find-confirmations.ts";
import { ArchiveUnavailable, StoreUnavailable } from "../../core/errors.ts";
import type { Element } from "../../core/events/elements.ts";
import type { GameHook } from "../../core/events/game-hook.ts";
import type { FindCommand } from "../../core/events/judge-lists.ts";
import type { Failure } from "../../core/events/judge-state.ts";
import type { GameReading, HashIdentity, IdentifiedReading } from "../../core/events/reading.ts";
import type { Archive, KnownServer } from "../../core/ports/archive.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { CommandQueue } from "../../core/ports/commands.ts";
import type { Log } from "../../core/ports/log.ts";
import type { WatchPlan } from "../../core/readings/watch-plan.ts";
import { createThrottle } from "../../core/throttle.ts";
import { MapLearner } from "../maps/map-learner.ts";
import { AlertJudge } from "./alert-judge.ts";
import type { HookOutcome, KeptReading, Recorder } from "./recorder.ts";
import { type HookInput, type LedgerInput, ServerLedger } from "./server-ledger.ts";
import { type QueueTimer, ServerQueue } from "./server-queue.ts";
import { WaitingHooks } from "./waiting-hooks.ts";

/** More events do not wait in memory; they become a gap. */
export const WAITING_EVENTS_MAX = 10_000;
/** Readings that wait for the archive to be read for the first time, for each server and in all. */
const UNJUDGED_MAX = 10;
const UNJUDGED_TOTAL_MAX = 1_000;
/** The most servers whose events are written in one transaction. */
const BATCH_MAX = 100;
const RETRY_MS = 1_000;
const FAULT_LOG_MS = 60_000;
/** A server without readings for this long is dropped from memory; the archive has what is known of it. */
const IDLE_MS = 600_000;
/** A failure that changes nothing is not recorded, so only now and then we look whether others have recorded. */
const REFRESH_MS = 60_000;

export type EventRecorderDeps = {
  readonly archive: Archive;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  readonly log: Log;
  readonly hash: HashIdentity;
  readonly commands: Pick<CommandQueue, "listSent">;
  readonly planOf: (serverId: string) => WatchPlan;
};

export class EventRecorder implements Recorder {
  readonly #mapLearner: MapLearner;
  readonly #timer: QueueTimer;
  readonly #queues = new Map<string, ServerQueue>();
  /** The queues with readings or events that are not recorded yet. */
  readonly #busy = new Set<ServerQueue>();
  readonly #waitingHooks = new WaitingHooks();
  readonly #throttleLog = createThrottle(FAULT_LOG_MS);
  #running: Promise<void> | undefined;
  /** Resolves when what was busy has been judged and written once more. */
  #round = Promise.withResolvers<void>();
  /** The archive failed at its last use. */
  #isDown = false;
  #fault: unknown;
  /** Lasts after a failure, so that an archive that is away is not asked for each reading. */
  #backoff: Promise<void> | undefined;
  #isStopped = false;
  /** Called with the server of every record that is on disk. */
  onRecorded: ((serverId: string) => void) | undefined;

  constructor(private readonly deps: EventRecorderDeps) {
    this.#mapLearner = new MapLearner(deps.archive, deps.clock, (error) => this.#logFault(error));
    this.#timer = {
      clock: deps.clock,
      sleep: deps.sleep,
      isInUse: (queue) => !this.#isStopped && this.#queues.get(queue.ledger.serverId) === queue,
      onDue: (queue) => {
        this.#busy.add(queue);
        if (!this.#backoff) this.#wake();
      },
    };
  }

  get waitingEvents(): number {
    let waiting = 0;
    for (const { ledger } of this.#busy) waiting += ledger.waitingEvents;
    return waiting;
  }

  /** Whether readings or events wait that are not recorded yet. */
  get hasWaiting(): boolean {
    return this.#busy.size > 0;
  }

  /** Why nothing could be recorded at the last try; undefined when it could. */
  get fault(): unknown {
    return this.#isDown ? this.#fault : undefined;
  }

  takeReading(serverId: string, reading: GameReading | KeptReading): void {
    if ("kept" in reading) throw new Error("only the thread that keeps a reading can record it");
    this.#mapLearner.take(serverId, reading);
    const queue = this.#queueOf(serverId);
    // More than one may be too many, because failures are added without a check.
    while (queue.countReadings() >= UNJUDGED_MAX) this.#makeRoom(queue);
    if (this.#countWaitingReadings() >= UNJUDGED_TOTAL_MAX) this.#makeRoom(queue);
    queue.inputs.push({ reading });
    if (!this.#backoff) this.#wake();
  }

  /** `failure` is what the game API said, or why it could not be asked. */
  takeFailure(serverId: string, failure: Failure, at: number): void {
    const queue = this.#queueOf(serverId);
    const last = queue.inputs.at(-1);
    // One failure after another says nothing new until it is judged.
    if (last && "failure" in last) queue.inputs.pop();
    queue.inputs.push({ failure, at });
    if (!this.#backoff) this.#wake();
  }

  takeTime(serverId: string, at: number): void {
    const known = this.#queues.get(serverId);
    // Not used by this: it would stay in memory for ever.
    const usedAt = known?.usedAt ?? this.deps.clock();
    const queue = this.#queueOf(serverId);
    queue.usedAt = usedAt;
    if (!queue.inputs.some((input) => "passedAt" in input)) queue.inputs.push({ passedAt: at });
    if (!this.#backoff) this.#wake();
  }

  async recordHook(serverId: string, hook: GameHook): Promise<HookOutcome> {
    if (this.#isStopped) throw new ArchiveUnavailable("the recorder has stopped");
    if (this.#isDown) throw toUnavailable(this.#fault);
    const input = { hook };
    const recorded = this.#waitingHooks.add(serverId, input);
    this.#queueOf(serverId).inputs.push(input);
    if (!this.#backoff) this.#wake();
    return recorded;
  }

  /** Forgets a deleted server and deletes its ledger. */
  async removeServer(serverId: string): Promise<void> {
    const queue = this.#queues.get(serverId);
    if (queue) this.#busy.delete(queue);
    this.#waitingHooks.failServer(serverId, new ArchiveUnavailable("the server was deleted"));
    this.#queues.delete(serverId);
    this.#mapLearner.removeServer(serverId);
    await this.deps.archive.removeServer(serverId);
  }

  /** Whether the server is in memory. */
  knows(serverId: string): boolean {
    return this.#queues.has(serverId);
  }

  /** Drops servers that nobody reads from memory. */
  tidy(now: number): void {
    for (const [serverId, queue] of this.#queues) {
      const isIdle = now - queue.usedAt > IDLE_MS && queue.alerts.nextAt === null;
      if (isIdle && !this.#busy.has(queue)) this.#queues.delete(serverId);
    }
  }

  /** Resolves when everything that was taken so far is recorded, or the archive is away. */
  async flush(): Promise<void> {
    const awaited = Array.from(this.#busy);
    this.#wake();
    // Other servers may be busy without an end.
    while (this.#running && awaited.some((queue) => this.#busy.has(queue))) {
      await Promise.race([this.#running, this.#round.promise]);
    }
  }

  /** Records what waits, if the archive answers within this time, and takes nothing more. */
  async stop(withinMs: number): Promise<void> {
    const lastWrites = this.flush().then(() => this.#mapLearner.write());
    await Promise.race([lastWrites, this.deps.sleep(withinMs)]);
    this.#isStopped = true;
  }

  #queueOf(serverId: string): ServerQueue {
    let queue = this.#queues.get(serverId);
    if (!queue) {
      const ledger = new ServerLedger(serverId, this.deps.hash);
      const alerts = new AlertJudge(ledger, this.deps.archive);
      queue = new ServerQueue(ledger, alerts, this.#timer);
      this.#queues.set(serverId, queue);
    }
    queue.usedAt = this.deps.clock();
    this.#busy.add(queue);
    return queue;
  }

  #countWaitingReadings(): number {
    let count = 0;
    for (const queue of this.#busy) count += queue.countReadings();
    return count;
  }

  /** For when the archive is slow: the oldest reading or failure is judged without it, or dropped when that cannot be done. */
  #makeRoom(queue: ServerQueue): void {
    const { ledger } = queue;
    const oldest = queue.takeOldestReading();
    if (!oldest) return;
    try {
      if (!("reading" in oldest)) {
        if (ledger.isLoaded) this.#judgeFailure(ledger, oldest.failure, oldest.at);
      } else if (ledger.hasJudged) {
        const { identified } = ledger.identify(oldest.reading);
        this.#finishJudging(ledger, identified, new Set(), () => undefined);
      } else {
        ledger.noteLoss(oldest.reading.at);
      }
    } catch (error) {
      this.#dropInput(ledger, oldest, error);
    }
  }

  /** Nothing but a bug can be the reason. The other readings go on without this one. */
  #dropInput(ledger: ServerLedger, input: LedgerInput, error: unknown): void {
    if ("reading" in input) ledger.noteLoss(input.reading.at);
    if ("hook" in input) this.#waitingHooks.fail(input, error);
    this.#logFault(error);
  }

  /** Those that are judged may still be recorded later; the others are dropped, because whoever sent them was told so. */
  #failAllHooks(error: unknown): void {
    this.#waitingHooks.failAll(toUnavailable(error));
    for (const queue of this.#busy) queue.dropHooks();
  }

  #wake(): void {
    if (this.#running || this.#isStopped) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      // Something may have come after the last look.
      if (!this.#isDown && this.hasWaiting) this.#wake();
    });
  }

  async #run(): Promise<void> {
    try {
      while (this.hasWaiting) {
        const judged = await Promise.allSettled(Array.from(this.#busy, (queue) => this.#judgeInputs(queue)));
        for (const result of judged) if (result.status === "rejected") throw result.reason;
        for (const { ledger } of this.#busy) this.#waitingHooks.settle(ledger.takeRecordedHooks());
        await this.#write();
        await this.#judgeAlerts();
        this.#findDone();
        this.#round.resolve();
        this.#round = Promise.withResolvers();
      }
      this.#isDown = false;
      this.#backoff = undefined;
    } catch (error) {
      this.#isDown = true;
      this.#fault = error;
      for (const { ledger } of this.#busy) ledger.failWriting();
      this.#failAllHooks(error);
      this.#logFault(error);
      this.#backOff();
    }
  }

  #backOff(): void {
    const backoff = this.deps.sleep(RETRY_MS).then(() => {
      // A later failure has begun another.
      if (this.#backoff !== backoff) return;
      this.#backoff = undefined;
      this.#wake();
    });
    this.#backoff = backoff;
  }

  #findDone(): void {
    for (const queue of this.#busy) if (queue.isDone) this.#busy.delete(queue);
  }

  async #judgeInputs(queue: ServerQueue): Promise<void> {
    const { ledger, inputs } = queue;
    if (inputs.length === 0 && !queue.alerts.isDue) return;
    try {
      await this.#load(queue);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      // What is known of this server cannot be read. The other servers are recorded all the same.
      for (const input of inputs.splice(0)) this.#dropInput(ledger, input, error);
      return;
    }
    await this.#prepareAlerts(queue);
    // Only as many as there are now: readings that come faster than the archive answers must not put off the writing for ever.
    let left = inputs.length;
    // An input stays until it is judged: when the archive is slow, it may be taken away meanwhile to make room.
    for (let input = inputs[0]; input && left > 0; input = inputs[0], left--) {
      try {
        if ("reading" in input) await this.#judgeReading(queue, input.reading);
        else if ("hook" in input) await this.#judgeHook(queue, input);
        else if ("passedAt" in input) {
          await this.#refresh(queue);
          ledger.judgeTime(input.passedAt);
          queue.alerts.noteTime();
        } else {
          this.#judgeFailure(ledger, input.failure, input.at);
          await this.#refresh(queue);
        }
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error;
        this.#dropInput(ledger, input, error);
      }
      if (inputs[0] === input) inputs.shift();
    }
    queue.timeCalls();
  }

  async #load(queue: ServerQueue): Promise<void> {
    const { ledger, alerts } = queue;
    if (ledger.isLoaded) return;
    ledger.load(await this.deps.archive.load(ledger.serverId));
    alerts.noteLoaded();
    queue.comparedAt = this.deps.clock();
    this.#isDown = false;
  }

  /** Where nothing is recorded, what others have recorded, and a change of the rules of alerts, would not be noticed. */
  async #refresh(queue: ServerQueue): Promise<void> {
    const { archive, clock } = this.deps;
    const { ledger } = queue;
    const now = clock();
    if (ledger.hasDraft || Math.abs(now - queue.comparedAt) < REFRESH_MS) return;
    const known = await archive.load(ledger.serverId);
    queue.comparedAt = now;
    if (ledger.isOutdated(known)) this.#takeKnown(queue, known, now);
    else queue.alerts.noteTime();
  }

  /** A bug there must keep no event from being recorded. */
  async #prepareAlerts({ alerts }: ServerQueue): Promise<void> {
    try {
      await alerts.prepare();
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      this.#logFault(error);
    }
  }

  async #judgeAlerts(): Promise<void> {
    const { clock, planOf } = this.deps;
    const due = Array.from(this.#busy).filter(({ alerts }) => alerts.isDue);
    const judged = due.map(async (queue) => {
      const { alerts, ledger } = queue;
      try {
        await alerts.judge(clock(), planOf(ledger.serverId).intervalMs);
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error;
        this.#logFault(error);
      }
      queue.timeAlerts();
    });
    for (const result of await Promise.allSettled(judged)) if (result.status === "rejected") throw result.reason;
  }

  async #judgeReading({ ledger, inputs }: ServerQueue, reading: GameReading): Promise<void> {
    const [input] = inputs;
    const { identified, unknown } = ledger.identify(reading);
    const recorded = await this.#findRecorded(ledger, unknown);
    const findCommand = await this.#findCommands(ledger.serverId, identified, recorded);
    if (inputs[0] === input) this.#finishJudging(ledger, identified, recorded, findCommand);
  }

  async #judgeHook(queue: ServerQueue, input: HookInput): Promise<void> {
    const { ledger } = queue;
    const identities = ledger.identifyHook(input.hook).events.flatMap(({ identity, end }) => [identity, end]);
    const recorded =
      identities.length === 0 ? new Set<string>() : await this.deps.archive.findRecorded(ledger.serverId, identities);
    // A reading of another game server may have been judged meanwhile, to make room.
    const isRepeated = ledger.judgeHook(input, ledger.identifyHook(input.hook), recorded);
    if (isRepeated) this.#waitingHooks.noteRepeated(input);
  }

  #finishJudging(
    ledger: ServerLedger,
    identified: IdentifiedReading,
    recorded: ReadonlySet<string>,
    findCommand: FindCommand,
  ): void {
    const { clock, planOf } = this.deps;
    const inputs = { ...planOf(ledger.serverId), now: clock(), findCommand };
    ledger.judge(identified, recorded, inputs, this.#countRoom());
  }

  /** Alone, a reading is never too large while the archive answers: otherwise it would never be recorded. */
  #countRoom(): number {
    const waiting = this.waitingEvents;
    return waiting === 0 && !this.#isDown ? Number.POSITIVE_INFINITY : WAITING_EVENTS_MAX - waiting;
  }

  #judgeFailure(ledger: ServerLedger, failure: Failure, at: number): void {
    ledger.judgeFailure({ at, failure, ...this.deps.planOf(ledger.serverId) });
  }

  /**
   * While the archive is away, entries that are not in memory are taken for new; it records none of them twice. Not before one
   * reading was judged: without any known entry every list would seem to have a gap.
   */
  async #findRecorded(ledger: ServerLedger, identities: readonly string[]): Promise<ReadonlySet<string>> {
    if (identities.length === 0 || (this.#isDown && ledger.hasJudged)) return new Set();
    return this.deps.archive.findRecorded(ledger.serverId, identities);
  }

  /** The commands of ours among the new entries of the command log. */
  async #findCommands(
    serverId: string,
    { reading, lists }: IdentifiedReading,
    recorded: ReadonlySet<string>,
  ): Promise<FindCommand> {
    const isNew = lists.CommandLogs?.some(({ element, identity }) => {
      return !recorded.has(identity) && isRemoteEntry(element as LogEntry);
    });
    if (!isNew) return () => undefined;
    try {
      const sent = await this.deps.commands.listSent(serverId, reading.at - CONFIRM_WITHIN_MS);
      const matches = matchCommands(sent, (reading.sections.CommandLogs ?? []) as (Element & LogEntry)[]);
      return (element) => matches.get(element);
    } catch (error) {
      // The entry is recorded without the id: losing it would be worse.
      if (error instanceof StoreUnavailable) return () => undefined;
      throw error;
    }
  }

  async #write(): Promise<void> {
    const { archive, clock } = this.deps;
    const now = clock();
    const queues = Array.from(this.#busy).filter(({ ledger }) => ledger.hasDraft);
    const batch = queues.slice(0, BATCH_MAX).flatMap((queue) => {
      const record = queue.ledger.startWriting(now);
      return record ? [{ queue, record }] : [];
    });
    if (batch.length === 0) return;
    const outcomes = await archive.record(batch.map(({ record }) => record));
    this.#isDown = false;
    for (const [place, { queue }] of batch.entries()) {
      const { ledger } = queue;
      const outcome = outcomes[place];
      if (outcome && "version" in outcome) {
        ledger.finishWriting(outcome.version);
        queue.alerts.noteRecorded(outcome.last);
        this.onRecorded?.(ledger.serverId);
      } else {
        await this.#rebase(queue, now);
      }
      this.#waitingHooks.settle(ledger.takeRecordedHooks());
    }
  }

  async #rebase(queue: ServerQueue, now: number): Promise<void> {
    const known = await this.deps.archive.load(queue.ledger.serverId);
    this.#isDown = false;
    this.#takeKnown(queue, known, now);
  }

  #takeKnown({ ledger, alerts, inputs }: ServerQueue, known: KnownServer, now: number): void {
    alerts.noteLoaded();
    // Back among the inputs, so that they are kept when the archive fails before they are judged.
    inputs.unshift(...ledger.rebase(known, now));
  }

  #logFault(error: unknown): void {
    const { log, clock } = this.deps;
    this.#throttleLog(clock(), (unlogged) => {
      const fields = { err: error, unlogged };
      if (error instanceof StoreUnavailable) log.warn(fields, "the archive is not available; events wait in memory");
      else log.error(fields, "events could not be recorded");
    });
  }
}

function toUnavailable(error: unknown): unknown {
  if (error instanceof ArchiveUnavailable || !(error instanceof StoreUnavailable)) return error;
  return new ArchiveUnavailable(error.message, { cause: error });
}
