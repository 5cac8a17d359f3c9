// GET /v2/game/server/history/…, with and without the community segment, and the same for operators: questions about the past
// of a server.
import { isRefusal, type Refusal } from "../core/errors.ts";
import type { HistoryQuestion } from "../core/history/history-questions.ts";
import type { Period } from "../core/ports/history.ts";
import { type SectionSet, toSectionSet } from "../core/sections.ts";
import type { PageOf } from "../core/wire/page.ts";
import type { HistoryPage, HistoryReader, Question } from "../gateway/history/history-reader.ts";
import { answerLateRefusal, answerRefusal, NOT_CONFIGURED } from "./answers.ts";
import {
  type ArchiveReader,
  type ArchiveReaderParts,
  findOperatorReader,
  toArchiveReader,
} from "./archive-reader.ts";
import type { Call } from "./call.ts";
import type { Caller, Purpose } from "./caller-steps.ts";
import type { CursorSealer } from "./cursor.ts";
import {
  parseCountsQuery,
  parsePeaksQuery,
  parseRankingQuery,
  parseSessionsQuery,
  writePlace,
  writeSessionPlace,
} from "./history-query.ts";
import { answerPacked } from "./packed-answer.ts";
import { queryOf } from "./parse-request.ts";
import type { UnsentAnswers } from "./unsent-answers.ts";

/** What the archive may take: each of its queries has a deadline of its own, and one question has a few. */
const ARCHIVE_MS = 30_000;
const PLAYERS = toSectionSet(["Players"]);
const QUEUE = toSectionSet(["Queue"]);

export type HistoryHandlersParts = ArchiveReaderParts & {
  /** Undefined without an archive. */
  readonly history: HistoryReader | undefined;
  readonly cursors: CursorSealer;
  readonly unsent: Pick<UnsentAnswers, "add">;
};

export class HistoryHandlers {
  readonly #parts: HistoryHandlersParts;

  constructor(parts: HistoryHandlersParts) {
    this.#parts = parts;
  }

  /** `purpose` is what the caller was admitted for. */
  answer(question: HistoryQuestion, purpose: Purpose, call: Call, caller: Caller): Promise<Response> {
    return this.#answer(question, call, toArchiveReader(this.#parts, call, purpose, caller));
  }

  answerOperator(question: HistoryQuestion, call: Call): Promise<Response> {
    return this.#answer(question, call, findOperatorReader(this.#parts, call));
  }

  async #answer(question: HistoryQuestion, call: Call, reader: ArchiveReader | Refusal): Promise<Response> {
    if (isRefusal(reader)) return answerRefusal(call, reader);
    const { history, unsent } = this.#parts;
    const { serverId, report } = reader;
    if (!history) return answerRefusal(call, NOT_CONFIGURED, report);
    let body = await this.#read(question, call, history, serverId, reader.sections);
    const sections = await reader.recheck();
    if (typeof sections === "object") return answerLateRefusal(call, sections, report);
    // The key's rights changed meanwhile.
    if (sections !== reader.sections) body = await this.#read(question, call, history, serverId, sections);
    if (isRefusal(body)) return answerRefusal(call, body, report);
    return answerPacked(call, JSON.stringify(body), reader, unsent);
  }

  async #read(
    question: HistoryQuestion,
    call: Call,
    history: HistoryReader,
    serverId: string,
    sections: SectionSet,
  ): Promise<object | Refusal> {
    const query = queryOf(call);
    call.extendIdleTimeout(ARCHIVE_MS);
    try {
      switch (question) {
        case "players":
          return await this.#readPlayers(history, query, serverId, sections, call.now);
        case "peaks":
          return await this.#readPeaks(history, query, serverId, call.now);
        case "sessions":
          return await this.#listSessions(history, query, serverId, call.now);
        default:
          return await this.#listRanking(question, history, query, serverId, call.now);
      }
    } finally {
      call.resetIdleTimeout();
    }
  }

  async #readPlayers(
    history: HistoryReader,
    query: URLSearchParams,
    serverId: string,
    sections: SectionSet,
    now: number,
  ): Promise<object | Refusal> {
    const parsed = parseCountsQuery(query, now);
    if (isRefusal(parsed)) return parsed;
    const { period, resolution } = parsed;
    const rights = { players: (sections & PLAYERS) !== 0, queue: (sections & QUEUE) !== 0 };
    return history.readPlayers({ serverId, period, now }, resolution, rights);
  }

  async #readPeaks(
    history: HistoryReader,
    query: URLSearchParams,
    serverId: string,
    now: number,
  ): Promise<object | Refusal> {
    const parsed = parsePeaksQuery(query, now);
    if (isRefusal(parsed)) return parsed;
    return history.readPeaks({ serverId, period: parsed.period, now }, parsed.zone);
  }

  async #listSessions(
    history: HistoryReader,
    query: URLSearchParams,
    serverId: string,
    now: number,
  ): Promise<object | Refusal> {
    const { cursors } = this.#parts;
    const parsed = parseSessionsQuery(query, now, (cursor, player) =>
      cursors.open(nameList("sessions", serverId, player), cursor),
    );
    if (isRefusal(parsed)) return parsed;
    const { period, limit, place, player } = parsed;
    const page = await history.listSessions({ serverId, period, now, place, limit }, player);
    return this.#describePage(nameList("sessions", serverId, player), period, page, writeSessionPlace);
  }

  async #listRanking(
    question: "playtime" | "staff",
    history: HistoryReader,
    query: URLSearchParams,
    serverId: string,
    now: number,
  ): Promise<object | Refusal> {
    const { cursors } = this.#parts;
    const list = nameList(question, serverId);
    const parsed = parseRankingQuery(query, now, (cursor) => cursors.open(list, cursor));
    if (isRefusal(parsed)) return parsed;
    const { period, limit, place } = parsed;
    const asked: Question = { serverId, period, now };
    const page =
      question === "staff"
        ? await history.listStaff({ ...asked, place, limit })
        : await history.listPlaytime({ ...asked, place, limit });
    return this.#describePage<object, number>(list, period, page, String);
  }

  #describePage<T, Place>(
    list: string,
    period: Period,
    { items, next }: HistoryPage<T, Place>,
    write: (place: Place) => string,
  ): PageOf<T> {
    const { cursors } = this.#parts;
    return { items, next: next === null ? null : cursors.seal(list, writePlace(period, write(next))) };
  }
}

/** The same for both forms of the path and for operators, so that a cursor of one fits the others. */
function nameList(question: HistoryQuestion, serverId: string, player = ""): string {
  return `history ${question} ${serverId} ${player}`;
}
