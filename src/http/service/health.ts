// Liveness and readiness. Alive: the process answers. Ready: the store can be read and written.
import { ERRORS, refuseFor } from "../../core/errors.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Store } from "../../core/ports/store.ts";
import { Liveness, type Notice, Readiness } from "../../core/wire/health.ts";
import { answerJson, answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import { type OpenOperation, showsEach } from "../operation.ts";

/** At most one check in this time, because a check writes to the disk and the route needs no key. */
const CHECK_EVERY_MS = 1_000;

export const checkLiveness: OpenOperation<unknown> = {
  id: "tellAlive",
  tag: "Service",
  summary: "Is the process alive?",
  answers: {
    200: showsEach("It answers.", Liveness, { alive: ["Alive", { status: "ok" }] }),
  },
  answer: answerAlive,
};

export function answerAlive(): Response {
  return answerJson({ status: "ok" } satisfies Liveness);
}

const LIMITED: Notice = {
  code: "upstream_paused",
  message: "The game API has limited us; it is asked again in 12 s.",
  retry_after: 12,
};

export const checkReadiness: OpenOperation<{ readonly readyz: ReadyzHandler }> = {
  id: "tellReady",
  tag: "Service",
  summary: "Can it serve?",
  description:
    "Ready means that the store can be read and written. 503 also while shutting down. Operators, who sign in, are told more in the notices.",
  security: ["optional", "masterKey", "sessionToken"],
  answers: {
    200: showsEach("It can.", Readiness, {
      well: ["All is well", { status: "ready", notices: [] }],
      limited: ["The game API has limited us", { status: "ready", notices: [LIMITED] }],
    }),
  },
  errors: ["unavailable"],
  answer: ({ readyz }, call) => readyz.answer(call),
};

export type ReadyzParts = {
  readonly store: Pick<Store, "checkHealth">;
  readonly clock: Clock;
  readonly log: Log;
  readonly isDraining: () => boolean;
  /** Problems that do not keep requests from being served. */
  readonly listNotices: (now: number, isOperator: boolean) => MaybePromise<readonly Notice[]>;
  /** Whether an operator asks, with the master key or as a person. They are told which servers a notice is about. */
  readonly isOperator: (call: Call) => Promise<boolean>;
};

export class ReadyzHandler {
  #checkedAt = Number.NEGATIVE_INFINITY;
  #lastCheck: Promise<boolean> = Promise.resolve(true);

  constructor(private readonly parts: ReadyzParts) {}

  async answer(call: Call): Promise<Response> {
    const { clock, isDraining, listNotices, isOperator } = this.parts;
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
      const notices = await listNotices(now, await isOperator(call));
      return answerJson({ status: "ready", notices } satisfies Readiness);
    }
    return answerRefusal(call, refuseFor(ERRORS.unavailable, 1, { details }));
  }

  /** Whether the store can be read and written. */
  async #checkStore(): Promise<boolean> {
    const { store, log } = this.parts;
    try {
      await store.checkHealth();
      return true;
    } catch (error) {
      log.error({ err: error }, "the store is not usable");
      return false;
    }
  }
}
