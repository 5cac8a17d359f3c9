// GET /v2/game/server, with and without the community segment: answers with the state of the caller's server.
import { isRefusal } from "../../core/errors.ts";
import type { GameServer } from "../../core/game-server.ts";
import { READS_ALL, type ReadRights } from "../../core/keys/api-key.ts";
import { LIMIT_BUCKET } from "../../core/keys/rate-limit.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { ServerInfo } from "../../core/wire/server-info.ts";
import type { Body } from "../../gateway/body.ts";
import type { LimitReport } from "../../gateway/keys/admit.ts";
import type { Relay } from "../../gateway/readings/relay.ts";
import type { Reading } from "../../gateway/readings/server-status.ts";
import type { Snapshot } from "../../gateway/readings/snapshot.ts";
import { answerLateRefusal, answerRefusal, LIMIT_TEXT, toResetSeconds } from "../answers.ts";
import type { Call } from "../call.ts";
import type { HeaderName } from "../openapi/headers.ts";
import { UNCHANGED } from "../operation.ts";
import { IF_NONE_MATCH, SECTION_PARAMETERS } from "../requests/parameters.ts";
import { isMatchingEtag } from "../sending/conditional.ts";
import { findGzipped, TOO_MUCH_UNSENT, toPayload } from "../sending/send-body.ts";
import type { UnsentAnswers } from "../sending/unsent-answers.ts";
import {
  type Caller,
  type CallerOperation,
  type CallerSteps,
  type Purpose,
  READING_SERVER,
} from "../steps/caller-steps.ts";
import { NO_SNIFFING } from "../web/page-headers.ts";

type Outcome = Awaited<ReturnType<Relay["read"]>>;
/** What the answer needs to know of who reads. */
type Reader = {
  readonly key: { readonly keyId: string; readonly grant: ReadRights };
  readonly report: LimitReport | null;
};

/** All operators together have the room of one key for large answers. */
const OPERATOR: Reader = { key: { keyId: "", grant: READS_ALL }, report: null };

/** What is shown of a reading, and what the caller needs for it. */
export type ReadingView = {
  readonly purpose: Purpose;
  bodyOf(call: Call, snapshot: Snapshot, rights: ReadRights): Body;
};

const WHOLE_STATE: ReadingView = {
  purpose: READING_SERVER,
  bodyOf: (call, snapshot, { hide }) => snapshot.body(call.target.sections, hide),
};

export const SERVER_INFO = {
  Name: "Cedar County State Roleplay",
  OwnerId: 2_890_053_314,
  CoOwnerIds: [7_146_175_597],
  CurrentPlayers: 24,
  MaxPlayers: 40,
  JoinKey: "OliveComet",
  AccVerifiedReq: "Disabled",
  TeamBalance: true,
};

export const SECTION_EXAMPLES = {
  Players: [
    {
      Team: "Police",
      Player: "WindyWillow821:2686120778",
      Callsign: "2L-14",
      Location: {
        LocationX: 1084.965,
        LocationZ: 2302.28,
        PostalCode: "218",
        StreetName: "Park Street",
        BuildingNumber: "2083",
      },
      Permission: "Server Moderator",
      WantedStars: 0,
    },
    { Team: "Civilian", Player: "QuietHarbor:1184420", Callsign: null, Permission: "Normal", WantedStars: 2 },
  ],
  Staff: { Admins: { "7146175597": "AmberFox" }, Mods: { "2686120778": "WindyWillow821" }, Helpers: {} },
  JoinLogs: [{ Join: true, Timestamp: 1_794_722_200, Player: "QuietHarbor:1184420" }],
  Queue: [3_310_077_421],
  KillLogs: [{ Killed: "QuietHarbor:1184420", Timestamp: 1_794_722_260, Killer: "WindyWillow821:2686120778" }],
  CommandLogs: [{ Player: "WindyWillow821:2686120778", Timestamp: 1_794_722_270, Command: ":h Drive carefully" }],
  ModCalls: [{ Caller: "QuietHarbor:1184420", Moderator: null, Timestamp: 1_794_722_280 }],
  EmergencyCalls: [
    {
      Team: "Police",
      Caller: 1_184_420,
      Players: [2_686_120_778],
      Position: [-654.6, 666.5],
      StartedAt: 1_794_722_290,
      CallNumber: 400,
      Description: "Robbery",
      PositionDescriptor: "Near the bank",
    },
  ],
  Vehicles: [
    { Name: "Patrol Sedan", Owner: "WindyWillow821", Texture: "Standard", ColorHex: "#1F3A93", ColorName: "Deep Blue" },
  ],
};

export const READING_HEADERS: readonly HeaderName[] = ["CacheControl", "ETag", "Age", "Cache", "Vary"];

