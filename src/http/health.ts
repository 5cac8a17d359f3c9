// Liveness and readiness. Alive: the process answers. Ready: the store can be read and written.
import { ERRORS, refuse } from "../core/errors.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Log } from "../core/ports/log.ts";
import type { Store } from "../core/ports/store.ts";
import type { ErrorFields } from "../core/wire/error.ts";
import type { Liveness, Readiness } from "../core/wire/health.ts";
import { answerJson, answerRefusal } from "./answers.ts";
import type { Call } from "./call.ts";

/** At most one check in this time, because a check writes to the disk and the route needs no key. */
const CHECK_EVERY_MS = 1_000;

export function answerHealthz(): Response {
  return answerJson({ status: "ok" } satisfies Liveness);
}

export type ReadyzParts = {
  readonly store: Pick<Store, "checkHealth">;
  readonly clock: Clock;
  readonly log: Log;
  readonly isDraining: () => boolean;
  /** Sentences about problems that do not keep requests from being served. */
  readonly listNotices: (now: number, isOperator: boolean) => readonly string[];
  /** Whether the request comes with the master key. Operators are told which servers a notice is about. */
  readonly isOperator: (call: Call) => boolean;
};

export class ReadyzHandler {
  readonly #parts: ReadyzParts;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #lastCheck: Promise<boolean> = Promise.resolve(true);

  constructor(parts: ReadyzParts) {
    this.#parts = parts;
  }

  async answer(call: Call): Promise<Response> {
    const { clock, isDraining, listNotices, isOperator } = this.#parts;
    const now = clock();
    if (Math.abs(now - this.#checkedAt) >= CHECK_EVERY_MS) {
      this.#checkedAt = now;
      this.#lastCheck = this.#checkStore();
    }
    const details = {
      ...(isDraining() && { process: "shutting down" }),
      ...(!(await this.#lastCheck) && { store: "cannot be read or written" }),
    };
    if (Object.keys(details).length === 0) {
      return answerJson({ status: "ready", notices: listNotices(now, isOperator(call)) } satisfies Readiness);
    }
    const fields = { retry_after: 1, details } satisfies ErrorFields["unavailable"];
    return answerRefusal(call, refuse(ERRORS.unavailable, fields, { "Retry-After": "1" }));
  }

  /** Whether the store can be read and written. */
  async #checkStore(): Promise<boolean> {
    const { store, log } = this.#parts;
    try {
      await store.checkHealth();
      return true;
    } catch (error) {
      log.error({ err: error }, "the store is not usable");
      return false;
    }
  }
}
