// …/game/server/modcalls, with and without the community segment: calls for a moderator as a team sees them, and who is on the way.
import Type from "typebox";
import { seesAllCommands } from "../../core/commands/command.ts";
import { ERRORS, isRefusal, NOT_FOUND, type Refusal, refuse } from "../../core/errors.ts";
import { type ApiKey, whoOf } from "../../core/keys/api-key.ts";
import { HIDES_LOCATION } from "../../core/keys/rights.ts";
import {
  type ClaimAction,
  compareCalls,
  OPEN_STATES,
  type PlacedCall,
  stateOfCall,
} from "../../core/modcalls/mod-calls.ts";
import { describeModCall } from "../../core/players/describe-players.ts";
import { MOD_CALL_STATES, type ModCallState } from "../../core/players/vocabulary.ts";
import { toSectionSet } from "../../core/sections.ts";
import { ClaimChange, ModCallPage, ModCallResource } from "../../core/wire/players.ts";
import type { ModCallDesk, Position } from "../../gateway/modcalls/mod-call-desk.ts";
import { answerJson, answerRefusal, NOT_CONFIGURED } from "../answers.ts";
import type { Call } from "../call.ts";
import { showsEach } from "../operation.ts";
import { PAGE_FIELDS } from "../requests/pages.ts";
import { parseBody, pathIdOf } from "../requests/parse-request.ts";
import { type Faults, queryOf, readFields, refuseFaults, TWICE } from "../requests/query-fields.ts";
import { answerPacked } from "../sending/send-body.ts";
import { type Caller, type CallerOperation, CLAIMING, READING_MOD_CALLS } from "../steps/caller-steps.ts";
import { inTime, PACKED, type PlayerDeps, recheck, refuseNotOwn } from "./players.ts";

type Deps = { readonly modCalls: ModCallDeps };

export type ModCallDeps = Omit<PlayerDeps, "archive" | "randomBytes"> & {
  /** Undefined without an archive. */
  readonly desk: ModCallDesk | undefined;
};

const LIMIT_DEFAULT = 50;
const PLAYERS = toSectionSet(["Players"]);
const NO_POSITIONS: ReadonlyMap<string, Position> = new Map();

const WAITING = {
  id: "q3Vd0n8aTfGk2LrWx5YzBg",
  caller: "QuietHarbor:1184420",
  opened_at: 1_794_722_200_000,
  state: "waiting",
  is_here: true,
  position: { LocationX: 812.4, LocationZ: -1204.1, PostalCode: "204", StreetName: "Park Street" },
  answered_by: null,
  answered_at: null,
  claimed_by: null,
  claimed_at: null,
};
const CLAIMED = {
  ...WAITING,
  state: "claimed",
  claimed_by: { kind: "person", id: "per_8Zk2mQvT4yLxB6nHsW1d", name: "Mia" },
  claimed_at: 1_794_722_215_300,
};

const LIST_FIELDS = {
  state: {
    description: "Only calls in these states, separated by commas.",
    schema: Type.String({ default: OPEN_STATES.join() }),
    example: "waiting,claimed",
    fault: `must be some of ${MOD_CALL_STATES.join(", ")}, separated by commas`,
    twice: TWICE,
    read: parseStates,
  },
  ...PAGE_FIELDS,
};

const list: CallerOperation<Deps> = {
  id: "listModCalls",
  tag: "Players",
  summary: "List calls for a moderator",
  description:
    "From what is remembered, not from the length of the game's list: the newest 1,000. Callers who are on the server come first, then the oldest call. Needs the right to read ModCalls; `position` needs Players and Location. Counts like any read.",
  query: LIST_FIELDS,
  answers: {
    200: {
      ...showsEach("A page of calls.", ModCallPage, { page: ["Two calls", { items: [WAITING, CLAIMED], next: null }] }),
      headers: PACKED,
    },
  },
  errors: ["invalidRequest", "notConfigured"],
  async answer({ modCalls: deps }, call, { server, report, key: { keyId } }) {
    const { desk, cursors } = deps;
    if (!desk) return answerRefusal(call, NOT_CONFIGURED, report);
    const faults: Faults = {};
    const { state = OPEN_STATES, limit = LIMIT_DEFAULT, cursor } = readFields(LIST_FIELDS, queryOf(call), faults);
    const list = `modcalls ${server.serverId} ${state}`;
    const after = cursor === undefined ? undefined : parsePosition(cursors.open(list, cursor));
    if (cursor !== undefined && !after) faults.cursor ??= PAGE_FIELDS.cursor.fault;
    const fault = refuseFaults(faults);
    if (fault) return answerRefusal(call, fault, report);
    const all = await inTime(call, () => desk.list(server.serverId, state, call.now));
    const key = await recheck(deps, call, READING_MOD_CALLS, report);
    if (key instanceof Response) return key;
    const rest = after ? all.filter((one) => compareCalls(one, { ...one, ...after }) > 0) : all;
    const page = rest.slice(0, limit);
    const last = page.at(-1);
    const next = last && rest.length > limit ? cursors.seal(list, writePosition(last)) : null;
    const positions = await findPositions(deps, call, { key, server }, page);
    const items = page.map((one) => describeModCall(one, positionOf(one, positions), call.now));
    const body: ModCallPage = { items, next };
    return answerPacked(call, JSON.stringify(body), { keyId, report }, deps.unsent);
  },
};

