// GET /v2/game/server/history/…, with and without the community segment, and the same for operators: questions about the past
// of a server.
import type Type from "typebox";
import { isRefusal, type Refusal } from "../../core/errors.ts";
import { type HistoryQuestion, NEEDED_SECTIONS } from "../../core/history/history.ts";
import { isSameReading } from "../../core/keys/api-key.ts";
import type { Period } from "../../core/ports/history.ts";
import { type SectionSet, toSectionSet } from "../../core/sections.ts";
import {
  PeaksResource,
  PlayersHistory,
  PlaytimePage,
  PresentHistory,
  SessionPage,
  StaffPage,
} from "../../core/wire/history.ts";
import type { PageOf } from "../../core/wire/page.ts";
import type { HistoryPage, HistoryReader } from "../../gateway/history/history-reader.ts";
import { answerLateRefusal, answerRefusal, NOT_CONFIGURED } from "../answers.ts";
import type { Call } from "../call.ts";
import {
  type ArchiveReader,
  type ArchiveReaderParts,
  findOperatorReader,
  toArchiveReader,
} from "../events/archive-reader.ts";
import type { Definition, Example } from "../operation.ts";
import type { CursorSealer } from "../requests/pages.ts";
import { type QueryFields, queryOf } from "../requests/query-fields.ts";
import { answerPacked } from "../sending/send-body.ts";
import type { UnsentAnswers } from "../sending/unsent-answers.ts";
import { type CallerOperation, type Purpose, READING } from "../steps/caller-steps.ts";
import type { OperatorOperation } from "../steps/operator-step.ts";
import * as queries from "./history-query.ts";

type Deps = { readonly history: HistoryDeps };

/** What the archive may take: each of its queries has a deadline of its own, and one question has a few. */
const ARCHIVE_MS = 30_000;
const PLAYERS = toSectionSet(["Players"]);
const QUEUE = toSectionSet(["Queue"]);

export type HistoryDeps = ArchiveReaderParts & {
  /** Undefined without an archive. */
  readonly history: HistoryReader | undefined;
  readonly cursors: CursorSealer;
  readonly unsent: Pick<UnsentAnswers, "add">;
};

const UNKNOWN_POINT = { known: 0, min: null, avg: null, max: null, queue_max: null, staff_max: null, teams: null };

const PLAYERS_EXAMPLE = {
  resolution: "5m",
  points: [
    {
      at: 1_794_722_100_000,
      known: 1,
      min: 21,
      avg: 22.64,
      max: 24,
      queue_max: 3,
      staff_max: 2,
      teams: { Civilian: 14.1, Police: 6.04, Sheriff: 2.5 },
    },
    { at: 1_794_722_400_000, ...UNKNOWN_POINT },
  ],
};

const SESSION = {
  player: "WindyWillow821:2686120778",
  id: "2686120778",
  joined_at: 1_794_715_000_000,
  left_at: 1_794_722_200_000,
  seconds: 7_200,
  ended: "log",
  teams: { Police: 5_400, Civilian: 1_795 },
};

const OPEN_SESSION = {
  player: "QuietHarbor:1184420",
  id: "1184420",
  joined_at: 1_794_722_200_000,
  left_at: null,
  seconds: 145,
  ended: null,
  teams: { Civilian: 140 },
};

const PLAYTIME = { player: SESSION.player, id: SESSION.id, seconds: 25_212, sessions: 4 };

const STAFF = {
  player: SESSION.player,
  id: SESSION.id,
  seconds: 25_212,
  teams: { Police: 21_600, Civilian: 3_600 },
  role: "Mods",
  commands: 31,
  commands_by_kind: { kick: 4, ban: 1, jail: 0, message: 17, teleport: 6 },
  modcalls_answered: 5,
  median_between: [42, 51],
};

/** Full in the evening; nothing is known of the first hours of Monday. */
const PEAKS = {
  tz: "Europe/Berlin",
  table: Array.from({ length: 7 }, (_, day) => {
    return Array.from({ length: 24 }, (_, hour) => {
      return day === 0 && hour < 3 ? null : 4 + Math.max(0, 20 - 4 * Math.abs(hour - 20));
    });
  }),
};

const UNKNOWN_IS_NOT_ZERO =
  "A reading vouches for the time until the next, for 60 s or three intervals at most; a server that is offline is known to be empty.";

/** What is asked, of which server, and with which rights. */
type Asked = {
  readonly history: HistoryReader;
  readonly cursors: CursorSealer;
  readonly query: URLSearchParams;
  readonly serverId: string;
  readonly sections: SectionSet;
  readonly now: number;
};
type Read = (asked: Asked) => Promise<object | Refusal>;

