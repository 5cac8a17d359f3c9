// /admin/servers/:id/alerts: the rules of a server's alerts.
import { isRefusal } from "../../core/errors.ts";
import type { Actor } from "../../core/ports/audit.ts";
import { NOT_FOUND } from "../../core/refuse-field.ts";
import { AlertRulesResource } from "../../core/wire/alerts.ts";
import { type ManagedAlerts, readAlertRules, setAlertRules } from "../../gateway/servers/manage-alerts.ts";
import { answerRefusal, NOT_CONFIGURED } from "../answers.ts";
import type { Call } from "../call.ts";
import { parseBody, pathIdOf } from "../parse-request.ts";
import { answerOutcome } from "./answer-operator.ts";
import type { Mutex } from "./mutex.ts";

export type AlertHandlersParts = {
  readonly servers: ManagedAlerts["servers"];
  /** Undefined without an archive. */
  readonly alerts: ManagedAlerts | undefined;
  readonly changes: Mutex;
};

export class AlertHandlers {
  readonly #parts: AlertHandlersParts;

  constructor(parts: AlertHandlersParts) {
    this.#parts = parts;
  }

  show(call: Call): Promise<Response> {
    return this.#answer(call, async (alerts) => {
      return answerOutcome(call, await readAlertRules(alerts, pathIdOf(call)), ({ rules }) => rules);
    });
  }

  set(call: Call, actor: Actor): Promise<Response> {
    return this.#answer(call, async (alerts) => {
      const request = await parseBody(call, AlertRulesResource);
      if (isRefusal(request)) return answerRefusal(call, request);
      const set = await this.#parts.changes.run(call, () =>
        setAlertRules(alerts, pathIdOf(call), request.value, actor, call.now),
      );
      return answerOutcome(call, set, ({ rules }) => rules);
    });
  }

  async #answer(call: Call, answer: (alerts: ManagedAlerts) => Promise<Response>): Promise<Response> {
    const { alerts, servers } = this.#parts;
    if (!servers.find(pathIdOf(call))) return answerRefusal(call, NOT_FOUND);
    return alerts ? answer(alerts) : answerRefusal(call, NOT_CONFIGURED);
  }
}
