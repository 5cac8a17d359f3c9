// /admin/audit: who changed what.
import type { AuditStore } from "../../core/ports/audit.ts";
import { NOT_FOUND } from "../../core/refuse-field.ts";
import type { Call } from "../call.ts";
import { describeAuditEntry } from "../describe-resources.ts";
import type { Pages } from "../pages.ts";
import { pathIdOf } from "../parse-request.ts";
import { answerOutcome } from "./answer-operator.ts";

export class AuditHandlers {
  readonly #audit: AuditStore;
  readonly #pages: Pages;

  constructor(audit: AuditStore, pages: Pages) {
    this.#audit = audit;
    this.#pages = pages;
  }

  list(call: Call): Promise<Response> {
    return this.#pages.answer(call, (page) => this.#audit.list(page), describeAuditEntry);
  }

  async show(call: Call): Promise<Response> {
    const entry = await this.#audit.find(pathIdOf(call));
    return answerOutcome(call, entry ?? NOT_FOUND, describeAuditEntry);
  }
}
