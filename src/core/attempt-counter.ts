// Counts attempts by source: an address or a key. The rule is in attempt-limit.ts.
import { type AttemptRule, type Attempts, judgeAttempt } from "./attempt-limit.ts";
import { secondsUntil } from "./rate-limit.ts";

export class AttemptCounter {
  readonly #rule: AttemptRule;
  readonly #sourcesMax: number;
  /** The source whose count began first comes first. */
  readonly #attempts = new Map<string, Attempts>();

  /** When there are more than `sourcesMax` sources, the one whose count began first is dropped. */
  constructor(rule: AttemptRule, sourcesMax: number) {
    this.#rule = rule;
    this.#sourcesMax = sourcesMax;
  }

  get size(): number {
    return this.#attempts.size;
  }

  /** Undefined when the attempt is allowed; otherwise it is not counted, and the next one is allowed after so many seconds. */
  count(source: string, now: number): number | undefined {
    const known = this.#attempts.get(source);
    const { attempts, allowedFrom } = judgeAttempt(known ?? [], now, this.#rule);
    if (!known && this.#attempts.size >= this.#sourcesMax) {
      const [first] = this.#attempts.keys();
      if (first !== undefined) this.#attempts.delete(first);
    }
    // The count of a source without recent attempts begins anew.
    if (attempts.length === 1) this.#attempts.delete(source);
    this.#attempts.set(source, attempts);
    return allowedFrom <= now ? undefined : secondsUntil(allowedFrom, now);
  }
}