const WHO_MAY = "Needs the right to read ModCalls, and to claim: for a key the right to send any command.";

const claim: CallerOperation<Deps> = {
  id: "claimModCall",
  tag: "Players",
  summary: "Claim a call for a moderator",
  description: `Says "I am on it" to everybody. What is one's own already stays so. A call that is answered, left or expired cannot be claimed. ${WHO_MAY}`,
  body: {
    schema: ClaimChange,
    isRequired: false,
    examples: { take: { summary: "Take it over from somebody else", value: { take: true } } },
  },
  answers: { 200: showsEach("The call.", ModCallResource, { claimed: ["Yours", CLAIMED] }) },
  errors: ["notFound", "conflict", "invalidRequest", "notConfigured"],
  async answer({ modCalls: deps }, call, caller) {
    if (!deps.desk) return answerRefusal(call, NOT_CONFIGURED, caller.report);
    const body = await parseBody(call, ClaimChange, false);
    const key = await recheck(deps, call, CLAIMING, caller.report);
    if (key instanceof Response) return key;
    if (isRefusal(body)) return answerRefusal(call, body, caller.report);
    return changeClaim(deps, call, { ...caller, key }, body.value.take === true ? "take" : "claim");
  },
};

const release: CallerOperation<Deps> = {
  id: "releaseModCall",
  tag: "Players",
  summary: "Release a call for a moderator",
  description: `It waits again. One's own; whoever may send every command (\`["*"]\`) releases any. A call that nobody has claimed, and one that is answered or expired, stays as it is. ${WHO_MAY}`,
  answers: { 200: showsEach("The call.", ModCallResource, { waiting: ["It waits again", WAITING] }) },
  errors: ["notFound", "notConfigured"],
  answer: ({ modCalls }, call, caller) => changeClaim(modCalls, call, caller, "release"),
};

export const modCallOperations = { list, claim, release };

async function changeClaim(
  deps: ModCallDeps,
  call: Call,
  { key, server, report }: Caller,
  action: ClaimAction,
): Promise<Response> {
  const { desk, clock } = deps;
  if (!desk) return answerRefusal(call, NOT_CONFIGURED, report);
  const mayReleaseAny = seesAllCommands(key.grant.commands);
  const request = { action, who: whoOf(key), mayReleaseAny, now: clock() };
  const outcome = await inTime(call, () => desk.change(server.serverId, pathIdOf(call), request));
  if (!outcome) return answerRefusal(call, NOT_FOUND, report);
  const { call: found, refused } = outcome;
  if (refused === "not_own") return answerRefusal(call, refuseNotOwn(key), report);
  if (refused) return answerRefusal(call, refuseClaim(found, refused, request.now), report);
  const positions = await findPositions(deps, call, { key, server }, [found]);
  return answerJson(describeModCall(found, positionOf(found, positions), request.now), 200, report);
}

function refuseClaim(call: PlacedCall, reason: "claimed" | "state", now: number): Refusal {
  const details = reason === "claimed" ? { claimed_by: call.claimedBy } : { state: stateOfCall(call, now) };
  return refuse(ERRORS.conflict, { details });
}

/** Nobody's when the key may not see where players are. */
async function findPositions(
  { desk, callerSteps, clock }: ModCallDeps,
  call: Call,
  { key, server }: Pick<Caller, "key" | "server">,
  calls: readonly PlacedCall[],
): Promise<ReadonlyMap<string, Position>> {
  if (!desk || !maySeePositions(key) || !calls.some(({ isHere }) => isHere)) return NO_POSITIONS;
  const positions = await desk.findPositions(server);
  // The key may have changed meanwhile.
  const current = await callerSteps.recheck(call, READING_MOD_CALLS, clock());
  return isRefusal(current) || !maySeePositions(current) ? NO_POSITIONS : positions;
}

function maySeePositions({ grant: { sections, hide } }: ApiKey): boolean {
  return (sections & PLAYERS) !== 0 && (hide & HIDES_LOCATION) === 0;
}

function positionOf({ isHere, player }: PlacedCall, positions: ReadonlyMap<string, Position>): Position {
  return (isHere ? positions.get(player) : undefined) ?? null;
}

function parseStates(text: string): readonly ModCallState[] | undefined {
  const names = text.slice(0, 200).split(",");
  const states = names.flatMap((name) => MOD_CALL_STATES.find((state) => state === name) ?? []);
  return states.length === names.length && new Set(states).size === states.length ? states : undefined;
}

function writePosition({ isHere, openedAt, callId }: PlacedCall): string {
  return `${isHere ? "here" : "away"} ${openedAt} ${callId}`;
}

function parsePosition(text: string | undefined): Pick<PlacedCall, "isHere" | "openedAt" | "callId"> | undefined {
  const [, where, at, callId = ""] = /^(here|away) (-?\d{1,16}) ([A-Za-z0-9_-]{1,64})$/.exec(text ?? "") ?? [];
  return where === undefined ? undefined : { isHere: where === "here", openedAt: Number(at), callId };
}
