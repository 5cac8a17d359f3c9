// …/game/server/players, with and without the community segment: everybody who was ever seen, the record of one player, and notes.
import Type from "typebox";
import { seesAllCommands } from "../../core/commands/command.ts";
import { ERRORS, isRefusal, NOT_FOUND, type Refusal, refuseField } from "../../core/errors.ts";
import { type ApiKey, COMMAND_FORBIDDEN, ROLE_FORBIDDEN, whoOf } from "../../core/keys/api-key.ts";
import { hasAbility } from "../../core/keys/rights.ts";
import { randomBase62 } from "../../core/keys/token.ts";
import { describeNote, describePlayer, describeRecord } from "../../core/players/describe-players.ts";
import { NOTES_MAX } from "../../core/players/vocabulary.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Note, PlayerPosition, PlayerStore } from "../../core/ports/players.ts";
import { NewNote, NotePage, NoteResource, PlayerPage, PlayerRecord } from "../../core/wire/players.ts";
import { answerDone, answerJson, answerLateRefusal, answerRefusal, NOT_CONFIGURED } from "../answers.ts";
import type { Call } from "../call.ts";
import type { HeaderName } from "../openapi/headers.ts";
import { showsEach, takes } from "../operation.ts";
import { type CursorSealer, PAGE_FIELDS } from "../requests/pages.ts";
import { parseBody, pathIdOf } from "../requests/parse-request.ts";
import { type Faults, oneOf, queryOf, readFields, refuseFaults, TWICE, textLike } from "../requests/query-fields.ts";
import { answerPacked } from "../sending/send-body.ts";
import type { UnsentAnswers } from "../sending/unsent-answers.ts";
import {
  type Caller,
  type CallerOperation,
  type CallerSteps,
  type Purpose,
  READING_PLAYERS,
  WRITING_NOTES,
} from "../steps/caller-steps.ts";

type Deps = { readonly players: PlayerDeps };

export type PlayerDeps = {
  /** Undefined without an archive. */
  readonly archive: PlayerStore | undefined;
  readonly callerSteps: Pick<CallerSteps, "recheck">;
  readonly clock: Clock;
  readonly cursors: CursorSealer;
  readonly unsent: Pick<UnsentAnswers, "add">;
  readonly randomBytes: (size: number) => Uint8Array;
};

/** What the archive may take: each of its queries has a deadline of its own, and one question has a few. */
const ARCHIVE_MS = 15_000;
const QUERY_LENGTH_MAX = 100;
const LIMIT_DEFAULT = 50;
const NOTE_ID_LENGTH = 20;
const NO_CURSOR = PAGE_FIELDS.cursor.fault;

/** The headers of an answer that may be compressed. */
export const PACKED: readonly HeaderName[] = ["CacheControl", "Vary"];

const WHO = { kind: "person", id: "per_8Zk2mQvT4yLxB6nHsW1d", name: "Mia" };
const NOTE = {
  note_id: "note_4tGk8sYc2RzNqT5vBw1x",
  text: "Asked twice to stop ramming cars.",
  kind: "warning",
  by: WHO,
  at: 1_794_722_300_000,
};
const PLAYER = {
  player: "WindyWillow821:2686120778",
  id: "2686120778",
  names: ["WindyWillow821", "WindyWillow"],
  first_seen_at: 1_790_722_200_000,
  last_seen_at: 1_794_722_200_000,
  seconds: 25_212,
  sessions: 4,
  is_here: true,
};
const RECORD = {
  ...PLAYER,
  teams: { Police: 21_600, Civilian: 3_600 },
  kills: 3,
  deaths: 5,
  commands: [
    {
      at: 1_794_722_208_000,
      command: ":pm windy please stop",
      by: "Remote Server:0",
      sent_by: WHO,
      event_id: "AAAAAAGKnV4QK2m3x6Bq0Yc9",
    },
  ],
  modcalls: { count: 1, last: { id: "b2ZmZXJfYW5fZXhhbXBsZQ", opened_at: 1_794_722_100_000, state: "answered" } },
  notes: [NOTE],
};