export const historyOperations = {
  players: defineQuestion({
    question: "players",
    ids: ["readPlayersHistory", "readServerPlayersHistory"],
    summary: "How many players there were",
    description: `Points from the beginning of the period to its end, without holes, at whole minutes, hours or days of UTC. Unknown is not zero: a point without readings has \`known\` 0, and its fields are null. ${UNKNOWN_IS_NOT_ZERO} Minutes are kept 7 days, five minutes 60 days, hours two years, days for ever. Without the right to read Players there are no \`teams\` and no \`staff_max\`, without Queue no \`queue_max\`.`,
    query: queries.COUNTS_FIELDS,
    answer: ["The points, oldest first.", PlayersHistory],
    example: ["points", { summary: "A known point, and one without readings", value: PLAYERS_EXAMPLE }],
    async read({ history, query, serverId, sections, now }) {
      const parsed = queries.parseCountsQuery(query, now);
      if (isRefusal(parsed)) return parsed;
      const { period, resolution } = parsed;
      const rights = { players: (sections & PLAYERS) !== 0, queue: (sections & QUEUE) !== 0 };
      return history.readPlayers({ serverId, period, now }, resolution, rights);
    },
  }),

  sessions: defineQuestion({
    question: "sessions",
    ids: ["listSessions", "listServerSessions"],
    summary: "Who was there, and when",
    description:
      "The sessions that touch the period, newest first. They are made of join logs and readings together; `ended` says how the end is known. One that has not ended has null in `left_at` and `ended`, and `seconds` up to now, as far as readings vouch. `seconds` and `teams` are of the whole session. Kept 400 days. Needs the right to read Players and JoinLogs.",
    query: queries.SESSIONS_FIELDS,
    answer: ["A page of sessions.", SessionPage],
    example: [
      "page",
      { summary: "Somebody is there, somebody has left", value: { items: [OPEN_SESSION, SESSION], next: null } },
    ],
    async read({ history, cursors, query, serverId, now }) {
      const parsed = queries.parseSessionsQuery(query, now, (cursor, player) =>
        cursors.open(nameList("sessions", serverId, player), cursor),
      );
      if (isRefusal(parsed)) return parsed;
      const { period, limit, place, player } = parsed;
      const page = await history.listSessions({ serverId, period, now, place, limit }, player);
      return sealPage(cursors, nameList("sessions", serverId, player), period, page, queries.writeSessionPlace);
    },
  }),

  playtime: defineQuestion({
    question: "playtime",
    ids: ["listPlaytime", "listServerPlaytime"],
    summary: "Who plays most",
    description:
      "How long each player was there in the period, most first. Sessions count as far as they are in it. Needs the right to read Players and JoinLogs.",
    query: queries.RANKING_FIELDS,
    answer: ["A page of players.", PlaytimePage],
    example: ["page", { summary: "One player", value: { items: [PLAYTIME], next: null } }],
    read: (asked) => listRanking("playtime", asked),
  }),

  staff: defineQuestion({
    question: "staff",
    ids: ["listStaffActivity", "listServerStaffActivity"],
    summary: "What staff did",
    description:
      "Everybody who is listed as staff now, was there with a permission above Normal in the period, used a command in it or answered a call for a moderator; longest presence first. `seconds` and `teams` count as far as they are in the period. `commands_by_kind` counts from when Gatehouse began to tell kinds apart. `median_between` is how long callers waited: at least and at most, because readings show only that a call was answered between two of them. Needs the right to read Staff, Players, CommandLogs and ModCalls.",
    query: queries.RANKING_FIELDS,
    answer: ["A page of staff.", StaffPage],
    example: ["page", { summary: "One moderator", value: { items: [STAFF], next: null } }],
    read: (asked) => listRanking("staff", asked),
  }),

  present: defineQuestion({
    question: "present",
    ids: ["readPresent", "readServerPresent"],
    summary: "Who was there at a moment",
    description:
      "The sessions that were going on then. `known` is false when no reading vouches for that moment, or when it is more than 400 days ago. Needs the right to read Players and JoinLogs.",
    query: queries.PRESENT_FIELDS,
    answer: ["Who was there.", PresentHistory],
    example: ["moment", { summary: "Two players", value: { at: 1_794_722_150_000, known: true, items: [SESSION] } }],
    async read({ history, query, serverId, now }) {
      const parsed = queries.parsePresentQuery(query, now);
      return isRefusal(parsed) ? parsed : history.readPresent(serverId, parsed.at, now);
    },
  }),

  peaks: defineQuestion({
    question: "peaks",
    ids: ["readPeaks", "readServerPeaks"],
    summary: "When the server is full",
    description:
      "Players on average for each hour of the week, over the known time of the period; days on which the clocks change are right. For time zones that are not whole hours from UTC it is exact for the last 60 days; before that, an hour counts for each of the two local hours that it is in, by its share.",
    query: queries.PEAKS_FIELDS,
    answer: ["A table of 7 days with 24 hours each.", PeaksResource],
    example: ["week", { summary: "Full in the evening", value: PEAKS }],
    async read({ history, query, serverId, now }) {
      const parsed = queries.parsePeaksQuery(query, now);
      return isRefusal(parsed) ? parsed : history.readPeaks({ serverId, period: parsed.period, now }, parsed.zone);
    },
  }),
};

