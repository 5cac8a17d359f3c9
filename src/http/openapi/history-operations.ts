// The operations about the past of a server: for callers, and for operators.
import Type from "typebox";
import { RESOLUTIONS } from "../../core/history/counts.ts";
import { type HistoryQuestion, NEEDED_SECTIONS } from "../../core/history/history-questions.ts";
import type { ErrorName } from "../../core/wire/error.ts";
import {
  HISTORY_LIMIT_DEFAULT,
  HISTORY_LIMIT_MAX,
  PeaksResource,
  PlayersHistory,
  PlaytimePage,
  SessionPage,
  StaffPage,
} from "../../core/wire/history.ts";
import { EpochMs } from "../../core/wire/values.ts";
import { LIMIT_HEADER_NAMES } from "./headers.ts";
import type { Answer, Operation, Parameter } from "./operation.ts";

const PERIOD_PARAMETERS: readonly Parameter[] = [
  {
    name: "from",
    in: "query",
    description:
      "Where the period begins, in epoch milliseconds. Without it, 24 hours before `to`. At most 400 days before `to`.",
    schema: EpochMs,
    example: 1_794_700_800_000,
  },
  {
    name: "to",
    in: "query",
    description: "Where the period ends, in epoch milliseconds. Without it, now.",
    schema: EpochMs,
    example: 1_794_722_400_000,
  },
];

const LIST_PARAMETERS: readonly Parameter[] = [
  {
    name: "limit",
    in: "query",
    description: "How many items a page has.",
    schema: Type.Integer({ minimum: 1, maximum: HISTORY_LIMIT_MAX, default: HISTORY_LIMIT_DEFAULT }),
  },
  {
    name: "cursor",
    in: "query",
    description: "The `next` of the page before. It knows its period: all pages are about the same time.",
    schema: Type.String({ maxLength: 300 }),
  },
];

const RESOLUTION: Parameter = {
  name: "resolution",
  in: "query",
  description:
    "How long each point is. Without it, the finest that gives at most 1,000 points and is still kept where the period begins.",
  schema: Type.Enum([...RESOLUTIONS]),
};

const TIME_ZONE: Parameter = {
  name: "tz",
  in: "query",
  description:
    "The time zone of the table, by its name in the IANA database, or as an offset such as +05:30.",
  schema: Type.String({ maxLength: 64, default: "UTC" }),
  example: "Europe/Berlin",
};

const PLAYER: Parameter = {
  name: "player",
  in: "query",
  description: "Only sessions of the player with this id.",
  schema: Type.String({ pattern: "^[0-9]{1,20}$" }),
  example: "2686120778",
};

const UNKNOWN_POINT = {
  known: 0,
  min: null,
  avg: null,
  max: null,
  queue_max: null,
  staff_max: null,
  teams: null,
};

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
  commands: 31,
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

type Description = {
  readonly callerId: string;
  readonly operatorId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly answer: Pick<Answer, "description" | "schema" | "examples">;
};

const UNKNOWN_IS_NOT_ZERO =
  "A reading vouches for the time until the next, for 60 s or three intervals at most; a server that is offline is known to be empty.";