const SEARCH_FIELDS = {
  query: {
    ...textLike(
      `must have at most ${QUERY_LENGTH_MAX} characters`,
      Type.String({ maxLength: QUERY_LENGTH_MAX }),
      {
        description: "Part of any name that the player had, without case, or the beginning of the id.",
        example: "willow",
        twice: TWICE,
        mayBeEmpty: true,
      },
      new RegExp(`^[\\s\\S]{0,${QUERY_LENGTH_MAX}}$`, "u"),
    ),
  },
  here: oneOf(["true", "false"], {
    description: "`true`: only those who are on the server now; `false`: only the others.",
    schema: Type.Boolean(),
    twice: TWICE,
  }),
  ...PAGE_FIELDS,
};

const listPlayers: CallerOperation<Deps> = {
  id: "listPlayers",
  tag: "Players",
  summary: "Find players",
  description:
    "Everybody who was ever seen on the server, latest first: those whose session has not ended by when it began, then the others by when they were last seen. Needs the right to read Players. Counts like any read.",
  query: SEARCH_FIELDS,
  answers: {
    200: {
      ...showsEach("A page of players.", PlayerPage, { page: ["One player", { items: [PLAYER], next: null }] }),
      headers: PACKED,
    },
  },
  errors: ["invalidRequest", "notConfigured"],
  async answer({ players: deps }, call, caller) {
    const { archive, cursors } = deps;
    const { server, report, key } = caller;
    if (!archive) return answerRefusal(call, NOT_CONFIGURED, report);
    const faults: Faults = {};
    const { query = "", here, limit = LIMIT_DEFAULT, cursor } = readFields(SEARCH_FIELDS, queryOf(call), faults);
    const list = `players ${server.serverId} ${here ?? ""} ${query}`;
    const after = cursor === undefined ? undefined : parsePosition(cursors.open(list, cursor));
    if (cursor !== undefined && !after) faults.cursor ??= NO_CURSOR;
    const fault = refuseFaults(faults);
    if (fault) return answerRefusal(call, fault, report);
    const isHere = here === undefined ? undefined : here === "true";
    const search = { serverId: server.serverId, query: query.trim(), isHere, after, now: call.now };
    const found = await inTime(call, () => archive.searchPlayers({ ...search, limit: limit + 1 }));
    const refusal = await recheck(deps, call, READING_PLAYERS, report);
    if (refusal instanceof Response) return refusal;
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const next = last && found.length > limit ? cursors.seal(list, writePosition(last)) : null;
    const body: PlayerPage = { items: page.map(describePlayer), next };
    return answerPacked(call, JSON.stringify(body), { keyId: key.keyId, report }, deps.unsent);
  },
};

const showPlayer: CallerOperation<Deps> = {
  id: "showPlayer",
  tag: "Players",
  summary: "Read the record of a player",
  description:
    "All that is known of one player. A part whose section the key may not read is absent; notes are there for those who may write them. Needs the right to read Players. Counts like any read.",
  answers: {
    200: { ...showsEach("The record.", PlayerRecord, { record: ["With all rights", RECORD] }), headers: PACKED },
  },
  errors: ["notFound", "notConfigured"],
  async answer({ players: deps }, call, { server, report, key: { keyId } }) {
    const { archive } = deps;
    if (!archive) return answerRefusal(call, NOT_CONFIGURED, report);
    const { serverId } = server;
    const facts = await inTime(call, () => archive.readPlayer(serverId, pathIdOf(call), call.now));
    const key = await recheck(deps, call, READING_PLAYERS, report);
    if (key instanceof Response) return key;
    if (!facts) return answerRefusal(call, NOT_FOUND, report);
    const { sections, may } = key.grant;
    const record = describeRecord(serverId, facts, { sections, mayNote: hasAbility(may, "notes") }, call.now);
    return answerPacked(call, JSON.stringify(record), { keyId, report }, deps.unsent);
  },
};

const WHO_MAY = "Needs the right to read Players, and to write notes: for a key the right to send any command.";

const listNotes: CallerOperation<Deps> = {
  id: "listNotes",
  tag: "Players",
  summary: "List the notes about a player",
  description: `Newest first, all on one page. ${WHO_MAY}`,
  answers: { 200: showsEach("All notes.", NotePage, { page: ["One warning", { items: [NOTE], next: null }] }) },
  errors: ["notFound", "notConfigured"],
  async answer({ players: deps }, call, { server, report }) {
    const { archive } = deps;
    if (!archive) return answerRefusal(call, NOT_CONFIGURED, report);
    const notes = await inTime(call, () => archive.listNotes(server.serverId, pathIdOf(call)));
    const key = await recheck(deps, call, WRITING_NOTES, report);
    if (key instanceof Response) return key;
    if (!notes) return answerRefusal(call, NOT_FOUND, report);
    const body: NotePage = { items: notes.map(describeNote), next: null };
    return answerJson(body, 200, report);
  },
};

