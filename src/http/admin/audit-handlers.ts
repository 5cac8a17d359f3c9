// /admin/audit: who changed what.
import type { AuditStore } from "../../core/ports/audit.ts";
import type { Call } from "../call.ts";
import { describeAuditEntry } from "../describe-resources.ts";
import { answerPage } from "./answer-operator.ts";

export class AuditHandlers {
  readonly #audit: AuditStore;

  constructor(audit: AuditStore) {
    this.#audit = audit;
  }

  list(call: Call): Promise<Response> {
    return answerPage(call, (page) => this.#audit.list(page), describeAuditEntry);
  }
}
