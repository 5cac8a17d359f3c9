// The form of the façade's requests and refusals: the key comes in the header `server-key`, and a refusal is an error of the
// game API. The steps before the handlers are those of our own API.
import type { Refusal } from "../../core/errors.ts";
import { parseServerKeyHeader, toFacadeHome } from "../../core/facade/facade-key.ts";
import { MALFORMED_KEY, toGameError } from "../../core/facade/game-errors.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { LimitReport } from "../../gateway/keys/admit.ts";
import { type Authenticator, INVALID_TOKEN, MISSING_TOKEN } from "../../gateway/keys/authenticate.ts";
import type { CountedKey } from "../../gateway/keys/counted-key.ts";
import { answerJson } from "../answers.ts";
import type { Call, ForeignForm } from "../call.ts";
import type { Handler } from "../operation.ts";

export const GAME_FORM: ForeignForm = {
  authenticate(call, authenticator, now) {
    return findFacadeKey(call.request.headers.get("server-key"), authenticator, now);
  },
  answerRefusal(call, refusal, report) {
    return answerGameError(call, refusal, report);
  },
};

const FACADE_PATH = /^\/(?:v2\/server(?:\/command)?|erlc\/v1\/.*)$/;

const NO_KEYS = { missing: MISSING_TOKEN, malformed: MALFORMED_KEY, unknown: INVALID_TOKEN } as const;

/** Whether clients of the game API use the path. For the time when there are no routes yet. */
export function isFacadePath(path: string): boolean {
  return FACADE_PATH.test(path);
}

/** Puts the form before the steps of a route. */
export function inGameForm(handler: Handler): Handler {
  return (call) => {
    call.form = GAME_FORM;
    return handler(call);
  };
}

/** `Authorization` is not looked at: clients send the game API's global key there. */
function findFacadeKey(
  header: string | null,
  authenticator: Authenticator,
  now: number,
): MaybePromise<CountedKey | Refusal> {
  const parsed = parseServerKeyHeader(header);
  if (parsed.kind !== "token") return NO_KEYS[parsed.kind];
  const { token, home } = parsed;
  const key = authenticator.authenticate(`Bearer ${token}`, now);
  return key instanceof Promise ? key.then((found) => checkHome(found, home)) : checkHome(key, home);
}

/** The part after the hyphen is no secret, but a key with another one is not the key that we have shown. */
function checkHome(key: CountedKey | Refusal, home: string | null): CountedKey | Refusal {
  if (home === null || "refused" in key || toFacadeHome(key.serverId) === home) return key;
  return INVALID_TOKEN;
}

function answerGameError(call: Call, refusal: Refusal, report: LimitReport | null): Response {
  const { status, body, headers } = toGameError(refusal, report?.resetAt ?? null, call.now);
  const response = answerJson(body, status, report);
  for (const name in headers) response.headers.set(name, headers[name] ?? "");
  return response;
}
