// The steps before every route of the public API: whose key is it, may it ask again now, may it ask for this. Behind them
// a handler knows its caller.
import { type ApiKey, findForbidden } from "../core/api-key.ts";
import { isRefusal, type Refusal } from "../core/errors.ts";
import type { GameServer } from "../core/game-server.ts";
import type { MaybePromise, Store } from "../core/ports.ts";
import { NO_SECTIONS } from "../core/sections.ts";
import { type Admission, admit, type LimitReport } from "../gateway/admit.ts";
import { type Authenticate, INVALID_TOKEN } from "../gateway/authenticate.ts";
import { answerRefusal } from "./answers.ts";
import type { Call, Handler } from "./call.ts";

/** `report` is null when the request did not count. */
export type Caller = {
  readonly key: ApiKey;
  readonly server: GameServer;
  readonly report: LimitReport | null;
};

export type CallerHandler = (call: Call, caller: Caller) => MaybePromise<Response>;

/** What a route is for decides whether its requests count, and which rights they need. */
export type Purpose = {
  readonly isCounted: boolean;
  readonly isCommand: boolean;
  /** Whether names of sections in its query ask for them; elsewhere they mean nothing. */
  readonly hasSections: boolean;
};
export const READING: Purpose = { isCounted: true, isCommand: false, hasSections: true };
export const INQUIRING: Purpose = { isCounted: true, isCommand: false, hasSections: false };
export const COMMANDING: Purpose = { isCounted: false, isCommand: true, hasSections: false };
export const FOLLOWING_UP: Purpose = { isCounted: true, isCommand: true, hasSections: false };

export type CallerOnly = (purpose: Purpose, handler: CallerHandler) => Handler;

/** For a command whose body took its time: the key again, if it may still send commands. */
export type RecheckCommander = (call: Call, now: number) => ApiKey | Refusal;

export function createCallerSteps(parts: {
  readonly authenticate: Authenticate;
  readonly store: Pick<Store, "judge" | "findServer">;
  readonly findAddress: (call: Call) => string;
}): { readonly only: CallerOnly; readonly recheck: RecheckCommander } {
  const { authenticate, store, findAddress } = parts;
  return { only, recheck };

  function judgeRights(call: Call, key: ApiKey, server: GameServer, purpose: Purpose): Refusal | undefined {
    const { grant } = key;
    return findForbidden(grant, {
      version: "v2",
      community: call.target.params.community,
      serverCommunity: server.community,
      sections: purpose.hasSections ? call.target.sections : NO_SECTIONS,
      isCommand: purpose.isCommand,
      address: grant.allowedFrom ? findAddress(call) : "",
    });
  }

  function recheck(call: Call, now: number): ApiKey | Refusal {
    const key = authenticate(call.request.headers.get("authorization"), now);
    if (isRefusal(key)) return key;
    const server = store.findServer(key.serverId);
    return server ? (judgeRights(call, key, server, COMMANDING) ?? key) : INVALID_TOKEN;
  }

  function only(purpose: Purpose, handler: CallerHandler): Handler {
    return identify;

    function identify(call: Call): MaybePromise<Response> {
      const account = authenticate(call.request.headers.get("authorization"), call.now);
      if (isRefusal(account)) return answerRefusal(call, account);
      call.account = account;
      // Not waited for unless it must be: a promise for every request would cost more than the rest of these steps.
      const admission = admit(store, account, call.now, purpose.isCounted);
      return admission instanceof Promise
        ? allowLater(call, account, admission)
        : allow(call, account, admission);
    }

    async function allowLater(call: Call, key: ApiKey, admission: Promise<Admission>): Promise<Response> {
      return allow(call, key, await admission);
    }

    function allow(call: Call, key: ApiKey, { refusal, report }: Admission): MaybePromise<Response> {
      call.report = report;
      if (refusal) return answerRefusal(call, refusal, report);
      const server = store.findServer(key.serverId);
      if (!server) return answerRefusal(call, INVALID_TOKEN, report);
      const forbidden = judgeRights(call, key, server, purpose);
      return forbidden ? answerRefusal(call, forbidden, report) : handler(call, { key, server, report });
    }
  }
}
