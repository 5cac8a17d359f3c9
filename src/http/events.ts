// GET /v2/game/server/events, with and without the community segment, and the same for operators: pages of a ledger.
import { ERRORS, isRefusal, type Refusal, refuse } from "../core/errors.ts";
import { writeCursor } from "../core/events/cursor.ts";
import { writeEvent } from "../core/events/event-text.ts";
import type { LedgerPage } from "../core/ports/archive.ts";
import type { EventReader, WaitOptions } from "../gateway/events/event-reader.ts";
import { answerLateRefusal, answerRefusal, NOT_CONFIGURED } from "./answers.ts";
import {
  type ArchiveReader,
  type ArchiveReaderParts,
  findOperatorReader,
  toArchiveReader,
} from "./archive-reader.ts";
import type { Call } from "./call.ts";
import { type Caller, READING } from "./caller-steps.ts";
import { isBackward, type ParsedEventQuery, parseEventQuery } from "./event-query.ts";
import { answerPacked } from "./packed-answer.ts";
import { queryOf } from "./parse-request.ts";
import type { UnsentAnswers } from "./unsent-answers.ts";

/** What the archive may take beyond the wait itself: a look before it and one after it. */
const ARCHIVE_MS = 10_000;

export type EventHandlersParts = ArchiveReaderParts & {
  /** Undefined without an archive. */
  readonly events: EventReader | undefined;
  readonly unsent: Pick<UnsentAnswers, "add">;
};

export class EventHandlers {
  readonly #parts: EventHandlersParts;

  constructor(parts: EventHandlersParts) {
    this.#parts = parts;
  }

  answer(call: Call, caller: Caller): Promise<Response> {
    return this.#answer(call, toArchiveReader(this.#parts, call, READING, caller));
  }

  answerOperator(call: Call): Promise<Response> {
    return this.#answer(call, findOperatorReader(this.#parts, call));
  }

  async #answer(call: Call, reader: ArchiveReader | Refusal): Promise<Response> {
    if (isRefusal(reader)) return answerRefusal(call, reader);
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
    { keyId, sections, recheck }: ArchiveReader,
  ): Promise<LedgerPage | Refusal> {
    if (waitMs === 0 || call.request.method === "HEAD") return events.read(query);
    const wait: WaitOptions = {
      waitMs,
      keyId,
      signal: call.request.signal,
      mayGoOn: async () => (await recheck()) === sections,
    };
    call.extendIdleTimeout(waitMs + ARCHIVE_MS);
    try {
      return await events.readOrWait(query, wait);
    } finally {
      call.resetIdleTimeout();
    }
  }

  async #answerPage(
    call: Call,
    { query }: ParsedEventQuery,
    page: LedgerPage,
    { serverId, keyId, report }: ArchiveReader,
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
