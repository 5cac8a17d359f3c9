// Liveness and readiness. Alive: the process answers. Ready: the store can be read and written.
import { ERRORS, refuseFor } from "../../core/errors.ts";
import { type CallersFacts, hideFromCallers, judgeCallers, type NoticeFacts, sayNotice } from "../../core/notices.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { Liveness, Readiness } from "../../core/wire/health.ts";
import { answerJson, answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import { type OpenOperation, showsEach } from "../operation.ts";
import { escapeMarkup } from "../status/escape-markup.ts";
import { answerNotice } from "../web/page-headers.ts";

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
  readonly clock: Clock;
  readonly isDraining: () => boolean;
  /** What is not well. */
  readonly listNotices: (now: number) => Promise<readonly NoticeFacts[]>;
  readonly describeCallers: () => Omit<CallersFacts, "now">;
  /** Whether an operator asks, with the master key or as a person. They are told what a notice is about. */
  readonly isOperator: (call: Call) => Promise<boolean>;
};

export class ReadyzHandler {
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
    const found = await listNotices(now);
    const isStoreUsable = !found.some(({ code }) => code === "store_unusable");
    const details = {
      ...(isDraining() && { process: "shutting down" }),
      ...(!isStoreUsable && { store: "cannot be read or written" }),
    };
    const shown = isOperator ? found : found.map(hideFromCallers).filter((facts) => facts !== undefined);
    return {
      details: Object.keys(details).length > 0 ? details : undefined,
      callers: judgeCallers(found, { now, ...describeCallers() }),
      notices: shown.map(sayNotice),
    };
  }
}