const addNote: CallerOperation<Deps> = {
  id: "addNote",
  tag: "Players",
  summary: "Write a note about a player",
  description: `A note or a warning, with your name and the time; at most ${NOTES_MAX} of each player. ${WHO_MAY}`,
  body: takes(NewNote, { text: NOTE.text, kind: NOTE.kind }),
  answers: { 201: showsEach("The note.", NoteResource, { note: ["A warning", NOTE] }) },
  errors: ["notFound", "conflict", "invalidRequest", "notConfigured"],
  async answer({ players: deps }, call, { server, report }) {
    const { archive, randomBytes, clock } = deps;
    if (!archive) return answerRefusal(call, NOT_CONFIGURED, report);
    const body = await parseBody(call, NewNote);
    const key = await recheck(deps, call, WRITING_NOTES, report);
    if (key instanceof Response) return key;
    if (isRefusal(body)) return answerRefusal(call, body, report);
    const noteId = `note_${randomBase62(NOTE_ID_LENGTH, randomBytes)}`;
    const { text, kind } = body.value;
    const note: Note = { noteId, text: text.replaceAll("\r\n", "\n"), kind, by: whoOf(key), at: clock() };
    const outcome = await inTime(call, () => archive.addNote(server.serverId, pathIdOf(call), note));
    if (outcome === "unknown") return answerRefusal(call, NOT_FOUND, report);
    if (outcome === "full") return answerRefusal(call, FULL, report);
    return answerJson(describeNote(note), 201, report);
  },
};

const deleteNote: CallerOperation<Deps> = {
  id: "deleteNote",
  tag: "Players",
  summary: "Delete a note",
  description: `One's own; whoever may send every command (\`["*"]\`) deletes any. ${WHO_MAY}`,
  answers: { 204: { description: "It is gone." } },
  errors: ["notFound", "notConfigured"],
  async answer({ players: { archive } }, call, { server, report, key }) {
    if (!archive) return answerRefusal(call, NOT_CONFIGURED, report);
    const by = seesAllCommands(key.grant.commands) ? undefined : whoOf(key);
    const { note = "" } = call.target.params;
    const outcome = await inTime(call, () => archive.deleteNote(server.serverId, pathIdOf(call), note, by));
    if (outcome === "unknown") return answerRefusal(call, NOT_FOUND, report);
    return outcome === "not_own" ? answerRefusal(call, refuseNotOwn(key), report) : answerDone(report);
  },
};

export const playerOperations = { list: listPlayers, show: showPlayer };
export const noteOperations = { list: listNotes, add: addNote, delete: deleteNote };

const FULL = refuseField("notes", `there are ${NOTES_MAX}, which is the most`, ERRORS.conflict);

/** It is somebody else's, and the rights do not reach so far. */
export function refuseNotOwn({ person }: ApiKey): Refusal {
  return person ? ROLE_FORBIDDEN : COMMAND_FORBIDDEN;
}

/** Keeps the socket while the archive works. */
export async function inTime<T>(call: Call, ask: () => Promise<T>): Promise<T> {
  call.extendIdleTimeout(ARCHIVE_MS);
  try {
    return await ask();
  } finally {
    call.resetIdleTimeout();
  }
}

/** The caller's key as it is now; a response when it may not do this any more. */
export async function recheck(
  { callerSteps, clock }: Pick<PlayerDeps, "callerSteps" | "clock">,
  call: Call,
  purpose: Purpose,
  report: Caller["report"],
): Promise<ApiKey | Response> {
  const key = await callerSteps.recheck(call, purpose, clock());
  return isRefusal(key) ? answerLateRefusal(call, key, report) : key;
}

function writePosition({
  current,
  player,
  lastSeenAt,
}: {
  readonly current: { readonly joinedAt: number } | undefined;
  readonly player: string;
  readonly lastSeenAt: number;
}): string {
  return `${current ? "open" : "ended"} ${current?.joinedAt ?? lastSeenAt} ${player}`;
}

function parsePosition(text: string | undefined): PlayerPosition | undefined {
  const [, kind, at, player = ""] = /^(open|ended) (-?\d{1,16}) (\d{1,32})$/.exec(text ?? "") ?? [];
  return kind === undefined ? undefined : { isOpen: kind === "open", at: Number(at), player };
}
