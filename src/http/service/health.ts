// Liveness and readiness. Alive: the process answers. Ready: the store can be read and written.
import { ERRORS, refuseFor } from "../../core/errors.ts";
import { type CallersFacts, hideFromCallers, judgeCallers, type NoticeFacts, sayNotice } from "../../core/notices.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Store } from "../../core/ports/store.ts";
import { Liveness, Readiness } from "../../core/wire/health.ts";
import { answerJson, answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import { type OpenOperation, showsEach } from "../operation.ts";
import { escapeMarkup } from "../status/escape-markup.ts";
import { answerNotice } from "../web/page-headers.ts";

/** At most one check in this time, because a check writes to the disk and the route needs no key. */
const CHECK_EVERY_MS = 1_000;
const NOT_READY = "Gatehouse is not ready";
const TITLES: Readonly<Record<Readiness["callers"], string>> = {
  served: "Callers are served",
  partly: "Some requests are refused",
  refused: "Callers are not served",
};

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

const LIMITED = sayNotice({
  code: "upstream_paused",
  since: 1_768_998_588_000,
  until: 1_768_998_612_000,
  retry_after: 12,
});

export const checkReadiness: OpenOperation<{ readonly readyz: ReadyzHandler }> = {
  id: "tellReady",
  tag: "Service",
  summary: "Can it serve?",
  description:
    "Ready means that the store can be read and written. 503 also while shutting down. Each notice says what is the matter and what to do; operators, who sign in, are told more in them. A 503 has them too.",
  security: ["optional", "masterKey", "sessionToken"],
  answers: {
    200: showsEach("It can.", Readiness, {
      well: ["All is well", { status: "ready", callers: "served", notices: [] }],
      limited: ["The game API has limited us", { status: "ready", callers: "partly", notices: [LIMITED] }],
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
  /** What is not well. `isStoreUsable`: what the last check has found. */
  readonly listNotices: (now: number, isStoreUsable: boolean) => Promise<readonly NoticeFacts[]>;
  readonly describeCallers: () => Omit<CallersFacts, "now">;
  /** Whether an operator asks, with the master key or as a person. They are told what a notice is about. */
  readonly isOperator: (call: Call) => Promise<boolean>;
};

export class ReadyzHandler {
  #checkedAt = Number.NEGATIVE_INFINITY;
  #lastCheck: Promise<boolean> = Promise.resolve(true);

  constructor(private readonly parts: ReadyzParts) {}

  async answer(call: Call): Promise<Response> {
    const { details, callers, notices } = await this.#look(await this.parts.isOperator(call));
    if (details) {
      return answerRefusal(call, refuseFor(ERRORS.unavailable, 1, { details, ...(notices.length > 0 && { notices }) }));
    }
    return answerJson({ status: "ready", callers, notices } satisfies Readiness);
  }

  /** The same for people, and for what watches pages. It tells what everybody may know. */
  async answerPage(): Promise<Response> {
    const { details, callers, notices } = await this.#look(false);
    const faults = Object.entries(details ?? {}).map(([part, what]) => `The ${part}: ${what}.`);
    const told = notices.map(({ message, remedy }) => escapeMarkup(`${message} ${remedy}`));
    const well = faults.length + told.length === 0 ? ["Nothing needs attention."] : [];
    const links =
      'For programs: <a href="/readyz">/readyz</a>. With the master key, Health on <a href="/">the dashboard</a> says more.';
    return answerNotice(
      details ? NOT_READY : TITLES[callers],
      [...faults, ...told, ...well, links],
      details ? 503 : 200,
    );
  }

  /** `details` is there when it is not ready. */
  async #look(isOperator: boolean) {
    const { clock, isDraining, listNotices, describeCallers } = this.parts;
    const now = clock();
    if (Math.abs(now - this.#checkedAt) >= CHECK_EVERY_MS) {
      this.#checkedAt = now;
      this.#lastCheck = this.#checkStore();
    }
    const isStoreUsable = await this.#lastCheck;
    const details = {
      ...(isDraining() && { process: "shutting down" }),
      ...(!isStoreUsable && { store: "cannot be read or written" }),
    };
    const found = await listNotices(now, isStoreUsable);
    const shown = isOperator ? found : found.map(hideFromCallers).filter((facts) => facts !== undefined);
    return {
      details: Object.keys(details).length > 0 ? details : undefined,
      callers: judgeCallers(found, { now, ...describeCallers() }),
      notices: shown.map(sayNotice),
    };
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
