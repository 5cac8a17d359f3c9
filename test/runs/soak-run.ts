// The engine of `npm run soak`: a day's mix of requests at a steady rate, and a look at the process every few seconds.

import { createRandom } from "../random.ts";
import { stop } from "../run-gatehouse.ts";
import type { Tools, Verdict } from "./long-run.ts";
import { findWarmUpMs, judgeGrowth, type ProcessSample, takeSample } from "./process-samples.ts";
import { SoakLoad } from "./soak-load.ts";
import { type SoakStage, type SoakTown, setSoakStage } from "./soak-stage.ts";
import { SoakStreams } from "./soak-streams.ts";

const TICK_MS = 20;
/** Requests that a late tick would have to catch up are dropped, so that a stalled machine is not flooded afterwards. */
const CATCH_UP_MAX_MS = 100;
const IN_FLIGHT_MAX = 150;
/** A tick so late means that the machine stood still. What failed within the time after it is explained by that. */
const STALL_MS = 2_000;
const STALL_EXCUSES_MS = 10_000;
const SAMPLE_MAX_MS = 5_000;
const SAMPLES_MIN = 100;
/** Longer than any request of the mix may take. */
const DRAIN_MS = 40_000;
const PROBLEMS_MAX = 1_000;
const ERROR_LEVEL = 50;

export type SoakOptions = {
  /** How long it is judged; a warm-up comes before. */
  readonly durationMs: number;
  /** Requests in a second. */
  readonly rate: number;
  /** A town in which days pass in minutes; an ordinary one by default. */
  readonly town?: SoakTown;
};

export async function runSoak(options: SoakOptions, tools: Tools): Promise<Verdict> {
  // A key is then used once a second, which is half of what it may.
  const stage = await setSoakStage(tools.seed, options.rate, options.town);
  return await new Soak(stage, options, tools).run();
}

class Soak {
  readonly #stage: SoakStage;
  readonly #options: SoakOptions;
  readonly #tools: Tools;
  readonly #load: SoakLoad;
  readonly #problems: string[] = [];
  readonly #samples: ProcessSample[] = [];
  readonly #startedAt = performance.now();
  readonly #warmUpMs: number;
  #inFlight = 0;
  #requests = 0;
  #dropped = 0;
  #errors = 0;
  #excused = 0;
  #stalls = 0;
  #stalledAt = Number.NEGATIVE_INFINITY;

  constructor(stage: SoakStage, options: SoakOptions, tools: Tools) {
    this.#stage = stage;
    this.#options = options;
    this.#tools = tools;
    this.#load = new SoakLoad(stage, createRandom(tools.seed));
    this.#warmUpMs = findWarmUpMs(options.durationMs);
  }

  async run(): Promise<Verdict> {
    const { gatehouse, receiver } = this.#stage;
    const streams = new SoakStreams(this.#stage, (problem) => this.#fail(problem));
    await this.#sendAll();
    streams.close();
    const drainUntil = performance.now() + (this.#tools.stopped.aborted ? 0 : DRAIN_MS);
    while (this.#inFlight > 0 && performance.now() < drainUntil) await Bun.sleep(TICK_MS);
    if (this.#inFlight > 0) this.#problems.push(`${this.#inFlight} requests were not answered at the end`);
    const exitCode = await stop(gatehouse);
    if (exitCode !== 0) this.#problems.push(`Gatehouse ended with ${exitCode}`);
    this.#problems.push(...listErrors(gatehouse.stderr));
    const { problems: grown, ...growth } = judgeGrowth(this.#samples, this.#options.durationMs);
    const { events } = streams;
    if (events === 0) this.#problems.push("no event came over the open streams");
    const figures = {
      requests: this.#requests,
      dropped: this.#dropped,
      errors: this.#errors,
      stalls: this.#stalls,
      excused: this.#excused,
      ...growth,
      events,
      commands: this.#load.commands,
      webhookRequests: receiver.requests,
    };
    return { summary: describe(figures), figures, problems: [...grown, ...this.#problems] };
  }

  async #sendAll(): Promise<void> {
    const { durationMs, rate } = this.#options;
    const sampleMs = Math.min(SAMPLE_MAX_MS, durationMs / SAMPLES_MIN);
    let tickedAt = this.#elapsed();
    let sampledAt = Number.NEGATIVE_INFINITY;
    let due = 0;
    while (this.#elapsed() < this.#warmUpMs + durationMs && !this.#tools.stopped.aborted) {
      await Bun.sleep(TICK_MS);
      const now = this.#elapsed();
      const passedMs = now - tickedAt;
      tickedAt = now;
      if (passedMs > STALL_MS) {
        this.#stalls++;
        this.#stalledAt = now;
      }
      this.#dropped += Math.floor((Math.max(0, passedMs - CATCH_UP_MAX_MS) * rate) / 1000);
      due += (Math.min(passedMs, CATCH_UP_MAX_MS) * rate) / 1000;
      for (; due >= 1; due--) {
        if (this.#inFlight < IN_FLIGHT_MAX) void this.#sendOne();
        else this.#dropped++;
      }
      if (now - sampledAt < sampleMs) continue;
      sampledAt = now;
      await this.#sample(now);
    }
  }

  async #sample(now: number): Promise<void> {
    const { gatehouse, receiver } = this.#stage;
    const sample = await takeSample(gatehouse, this.#stage.folder, now - this.#warmUpMs);
    this.#samples.push(sample);
    // What was checked already is not needed again.
    receiver.accepted.splice(0);
    const part = sample.atMs < 0 ? "warming up, " : "";
    const text = `${part}${this.#requests} requests, ${this.#errors} errors, ${Math.round(sample.residentMb)} MB, ${Math.round(sample.diskMb)} MB on disk, ${sample.descriptors} descriptors`;
    this.#tools.progress(now / (this.#warmUpMs + this.#options.durationMs), text);
  }

  async #sendOne(): Promise<void> {
    this.#inFlight++;
    this.#requests++;
    try {
      await this.#load.sendOne();
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error));
    } finally {
      this.#inFlight--;
    }
  }

  #fail(problem: string): void {
    if (this.#elapsed() - this.#stalledAt < STALL_EXCUSES_MS) {
      this.#excused++;
      return;
    }
    this.#errors++;
    if (this.#problems.length < PROBLEMS_MAX) this.#problems.push(problem);
  }

  #elapsed(): number {
    return performance.now() - this.#startedAt;
  }
}

/** The lines of a log that tell of an error. */
export function listErrors(log: string): string[] {
  return log.split("\n").filter((line) => Number(/^\{"level":(\d+)/.exec(line)?.[1]) >= ERROR_LEVEL);
}

function describe(figures: Readonly<Record<string, number>>): string {
  const {
    requests,
    dropped,
    errors,
    excused,
    memoryStartMb,
    memoryEndMb,
    descriptorsStart,
    descriptorsEnd,
    diskStartMb,
    diskEndMb,
  } = figures;
  return `${requests} requests (${dropped} more left out on a busy machine), ${errors} errors (${excused} more while the machine stood still), ${memoryStartMb} MB then ${memoryEndMb} MB, on disk ${diskStartMb} MB then ${diskEndMb} MB, ${descriptorsStart} descriptors then ${descriptorsEnd}`;
}
