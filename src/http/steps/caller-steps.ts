// The steps before every route of the public API: authenticate, admit, check rights. The handler after them knows its
// caller.
import { isRefusal, type Refusal } from "../../core/errors.ts";
import type { GameServer } from "../../core/game-server.ts";
import { type ApiKey, findForbidden } from "../../core/keys/api-key.ts";
import { type Ability, HIDES_LOCATION, HIDES_NOTHING, type HiddenSet } from "../../core/keys/rights.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { LimitStore } from "../../core/ports/limits.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import { NO_SECTIONS, type SectionSet, toSectionSet } from "../../core/sections.ts";
import type { ErrorName } from "../../core/wire/error.ts";
import { type Admission, admit, type LimitReport } from "../../gateway/keys/admit.ts";
import { type Authenticator, INVALID_TOKEN } from "../../gateway/keys/authenticate.ts";
import type { CountedKey } from "../../gateway/keys/counted-key.ts";
import { answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import { type Definition, type Handler, withOperation } from "../operation.ts";

/** `report` is null when the request did not count. */
export type Caller = { readonly key: ApiKey; readonly server: GameServer; readonly report: LimitReport | null };

/** What the rights of a stream's reader depend on, beside its key. */
export type StreamCaller = {
  readonly authorization: string | null;
  /** The `<community>` segment of the path, if it has one. */
  readonly community: string | undefined;
  /** The client's address when the stream was opened. */
  readonly address: string;
};

export type CallerHandler = (call: Call, caller: Caller) => MaybePromise<Response>;

/** Decides whether requests to a route count toward the limit, and which rights they need. */
export type Purpose = {
  readonly isCounted: boolean;
  readonly isCommand: boolean;
  /** Whether section names in the query request sections. Other routes ignore them. */
  readonly hasSections: boolean;
  /** Sections that the key must be allowed to read, whatever the query says. */
  readonly needs?: SectionSet;
  /** What the caller must be able to do. */
  readonly ability?: Ability;
  /** Fields that must not be hidden from the key. */
  readonly needsFields?: HiddenSet;
};
/** Needs no section: the handler shows only what the key may read. */
export const READING: Purpose = { isCounted: true, isCommand: false, hasSections: false };
export const READING_SERVER: Purpose = { isCounted: true, isCommand: false, hasSections: true };
export const READING_MAP: Purpose = { ...READING, needs: toSectionSet(["Players"]), needsFields: HIDES_LOCATION };
export const READING_PLAYERS: Purpose = { ...READING, needs: toSectionSet(["Players"]) };
export const WRITING_NOTES: Purpose = { ...READING_PLAYERS, ability: "notes" };
export const READING_MOD_CALLS: Purpose = { ...READING, needs: toSectionSet(["ModCalls"]) };
export const CLAIMING: Purpose = { ...READING_MOD_CALLS, ability: "claim" };
export const SENDING_COMMAND: Purpose = { isCounted: false, isCommand: true, hasSections: false };
export const MANAGING_COMMANDS: Purpose = { isCounted: true, isCommand: true, hasSections: false };

const CALLER_ERRORS: readonly ErrorName[] = [
  "missingToken",
  "invalidToken",
  "forbidden",
  "versionForbidden",
  "spamBlocked",
  "internal",
  "unavailable",
];
/** What the steps before a counted request refuse with. */
export const COUNTED_ERRORS: readonly ErrorName[] = [...CALLER_ERRORS, "rateLimited"];

export type CallerStepsParts = {
  readonly authenticator: Authenticator;
  readonly limits: Pick<LimitStore, "judge">;
  readonly servers: Pick<ServerStore, "find">;
  readonly findAddress: (call: Call) => string;
};

/**
 * Synchronous wherever the store is: a promise for every request would cost more than all the steps. What waits is a method of
 * its own, because a function with a closure in it allocates for every call, also when it does not wait.
 */
export class CallerSteps {
  constructor(private readonly parts: CallerStepsParts) {}

  /** Puts the steps before a handler. */
  before(purpose: Purpose, handler: CallerHandler): Handler {
    return (call) => this.authenticate(call, purpose, handler);
  }

  authenticate(call: Call, purpose: Purpose, handler: CallerHandler): MaybePromise<Response> {
    const key = this.#findKey(call, call.now);
    return key instanceof Promise
      ? this.#admitLater(call, key, purpose, handler)
      : this.admit(call, key, purpose, handler);
  }

  async #admitLater(
    call: Call,
    key: Promise<CountedKey | Refusal>,
    purpose: Purpose,
    handler: CallerHandler,
  ): Promise<Response> {
    const found = await key;
    call.readClock();
    return this.admit(call, found, purpose, handler);
  }

  admit(call: Call, key: CountedKey | Refusal, purpose: Purpose, handler: CallerHandler): MaybePromise<Response> {
    if (isRefusal(key)) return answerRefusal(call, key);
    call.key = key;
    const admission = admit(this.parts.limits, key, call.now, purpose.isCounted);
    return admission instanceof Promise
      ? this.#checkRightsLater(call, admission, purpose, handler)
      : this.checkRights(call, key, admission, purpose, handler);
  }

  async #checkRightsLater(
    call: Call,
    admission: Promise<Admission>,
    purpose: Purpose,
    handler: CallerHandler,
  ): Promise<Response> {
    const admitted = await admission;
    call.readClock();
    // Meanwhile a change of the key on another instance may have become known.
    const current = await this.#findKey(call, call.now);
    if (isRefusal(current)) return answerRefusal(call, current, admitted.report);
    call.key = current;
    return this.checkRights(call, current, admitted, purpose, handler);
  }

  checkRights(
    call: Call,
    key: ApiKey,
    { refusal, report }: Admission,
    purpose: Purpose,
    handler: CallerHandler,
  ): MaybePromise<Response> {
    call.report = report;
    if (refusal) return answerRefusal(call, refusal, report);
    const server = this.parts.servers.find(key.serverId);
    if (!server) return answerRefusal(call, INVALID_TOKEN, report);
    const forbidden = this.#findForbidden(call, key, server, purpose);
    return forbidden ? answerRefusal(call, forbidden, report) : handler(call, { key, server, report });
  }

  /** The caller's key, if it may still do this: it may have changed while the request waited. Counts nothing. */
  async recheck(call: Call, purpose: Purpose, now: number): Promise<ApiKey | Refusal> {
    const key = await this.#findKey(call, now);
    if (isRefusal(key)) return key;
    const server = this.parts.servers.find(key.serverId);
    return server ? (this.#findForbidden(call, key, server, purpose) ?? key) : INVALID_TOKEN;
  }

  #findKey(call: Call, now: number): MaybePromise<CountedKey | Refusal> {
    const { authenticator } = this.parts;
    if (call.form) return call.form.authenticate(call, authenticator, now);
    return authenticator.authenticate(call.request.headers.get("authorization"), now);
  }

  /** Like `recheck`, for the reader of an open stream. */
  recheckReader(reader: StreamCaller, now: number): MaybePromise<ApiKey | Refusal> {
    const key = this.parts.authenticator.authenticate(reader.authorization, now);
    return key instanceof Promise
      ? key.then((found) => this.#judgeReader(reader, found))
      : this.#judgeReader(reader, key);
  }

  /** All steps for the reader of a stream who sends its token after its request. */
  async admitReader(call: Call, reader: StreamCaller): Promise<Caller | Refusal> {
    const { authenticator, limits, servers } = this.parts;
    call.readClock();
    const known = await authenticator.authenticate(reader.authorization, call.now);
    if (isRefusal(known)) return known;
    call.readClock();
    const { refusal, report } = await admit(limits, known, call.now, READING.isCounted);
    call.key = known;
    if (refusal) return refusal;
    call.readClock();
    const key = await authenticator.authenticate(reader.authorization, call.now);
    if (isRefusal(key)) return key;
    call.key = key;
    const judged = this.#judgeReader(reader, key);
    if (isRefusal(judged)) return judged;
    const server = servers.find(key.serverId);
    return server ? { key, server, report } : INVALID_TOKEN;
  }

  #judgeReader(reader: StreamCaller, key: ApiKey | Refusal): ApiKey | Refusal {
    if (isRefusal(key)) return key;
    const server = this.parts.servers.find(key.serverId);
    if (!server) return INVALID_TOKEN;
    const { community, address } = reader;
    const access = { version: "v2", community, address, sections: NO_SECTIONS, isCommand: false } as const;
    return findForbidden(key.grant, { ...access, serverCommunity: server.community }) ?? key;
  }

  #findForbidden(call: Call, key: ApiKey, server: GameServer, purpose: Purpose): Refusal | undefined {
    const { grant } = key;
    return findForbidden(grant, {
      version: "v2",
      community: call.target.params.community,
      serverCommunity: server.community,
      sections: purpose.hasSections ? call.target.sections : (purpose.needs ?? NO_SECTIONS),
      fields: purpose.needsFields ?? HIDES_NOTHING,
      isCommand: purpose.isCommand,
      ability: purpose.ability,
      isPerson: key.person !== null,
      address: grant.allowedFrom ? this.parts.findAddress(call) : "",
    });
  }
}

/** An operation behind the steps. `Deps` is what it works with. */
export type CallerOperation<Deps> = Definition & {
  readonly answer: (deps: Deps, call: Call, caller: Caller) => MaybePromise<Response>;
};

export function behindCallerSteps<Deps extends { readonly callerSteps: CallerSteps }>(
  deps: Deps,
  purpose: Purpose,
  operation: CallerOperation<Deps>,
): Handler {
  const { callerSteps } = deps;
  const { isCounted, hasSections, needs } = purpose;
  const handler: CallerHandler = (call, caller) => operation.answer(deps, call, caller);
  const handle = (call: Call) => callerSteps.authenticate(call, purpose, handler);
  const errors = isCounted ? COUNTED_ERRORS : CALLER_ERRORS;
  const sectionErrors: readonly ErrorName[] = hasSections || needs ? ["sectionForbidden"] : [];
  return withOperation(handle, operation, ["apiKey"], [...errors, ...sectionErrors], isCounted);
}
