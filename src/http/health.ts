// Liveness and readiness. Alive: the process answers. Ready: the store can be read and written.
import { ERRORS, refuse } from "../core/errors.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Log } from "../core/ports/log.ts";
import type { Store } from "../core/ports/store.ts";
import type { ErrorFields } from "../core/wire/error.ts";
import type { Liveness, Readiness } from "../core/wire/health.ts";
import { answerJson, answerRefusal } from "./answers.ts";
import type { Handler } from "./call.ts";

/** The check writes to the disk and the route is open to all, so it runs once in this time at most. */
const CHECK_EVERY_MS = 1_000;

export function answerHealthz(): Response {
  return answerJson({ status: "ok" } satisfies Liveness);
}

export function createReadyz(parts: {
  store: Pick<Store, "checkHealth">;
  clock: Clock;
  log: Log;
  isDraining: () => boolean;
  /** What is not well but keeps nobody from being served, in sentences. */
  listNotices: (now: number) => readonly string[];
}): Handler {
  const { store, clock, log, isDraining, listNotices } = parts;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let lastCheck: Promise<boolean> = Promise.resolve(true);

  async function isStoreHealthy(): Promise<boolean> {
    try {
      await store.checkHealth();
      return true;
    } catch (error) {
      log.error({ err: error }, "the store is not usable");
      return false;
    }
  }

  return async (call) => {
    const now = clock();
    if (Math.abs(now - checkedAt) >= CHECK_EVERY_MS) {
      checkedAt = now;
      lastCheck = isStoreHealthy();
    }
    const details = {
      ...(isDraining() && { process: "shutting down" }),
      ...(!(await lastCheck) && { store: "cannot be read or written" }),
    };
    if (Object.keys(details).length === 0) {
      return answerJson({ status: "ready", notices: listNotices(now) } satisfies Readiness);
    }
    const fields = { retry_after: 1, details } satisfies ErrorFields["unavailable"];
    return answerRefusal(call, refuse(ERRORS.unavailable, fields, { "Retry-After": "1" }));
  };
}
