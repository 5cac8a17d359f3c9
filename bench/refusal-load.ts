// A fair load of refusals: keys that are over their limit when the round begins, and stay below the spam block until it ends.
import { ERRORS } from "../src/core/errors.ts";
import { LIMIT_PER_WINDOW } from "../src/core/rate-limit.ts";
import { type Load, type Measured, measureLoad, putLoad } from "./load.ts";
import type { Cores } from "./machine.ts";
import { ask } from "./same-answers.ts";
import { CONNECTIONS, READ_KEYS, REFUSAL_KEYS, type Settings } from "./settings.ts";
import type { Stage } from "./stage.ts";

/** Of the 400 that a key may exceed its limit by before Gatehouse blocks it, the part that a round should use. */
const EXCESS_USED = 200;
const USE_UP_SECONDS_MAX = 30;
/** A machine that suddenly becomes faster brings keys to the block; then the round is done again with fresh ones. */
const REPEATS_MAX = 3;
/** Fresh ones, because the others may still be in their minute. The last key of all was used up when the answers were compared. */
const KEYS_AT_A_TIME = Math.floor((REFUSAL_KEYS - 1) / (1 + REPEATS_MAX));

export class RefusalLoad {
  readonly #url: string;
  readonly #pid: number;
  readonly #stage: Stage;
  readonly #cores: Cores;
  readonly #roundSeconds: number;
  #repeats = 0;
  #fastest = 0;

  constructor(url: string, pid: number, stage: Stage, cores: Cores, settings: Settings) {
    this.#url = url;
    this.#pid = pid;
    this.#stage = stage;
    this.#cores = cores;
    this.#roundSeconds = settings.roundSeconds;
  }

  async measure(): Promise<Measured> {
    const load = await this.#chooseKeys();
    await this.#exhaust(load);
    const timed = { ...load, seconds: this.#roundSeconds };
    const result = await measureLoad(timed, this.#cores.load, this.#pid);
    this.#fastest = Math.max(this.#fastest, result.perSecond);
    if (!(await this.#isBlocked(load))) return result;
    if (++this.#repeats > REPEATS_MAX) throw new Error(`${this.#url}: keys are blocked again and again`);
    return this.measure();
  }

  /** As many keys as keep each between its limit and the block while they are used up and measured. */
  async #chooseKeys(): Promise<Omit<Load, "seconds">> {
    const base = { url: this.#url, connections: CONNECTIONS, tokensPath: this.#stage.tokensPath };
    if (this.#fastest === 0) {
      const reads = { ...base, first: 0, count: READ_KEYS, seconds: 1 };
      this.#fastest = (await putLoad(reads, this.#cores.load)).perSecond;
    }
    const wanted = Math.ceil((this.#fastest * (this.#roundSeconds + 2)) / EXCESS_USED);
    const first = READ_KEYS + KEYS_AT_A_TIME * this.#repeats;
    return { ...base, first, count: Math.min(KEYS_AT_A_TIME, wanted) };
  }

  /** Second by second, until every key has had its 120; each time the last turn of the keys may be cut short. */
  async #exhaust(load: Omit<Load, "seconds">): Promise<void> {
    let sent = 0;
    for (let second = 1; second <= USE_UP_SECONDS_MAX; second++) {
      sent += (await putLoad({ ...load, seconds: 1 }, this.#cores.load)).requests;
      if (sent >= (LIMIT_PER_WINDOW + second) * load.count) return;
    }
    throw new Error(`${load.url} is too slow to use up ${load.count} keys`);
  }

  async #isBlocked({ url, first }: Omit<Load, "seconds">): Promise<boolean> {
    const { body } = await ask(url, this.#stage.tokens[first] ?? "");
    return JSON.parse(new TextDecoder().decode(body)).code === ERRORS.spamBlocked.code;
  }
}