export const readServer: CallerOperation<{ readonly readServer: ReadServerHandler }> = {
  id: "readServer",
  tag: "Server",
  summary: "Read the state of your game server",
  description:
    "The server is the one that your key belongs to. The eight required fields are always there; each section is there when its parameter is exactly `true`. Fields inside a section may be missing, as the game API sometimes leaves them out. Integers are relayed exactly, also those beyond 2^53. `HEAD` works too, and counts.",
  parameters: [...SECTION_PARAMETERS, IF_NONE_MATCH],
  answers: {
    200: {
      description: "The state of the server, at most as old as `Age` says.",
      headers: READING_HEADERS,
      schema: ServerInfo,
      examples: {
        plain: { summary: "Without sections", value: SERVER_INFO },
        players: { summary: "With Players", value: { ...SERVER_INFO, Players: SECTION_EXAMPLES.Players } },
        everything: { summary: "With all sections", value: { ...SERVER_INFO, ...SECTION_EXAMPLES } },
      },
    },
    304: { description: `${UNCHANGED} It counts all the same.`, headers: READING_HEADERS },
  },
  errors: ["gameApi"],
  answer: ({ readServer }, call, caller) => readServer.answer(call, caller),
};

export class ReadServerHandler {
  constructor(
    private readonly relay: Pick<Relay, "read" | "longestWaitMs">,
    private readonly callerSteps: Pick<CallerSteps, "recheck">,
    private readonly clock: Clock,
    private readonly unsent: Pick<UnsentAnswers, "add">,
  ) {}

  /** Answers at once from a fresh snapshot: a promise for every request would cost more than the answer. */
  answer(call: Call, caller: Caller, view = WHOLE_STATE): MaybePromise<Response> {
    const outcome = this.relay.read(caller.server, call.now);
    return outcome instanceof Promise
      ? this.#answerLater(call, outcome, caller, view)
      : this.#answerOutcome(call, outcome, caller, call.now, view);
  }

  /** The same for an operator, who has no key and no limit. */
  async answerOperator(call: Call, server: GameServer): Promise<Response> {
    const outcome = await this.#wait(call, this.relay.read(server, call.now));
    const response = this.#answerOutcome(call, outcome, OPERATOR, this.clock(), WHOLE_STATE);
    for (const name of ["X-RateLimit-Limit", "X-RateLimit-Bucket"]) response.headers.delete(name);
    return response;
  }

  async #answerLater(call: Call, pending: Promise<Outcome>, { report }: Caller, view: ReadingView): Promise<Response> {
    const outcome = await this.#wait(call, pending);
    const now = this.clock();
    // The operator may have revoked or narrowed the key while the request waited.
    const key = await this.callerSteps.recheck(call, view.purpose, now);
    if (isRefusal(key)) return answerLateRefusal(call, key, report);
    return this.#answerOutcome(call, outcome, { key, report }, now, view);
  }

  async #wait(call: Call, outcome: MaybePromise<Outcome>): Promise<Outcome> {
    // Twice: a request may wait in vain for another instance, and then for our own call.
    call.extendIdleTimeout(2 * this.relay.longestWaitMs);
    try {
      return await outcome;
    } finally {
      call.resetIdleTimeout();
    }
  }

  #answerOutcome(call: Call, outcome: Outcome, { key, report }: Reader, now: number, view: ReadingView): Response {
    if (isRefusal(outcome)) return answerRefusal(call, outcome, report);
    const body = view.bodyOf(call, outcome.snapshot, key.grant);
    const { headers: requested } = call.request;
    if (isMatchingEtag(requested.get("if-none-match"), body.etag)) {
      return completeReading(new Response(null, { status: 304, headers: headersOf(body) }), outcome, report, now);
    }
    const gzipped = findGzipped(requested, body);
    const payload = toPayload(call, gzipped ?? body.bytes, key.keyId, this.unsent);
    if (!payload) return answerRefusal(call, TOO_MUCH_UNSENT, report);
    const response = new Response(payload, { headers: headersOf(body) });
    if (gzipped) response.headers.set("Content-Encoding", "gzip");
    return completeReading(response, outcome, report, now);
  }
}

/** Adds the headers that depend on the time and the caller. */
function completeReading(response: Response, reading: Reading, report: LimitReport | null, now: number): Response {
  const ageMs = reading.isHit ? now - reading.snapshot.fetchedAt : 0;
  if (ageMs >= 1000) response.headers.set("Age", String(Math.floor(ageMs / 1000)));
  if (report) {
    response.headers.set("X-RateLimit-Remaining", String(report.remaining));
    response.headers.set("X-RateLimit-Reset", toResetSeconds(report.resetAt));
  }
  if (!reading.isHit) response.headers.set("X-Cache", "miss");
  return response;
}

/** The headers of a cache hit, cached by body: copying them is cheaper than building them from a list. */
const hitHeaders = new WeakMap<Body, Headers>();

function headersOf(body: Body): Headers {
  const cached = hitHeaders.get(body);
  if (cached) return cached;
  const headers = new Headers({
    "Content-Type": "application/json",
    "Cache-Control": "private, no-cache",
    ...NO_SNIFFING,
    Vary: "Accept-Encoding",
    ETag: body.etag,
    Age: "0",
    "X-Cache": "hit",
    "X-RateLimit-Limit": LIMIT_TEXT,
    "X-RateLimit-Bucket": LIMIT_BUCKET,
  });
  hitHeaders.set(body, headers);
  return headers;
}
