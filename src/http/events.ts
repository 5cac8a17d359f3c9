// GET /v2/game/server/events, with and without the community segment, and the same for operators: pages of a ledger.
import { ERRORS, isRefusal, type Refusal, refuse } from "../core/errors.ts";
import { writeCursor } from "../core/events/cursor.ts";
import { writeEvent } from "../core/events/event-text.ts";
import type { LedgerPage } from "../core/ports/archive.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { ServerStore } from "../core/ports/servers.ts";
import { NOT_FOUND } from "../core/refuse-field.ts";
import { ALL_SECTIONS, type SectionSet } from "../core/sections.ts";
import type { EventReader, Patience } from "../gateway/events/event-reader.ts";
import type { LimitReport } from "../gateway/keys/admit.ts";
import { answerLateRefusal, answerRefusal, NOT_CONFIGURED } from "./answers.ts";
import type { Call } from "./call.ts";
import { type Caller, type CallerSteps, READING_EVENTS } from "./caller-steps.ts";
import { isBackward, type ParsedEventQuery, parseEventQuery } from "./event-query.ts";
import { answerPacked } from "./packed-answer.ts";
import { pathIdOf, queryOf } from "./parse-request.ts";
import type { UnsentAnswers } from "./unsent-answers.ts";

/** What the archive may take beyond the wait itself: a look before it and one after it. */
const ARCHIVE_MS = 10_000;

export type EventHandlersParts = {
  /** Undefined without an archive. */
  readonly events: EventReader | undefined;
  readonly servers: Pick<ServerStore, "find">;
  readonly callerSteps: Pick<CallerSteps, "recheck">;
  readonly clock: Clock;
  readonly unsent: Pick<UnsentAnswers, "add">;
};

/** Who reads. `recheck` says what the reader may read now, which may have changed while the request waited. */
type Reader = {
  readonly serverId: string;
  readonly sections: SectionSet;
  /** Undefined for an operator. */
  readonly keyId: string | undefined;
  readonly report: LimitReport | null;
  readonly recheck: () => Promise<SectionSet | Refusal>;
};

export class EventHandlers {
  readonly #parts: EventHandlersParts;

  constructor(parts: EventHandlersParts) {
    this.#parts = parts;
  }

  answer(call: Call, { key, server, report }: Caller): Promise<Response> {
    const { callerSteps, clock } = this.#parts;
    return this.#answer(call, {
      serverId: server.serverId,
      sections: key.grant.sections,
      keyId: key.keyId,
      report,
      async recheck() {
        const found = await callerSteps.recheck(call, READING_EVENTS, clock());
        return isRefusal(found) ? found : found.grant.sections;
      },
    });
  }

  /** The same for an operator, who may read everything and has no limit. */
  async answerOperator(call: Call): Promise<Response> {
    const { servers } = this.#parts;
    const serverId = pathIdOf(call);
    if (!servers.find(serverId)) return answerRefusal(call, NOT_FOUND);
    return this.#answer(call, {
      serverId,
      sections: ALL_SECTIONS,
      keyId: undefined,
      report: null,
      recheck: async () => (servers.find(serverId) ? ALL_SECTIONS : NOT_FOUND),
    });
  }

  async #answer(call: Call, reader: Reader): Promise<Response> {
    const { events } = this.#parts;
    const { serverId, report } = reader;
    if (!events) return answerRefusal(call, NOT_CONFIGURED, report);
    const query = queryOf(call);
    const parsed = parseEventQuery(query, serverId, reader.sections);
    if (isRefusal(parsed)) return answerRefusal(call, parsed, report);
    const page = await this.#read(call, events, parsed, reader);
    const sections = await reader.recheck();
    if (typeof sections === "object") return answerLateRefusal(call, sections, report);
    if (isRefusal(page)) return answerRefusal(call, page, report);
    if (sections === reader.sections) return this.#answerPage(call, parsed, page, reader);
    // The key's rights changed while it waited.
    const again = parseEventQuery(query, serverId, sections);
    if (isRefusal(again)) return answerRefusal(call, again, report);
    return this.#answerPage(call, again, await events.read(again.query), reader);
  }

  async #read(
    call: Call,
    events: EventReader,
    { query, waitMs }: ParsedEventQuery,
    { keyId, sections, recheck }: Reader,
  ): Promise<LedgerPage | Refusal> {
    if (waitMs === 0 || call.request.method === "HEAD") return events.read(query);
    const patience: Patience = {
      waitMs,
      keyId,
      signal: call.request.signal,
      mayGoOn: async () => (await recheck()) === sections,
    };
    call.extendIdleTimeout(waitMs + ARCHIVE_MS);
    try {
      return await events.readOrWait(query, patience);
    } finally {
      call.resetIdleTimeout();
    }
  }

  async #answerPage(
    call: Call,
    { query }: ParsedEventQuery,
    page: LedgerPage,
    { serverId, keyId, report }: Reader,
  ): Promise<Response> {
    if ("expired" in page) {
      const oldest = writeCursor(serverId, page.oldest);
      return answerRefusal(call, refuse(ERRORS.cursorExpired, { oldest }), report);
    }
    const json = writePage(serverId, page, isBackward(query.start));
    return answerPacked(call, json, { keyId, report }, this.#parts.unsent);
  }
}

type GoodPage = Exclude<LedgerPage, { readonly expired: true }>;

function writePage(serverId: string, page: GoodPage, hasPrevious: boolean): string {
  const items = page.events.map((event) => writeEvent(serverId, event)).join(",");
  const next = `"next":"${writeCursor(serverId, page.next)}"`;
  const previous = hasPrevious ? `,"previous":"${writeCursor(serverId, page.previous)}"` : "";
  return `{"items":[${items}],${next}${previous},"has_more":${page.hasMore}}`;
}