const DESCRIPTIONS: Readonly<Record<HistoryQuestion, Description>> = {
  players: {
    callerId: "readPlayersHistory",
    operatorId: "readServerPlayersHistory",
    summary: "How many players there were",
    description: `Points from the beginning of the period to its end, without holes, at whole minutes, hours or days of UTC. Unknown is not zero: a point without readings has \`known\` 0, and its fields are null. ${UNKNOWN_IS_NOT_ZERO} Minutes are kept 7 days, five minutes 60 days, hours two years, days for ever. Without the right to read Players there are no \`teams\` and no \`staff_max\`, without Queue no \`queue_max\`.`,
    parameters: [...PERIOD_PARAMETERS, RESOLUTION],
    answer: {
      description: "The points, oldest first.",
      schema: PlayersHistory,
      examples: {
        points: { summary: "A known point, and one without readings", value: PLAYERS_EXAMPLE },
      },
    },
  },
  sessions: {
    callerId: "listSessions",
    operatorId: "listServerSessions",
    summary: "Who was there, and when",
    description:
      "The sessions that touch the period, newest first. They are made of join logs and readings together; `ended` says how the end is known. One that has not ended has null in `left_at` and `ended`, and `seconds` up to now, as far as readings vouch. `seconds` and `teams` are of the whole session. Kept 400 days. Needs the right to read Players and JoinLogs.",
    parameters: [...PERIOD_PARAMETERS, PLAYER, ...LIST_PARAMETERS],
    answer: {
      description: "A page of sessions.",
      schema: SessionPage,
      examples: {
        page: {
          summary: "Somebody is there, somebody has left",
          value: { items: [OPEN_SESSION, SESSION], next: null },
        },
      },
    },
  },
  playtime: {
    callerId: "listPlaytime",
    operatorId: "listServerPlaytime",
    summary: "Who plays most",
    description:
      "How long each player was there in the period, most first. Sessions count as far as they are in it. Needs the right to read Players and JoinLogs.",
    parameters: [...PERIOD_PARAMETERS, ...LIST_PARAMETERS],
    answer: {
      description: "A page of players.",
      schema: PlaytimePage,
      examples: { page: { summary: "One player", value: { items: [PLAYTIME], next: null } } },
    },
  },
  staff: {
    callerId: "listStaffActivity",
    operatorId: "listServerStaffActivity",
    summary: "What staff did",
    description:
      "Everybody who is listed as staff now, was there with a permission above Normal in the period, used a command in it or answered a call for a moderator; longest presence first. `seconds` and `teams` count as far as they are in the period. `median_between` is how long callers waited: at least and at most, because readings show only that a call was answered between two of them. Needs the right to read Staff, Players, CommandLogs and ModCalls.",
    parameters: [...PERIOD_PARAMETERS, ...LIST_PARAMETERS],
    answer: {
      description: "A page of staff.",
      schema: StaffPage,
      examples: { page: { summary: "One moderator", value: { items: [STAFF], next: null } } },
    },
  },
  peaks: {
    callerId: "readPeaks",
    operatorId: "readServerPeaks",
    summary: "When the server is full",
    description:
      "Players on average for each hour of the week, over the known time of the period; days on which the clocks change are right. For time zones that are not whole hours from UTC it is exact for the last 60 days; before that, an hour counts for each of the two local hours that it is in, by its share.",
    parameters: [...PERIOD_PARAMETERS, TIME_ZONE],
    answer: {
      description: "A table of 7 days with 24 hours each.",
      schema: PeaksResource,
      examples: { week: { summary: "Full in the evening", value: PEAKS } },
    },
  },
};

/** By question. */
export function describeCallerHistory(errors: readonly ErrorName[]): [HistoryQuestion, Operation][] {
  return listDescriptions().map(([question, { callerId, description, answer, ...rest }]) => [
    question,
    {
      id: callerId,
      tag: "History",
      summary: rest.summary,
      description: `${description} Counts like any read.`,
      security: ["apiKey"],
      parameters: rest.parameters,
      answers: { 200: { ...answer, headers: [...LIMIT_HEADER_NAMES, "CacheControl", "Vary"] } },
      errors: [
        ...errors,
        ...(NEEDED_SECTIONS[question].length > 0 ? (["sectionForbidden"] as const) : []),
        "invalidRequest",
        "notConfigured",
      ],
      isCounted: true,
    },
  ]);
}

type Rest = Pick<Operation, "description" | "body" | "parameters" | "answers" | "errors">;
type Describe = (id: string, summary: string, rest: Rest) => Operation;

/** `describe` adds what every operation of operators has. */
export function describeOperatorHistory(describe: Describe): Readonly<Record<string, Operation>> {
  const operations = listDescriptions().map(([question, { operatorId, summary, parameters, answer }]) => [
    `GET /admin/servers/:id/history/${question}`,
    describe(operatorId, summary, {
      description: "What a key with all sections gets, with the same parameters. Counts against no key.",
      parameters,
      answers: { 200: { ...answer, headers: ["CacheControl", "Vary"] } },
      errors: ["notFound", "invalidRequest", "notConfigured"],
    }),
  ]);
  return Object.fromEntries(operations) as Record<string, Operation>;
}

function listDescriptions(): [HistoryQuestion, Description][] {
  return Object.entries(DESCRIPTIONS) as [HistoryQuestion, Description][];
}
