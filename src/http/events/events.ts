// GET /v2/game/server/events, with and without the community segment, and the same for operators: pages of a ledger.
import { ERRORS, isRefusal, type Refusal, refuse } from "../../core/errors.ts";
import { writeCursor } from "../../core/events/cursor.ts";
import { writeEvent } from "../../core/events/stream-frames.ts";
import { isSameReading } from "../../core/keys/api-key.ts";
import type { LedgerPage } from "../../core/ports/archive.ts";
import { EventPage } from "../../core/wire/event.ts";
import type { WaitOptions } from "../../gateway/events/bounded-wait.ts";
import type { EventReader } from "../../gateway/events/event-reader.ts";
import { answerLateRefusal, answerRefusal, NOT_CONFIGURED } from "../answers.ts";
import type { Call } from "../call.ts";
import { SECTION_EXAMPLES } from "../readings/read-server.ts";
import { queryOf } from "../requests/query-fields.ts";
import { answerPacked } from "../sending/send-body.ts";
import type { UnsentAnswers } from "../sending/unsent-answers.ts";
import { type Caller, type CallerOperation, READING } from "../steps/caller-steps.ts";
import type { AdminCaller, OperatorOperation } from "../steps/operator-step.ts";
import { type ArchiveReader, type ArchiveReaderParts, findOperatorReader, toArchiveReader } from "./archive-reader.ts";
import { EVENT_FIELDS, isBackward, type ParsedEventQuery, parseEventQuery } from "./event-query.ts";

type Deps = { readonly events: EventHandlers };

/** What the archive may take beyond the wait itself: a look before it and one after it. */
const ARCHIVE_MS = 10_000;

export type EventHandlersParts = ArchiveReaderParts & {
  /** Undefined without an archive. */
  readonly events: EventReader | undefined;
  readonly unsent: Pick<UnsentAnswers, "add">;
};

const JOINED = {
  id: "AAAAAAGJh1xvK2m3x5XmQm1c",
  type: "player.joined",
  at: 1_794_722_200_000,
  seen_at: 1_794_722_203_518,
  source: "log",
  backfill: false,
  data: SECTION_EXAMPLES.JoinLogs[0],
};
const STARS = {
  id: "AAAAAAGKnV4QK2m3x6Bq0Yc9",
  type: "player.changed",
  at: 1_794_722_208_604,
  seen_at: 1_794_722_208_604,
  source: "diff",
  backfill: false,
  data: SECTION_EXAMPLES.Players[1],
  meta: { before: { WantedStars: 0 } },
};
const GAP = {
  id: "AAAAAAGLc0aHK2m3x2lUe7vQ",
  type: "gap",
  at: 1_794_722_360_271,
  seen_at: 1_794_722_360_271,
  source: "gateway",
  backfill: false,
  data: { section: "KillLogs", reason: "no_overlap", from: 1_794_722_260_000, to: 1_794_722_331_000 },
};
export const EVENT_EXAMPLE = JOINED;

export const readEvents: CallerOperation<Deps> = {
  id: "readEvents",
  tag: "Events",
  summary: "Read what happened on your game server",
  description:
    "Every log entry that a reading showed is here once, in the order it was recorded; where something may have been missed there is a `gap`. Keep `next` once you have handled the events, and send it as `after`: it moves past what the filter left out, and holds for every key of the server. One answer looks at 10,000 events at most, so `items` may be empty while `has_more` is true. You get the types whose section your key may read: a type that you name and may not have is refused with 5011. A cursor that is too old, or from another archive, is 410 with `oldest`, which begins with the oldest kept event. Section names in the query mean nothing here. Counts as one request, however long it waits; a restart of Gatehouse answers waiting requests at once, with no items.",
  query: EVENT_FIELDS,
  answers: {
    200: {
      description: "A page of events, oldest first.",
      headers: ["CacheControl", "Vary"],
      schema: EventPage,
      examples: {
        events: {
          summary: "Somebody joined, and got stars",
          value: { items: [JOINED, STARS], next: STARS.id, has_more: false },
        },
        gap: {
          summary: "Some kills were missed; there is more to read",
          value: { items: [GAP], next: GAP.id, has_more: true },
        },
      },
    },
  },
  errors: ["sectionForbidden", "invalidRequest", "cursorExpired", "tooManyStreams", "notConfigured"],
  answer: ({ events }, call, caller) => events.answer(call, caller),
};

export const readServerEvents: OperatorOperation<Deps> = {
  ...readEvents,
  id: "readServerEvents",
  tag: "Game servers",
  summary: "Read what happened on a game server",
  description:
    "What a key with all sections gets, with the same parameters. Counts against no key. At most 100 reads of all operators wait on one instance.",
  errors: ["notFound", "invalidRequest", "cursorExpired", "tooManyStreams", "notConfigured"],
  answer: ({ events }, call, caller) => events.answerOperator(call, caller),
};

export class EventHandlers {
  constructor(private readonly parts: EventHandlersParts) {}

  answer(call: Call, caller: Caller): Promise<Response> {
    return this.#answer(call, toArchiveReader(this.parts, call, READING, caller));
  }

  answerOperator(call: Call, caller: AdminCaller): Promise<Response> {
    return this.#answer(call, findOperatorReader(this.parts, call, caller));
  }

  async #answer(call: Call, reader: ArchiveReader | Refusal): Promise<Response> {
    if (isRefusal(reader)) return answerRefusal(call, reader);
    const { events } = this.parts;
    const { serverId, report } = reader;
    if (!events) return answerRefusal(call, NOT_CONFIGURED, report);
    const query = queryOf(call);
    const parsed = parseEventQuery(query, serverId, reader.rights);
    if (isRefusal(parsed)) return answerRefusal(call, parsed, report);
    const page = await this.#read(call, events, parsed, reader);
    const rights = await reader.recheck();
    if (isRefusal(rights)) return answerLateRefusal(call, rights, report);
    if (isRefusal(page)) return answerRefusal(call, page, report);
    if (isSameReading(rights, reader.rights)) return this.#answerPage(call, parsed, page, reader);
    // The key's rights changed while it waited.
    const again = parseEventQuery(query, serverId, rights);
    if (isRefusal(again)) return answerRefusal(call, again, report);
    return this.#answerPage(call, again, await events.read(again.query), reader);
  }

  async #read(
    call: Call,
    events: EventReader,
    { query, waitMs }: ParsedEventQuery,
    { keyId, rights, recheck }: ArchiveReader,
  ): Promise<LedgerPage | Refusal> {
    if (waitMs === 0 || call.request.method === "HEAD") return events.read(query);
    const wait: WaitOptions = {
      waitMs,
      keyId,
      signal: call.request.signal,
      mayGoOn: async () => {
        const now = await recheck();
        return !isRefusal(now) && isSameReading(now, rights);
      },
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
    return answerPacked(call, json, { keyId, report }, this.parts.unsent);
  }
}

type GoodPage = Exclude<LedgerPage, { readonly expired: true }>;

function writePage(serverId: string, page: GoodPage, hasPrevious: boolean): string {
  const items = page.events.map((event) => writeEvent(serverId, event)).join(",");
  const next = `"next":"${writeCursor(serverId, page.next)}"`;
  const previous = hasPrevious ? `,"previous":"${writeCursor(serverId, page.previous)}"` : "";
  return `{"items":[${items}],${next}${previous},"has_more":${page.hasMore}}`;
}
