// Load that is only refused: keys that are over their limit when the round begins, and below the spam block until it ends.
import { ERRORS } from "../src/core/errors.ts";
import { LIMIT_PER_WINDOW } from "../src/core/keys/rate-limit.ts";
import { type Load, type Measured, measureLoad, putLoad } from "./load.ts";
import type { Cores } from "./machine.ts";
import { call } from "./same-answers.ts";
import { CONNECTIONS, READ_KEYS, REFUSAL_KEYS, type Settings } from "./settings.ts";
import type { Stage } from "./stage.ts";

/** Gatehouse blocks a key at an excess of 400; a round should use only this part of it. */
const EXCESS_WANTED = 200;
const USE_UP_SECONDS_MAX = 30;
/** When the machine becomes faster, keys may reach the block; then the round is repeated with other keys. */
const REPEATS_MAX = 3;
/** Every repeat uses other keys, because the window of the others may not be over. The comparison of answers has used the last key. */
const KEYS_PER_ROUND = Math.floor((REFUSAL_KEYS - 1) / (1 + REPEATS_MAX));

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

  /** So many keys that each stays between its limit and the block until the round ends. */
  async #chooseKeys(): Promise<Omit<Load, "seconds">> {
    const base = { url: this.#url, connections: CONNECTIONS, tokensPath: this.#stage.tokensPath };
    if (this.#fastest === 0) {
      const reads = { ...base, first: 0, count: READ_KEYS, seconds: 1 };
      this.#fastest = (await putLoad(reads, this.#cores.load)).perSecond;
    }
    const wanted = Math.ceil((this.#fastest * (this.#roundSeconds + 2)) / EXCESS_WANTED);
    const first = READ_KEYS + KEYS_PER_ROUND * this.#repeats;
    return { ...base, first, count: Math.min(KEYS_PER_ROUND, wanted) };
  }

  /** Loads for a second at a time until every key has sent 120 requests. Each second may end in the middle of a turn. */
  async #exhaust(load: Omit<Load, "seconds">): Promise<void> {
    let sent = 0;
    for (let second = 1; second <= USE_UP_SECONDS_MAX; second++) {
      sent += (await putLoad({ ...load, seconds: 1 }, this.#cores.load)).requests;
      if (sent >= (LIMIT_PER_WINDOW + second) * load.count) return;
    }
    throw new Error(`${load.url} is too slow to use up ${load.count} keys`);
  }

  async #isBlocked({ url, first }: Omit<Load, "seconds">): Promise<boolean> {
    const { body } = await call(url, this.#stage.tokens[first] ?? "");
    return JSON.parse(new TextDecoder().decode(body)).code === ERRORS.spamBlocked.code;
  }
}