type HistoryDefinition = {
  readonly question: HistoryQuestion;
  /** For callers, and for operators. */
  readonly ids: readonly [string, string];
  readonly summary: string;
  readonly description: string;
  readonly query: QueryFields;
  readonly answer: readonly [description: string, schema: Type.TSchema];
  readonly example: readonly [name: string, example: Example];
  readonly read: Read;
};

/** The same question for callers, who need its sections, and for operators. */
function defineQuestion(definition: HistoryDefinition) {
  const { question, ids, summary, query, answer, example, read } = definition;
  const purpose: Purpose = { ...READING, needs: toSectionSet(NEEDED_SECTIONS[question]) };
  const [description, schema] = answer;
  const common: Pick<Definition, "summary" | "query" | "answers"> = {
    summary,
    query,
    answers: {
      200: { description, headers: ["CacheControl", "Vary"], schema, examples: Object.fromEntries([example]) },
    },
  };
  const caller: CallerOperation<Deps> = {
    ...common,
    id: ids[0],
    tag: "History",
    description: `${definition.description} Counts like any read.`,
    errors: ["invalidRequest", "notConfigured"],
    answer: ({ history }, call, caller) =>
      answerQuestion(history, read, call, toArchiveReader(history, call, purpose, caller)),
  };
  const operator: OperatorOperation<Deps> = {
    ...common,
    id: ids[1],
    tag: "Game servers",
    description: "What a key with all sections gets, with the same parameters. Counts against no key.",
    errors: ["notFound", "invalidRequest", "notConfigured"],
    answer: ({ history }, call, caller) =>
      answerQuestion(history, read, call, findOperatorReader(history, call, caller)),
  };
  return { purpose, caller, operator };
}

async function answerQuestion(
  deps: HistoryDeps,
  read: Read,
  call: Call,
  reader: ArchiveReader | Refusal,
): Promise<Response> {
  if (isRefusal(reader)) return answerRefusal(call, reader);
  const { history, cursors, unsent } = deps;
  const { serverId, report } = reader;
  if (!history) return answerRefusal(call, NOT_CONFIGURED, report);
  const ask = async (sections: SectionSet) => {
    call.extendIdleTimeout(ARCHIVE_MS);
    try {
      return await read({ history, cursors, query: queryOf(call), serverId, sections, now: call.now });
    } finally {
      call.resetIdleTimeout();
    }
  };
  let body = await ask(reader.rights.sections);
  const rights = await reader.recheck();
  if (isRefusal(rights)) return answerLateRefusal(call, rights, report);
  // The key's rights changed meanwhile.
  if (!isSameReading(rights, reader.rights)) body = await ask(rights.sections);
  if (isRefusal(body)) return answerRefusal(call, body, report);
  return answerPacked(call, JSON.stringify(body), reader, unsent);
}

async function listRanking(question: "playtime" | "staff", asked: Asked): Promise<object | Refusal> {
  const { history, cursors, query, serverId, now } = asked;
  const list = nameList(question, serverId);
  const parsed = queries.parseRankingQuery(query, now, (cursor) => cursors.open(list, cursor));
  if (isRefusal(parsed)) return parsed;
  const request = { serverId, now, ...parsed };
  const page = question === "staff" ? await history.listStaff(request) : await history.listPlaytime(request);
  return sealPage<object, number>(cursors, list, parsed.period, page, String);
}

function sealPage<T, Place>(
  cursors: CursorSealer,
  list: string,
  period: Period,
  { items, next }: HistoryPage<T, Place>,
  write: (place: Place) => string,
): PageOf<T> {
  return { items, next: next === null ? null : cursors.seal(list, queries.writePlace(period, write(next))) };
}

/** The same for both forms of the path and for operators, so that a cursor of one fits the others. */
function nameList(question: HistoryQuestion, serverId: string, player = ""): string {
  return `history ${question} ${serverId} ${player}`;
}
