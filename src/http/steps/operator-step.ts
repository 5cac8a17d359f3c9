// The step before every admin route: checks the master key, a person's token or an API key, and what a person or key needs for
// the operation. The handler after it knows who acts, and with which right.
import { isRefusal, type Refusal } from "../../core/errors.ts";
import { type ApiKey, ROLE_FORBIDDEN } from "../../core/keys/api-key.ts";
import { parseBearer } from "../../core/keys/bearer.ts";
import { type Ability, hasAbility, KEY_ABILITIES } from "../../core/keys/rights.ts";
import { isWellFormedToken } from "../../core/keys/token.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { type Authority, authorityOf, authorityOfKey, OPERATOR_AUTHORITY } from "../../core/people/authority.ts";
import type { Person } from "../../core/people/person.ts";
import type { Role } from "../../core/people/role.ts";
import { type Actor, toKeyActor, toMasterActor, toPersonActor } from "../../core/ports/audit.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Store } from "../../core/ports/store.ts";
import type { ErrorName } from "../../core/wire/error.ts";
import type { Authenticator } from "../../gateway/keys/authenticate.ts";
import { type GuessLimit, type OperatorCheck, WRONG_KEY } from "../../gateway/keys/authenticate-operator.ts";
import { SESSION_TOKEN_PREFIX } from "../../gateway/people/session-tokens.ts";
import { addLimit, answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import { type Definition, type Handler, withOperation } from "../operation.ts";
import { pathIdOf } from "../requests/parse-request.ts";
import { type CallerSteps, COUNTED_ERRORS, READING } from "./caller-steps.ts";

const OPERATOR_ERRORS: readonly ErrorName[] = [
  "missingToken",
  "invalidMasterKey",
  "forbidden",
  "tooManyAttempts",
  "internal",
  "unavailable",
];

/** What the id in the path names, and so on which server the right is needed. */
export type Named = "server" | "key" | "webhook" | "command" | "block";

/** What a person who is no operator needs. */
export type Need = {
  /** `anything`: any ability that opens a part of the admin API. `operator`: no role is enough. */
  readonly ability: Ability | "anything" | "operator";
  /** `handler`: to have it on some server is enough here, and the handler checks on which, by `authority`. */
  readonly on: Named | "handler";
};

/** For the master key, and for people who are operators. */
export const OPERATORS: Need = { ability: "operator", on: "handler" };
/** The same, where the path names a server: others are not told which servers there are. */
export const OPERATORS_OF_SERVER: Need = { ability: "operator", on: "server" };

/** For people who may do this on the server of what the path names, and for operators. */
export function may(ability: Ability | "anything", on: Named | "handler"): Need {
  return { ability, on };
}

/** A person who may use the admin API, with the roles of this moment by server. */
type Administrator = { readonly person: Person; readonly roles: ReadonlyMap<string, Role> };

/** Who acts with a token for the admin API. Undefined when it is none, or no longer. */
type FindAdmin = (token: string, now: number) => MaybePromise<Administrator | undefined>;

/** Who uses the admin API. */
export type AdminCaller = {
  readonly actor: Actor;
  readonly authority: Authority;
  /** The right that they have now, which may be less than before a wait. */
  readonly recheck: () => MaybePromise<Authority | Refusal>;
};

export type OperatorStepParts = {
  readonly operatorCheck: OperatorCheck;
  readonly findAdmin: FindAdmin;
  readonly store: Pick<Store, "roles" | "catchUp">;
  /** For API keys: who they are, and the steps of every request of theirs. */
  readonly authenticator: Authenticator;
  readonly callerSteps: CallerSteps;
  readonly guesses: GuessLimit;
  /** The fingerprint of the master key, for the audit log. */
  readonly fingerprint: string;
  readonly findAddress: (call: Call) => string;
  /** The server of a resource; undefined when there is no such resource. */
  readonly findServer: (named: Named, id: string) => MaybePromise<string | undefined>;
  readonly clock: Clock;
};

export class OperatorStep {
  constructor(private readonly parts: OperatorStepParts) {}

  async authenticate(call: Call, need: Need, answer: (caller: AdminCaller) => Promise<Response>): Promise<Response> {
    const { operatorCheck, fingerprint, findAddress, store } = this.parts;
    const header = call.request.headers.get("authorization");
    const refusal = operatorCheck.check(header);
    const token = refusal && findSessionToken(header);
    if (token) return this.#authenticatePerson(call, token, need, answer);
    if (refusal && isApiKey(header)) return this.#authenticateKey(call, need, answer);
    const address = findAddress(call);
    if (refusal) return this.#refuse(call, refusal, address);
    await store.catchUp();
    call.readClock();
    return answer({
      actor: toMasterActor(fingerprint, address),
      authority: OPERATOR_AUTHORITY,
      recheck: () => OPERATOR_AUTHORITY,
    });
  }

  async #authenticatePerson(
    call: Call,
    token: string,
    need: Need,
    answer: (caller: AdminCaller) => Promise<Response>,
  ): Promise<Response> {
    const { findAdmin, store, findAddress, findServer, clock } = this.parts;
    // Before anything is awaited: the socket knows the address.
    const address = findAddress(call);
    const findAuthority = ({ person, roles: own }: Administrator) =>
      authorityOf(person, own, (name) => store.roles.find(name));
    const found = await findAdmin(token, call.now);
    call.readClock();
    if (!found) return this.#refuse(call, WRONG_KEY, address);
    const authority = findAuthority(found);
    const isAboutServer = need.on !== "handler" && !authority.isOperator;
    const serverId = isAboutServer ? await findServer(need.on, pathIdOf(call)) : undefined;
    const refusal = judgeNeed(authority, need, serverId);
    if (refusal) return answerRefusal(call, refusal);
    return answer({
      actor: toPersonActor(found.person, address),
      authority,
      async recheck() {
        const again = await findAdmin(token, clock());
        if (!again) return WRONG_KEY;
        const present = findAuthority(again);
        return judgeNeed(present, need, serverId) ?? present;
      },
    });
  }

  /** A key that may do nothing in the admin API is no better than a wrong master key. Requests of others count like reads. */
  async #authenticateKey(
    call: Call,
    need: Need,
    answer: (caller: AdminCaller) => Promise<Response>,
  ): Promise<Response> {
    const { authenticator, callerSteps, store, findAddress, findServer, clock } = this.parts;
    const address = findAddress(call);
    await store.catchUp();
    const found = await authenticator.authenticate(call.request.headers.get("authorization"), call.now);
    call.readClock();
    const isAdministrator = !isRefusal(found) && KEY_ABILITIES.some((ability) => hasAbility(found.grant.may, ability));
    if (!isAdministrator) return this.#refuse(call, WRONG_KEY, address);
    return callerSteps.admit(call, found, READING, async (_, { key, report }) => {
      const isAboutServer = need.on !== "handler";
      const serverId = isAboutServer ? await findServer(need.on, pathIdOf(call)) : undefined;
      const judge = (one: ApiKey) => {
        const authority = authorityOfKey(one);
        return (isForKeys(need) ? judgeNeed(authority, need, serverId) : ROLE_FORBIDDEN) ?? authority;
      };
      const authority = judge(key);
      if (isRefusal(authority)) return answerRefusal(call, authority, report);
      const response = await answer({
        actor: toKeyActor(key, address),
        authority,
        async recheck() {
          const again = await callerSteps.recheck(call, READING, clock());
          return isRefusal(again) ? again : judge(again);
        },
      });
      return addLimit(response, report);
    });
  }

  #refuse(call: Call, refusal: Refusal, address: string): Response {
    return answerRefusal(call, this.parts.guesses.judge(refusal, address, call.now));
  }
}

/** Why the need is not met. */
function judgeNeed(authority: Authority, { ability, on }: Need, serverId: string | undefined): Refusal | undefined {
  if (authority.isOperator) return undefined;
  const required = ability === "anything" || ability === "operator" ? undefined : ability;
  const refusal = on === "handler" ? judgeAnywhere(authority, required) : authority.require(serverId, required);
  return refusal ?? (ability === "operator" ? ROLE_FORBIDDEN : undefined);
}

function judgeAnywhere(authority: Authority, ability: Ability | undefined): Refusal | undefined {
  return authority.listServers(ability)?.length === 0 ? ROLE_FORBIDDEN : undefined;
}

/** Whether a key may have what the operation needs. */
function isForKeys(need: Need): boolean {
  return KEY_ABILITIES.some((ability) => ability === need.ability);
}

function isApiKey(header: string | null): boolean {
  const bearer = parseBearer(header);
  return bearer.kind === "token" && isWellFormedToken(bearer.token);
}

/** The token of a person, if it looks like one. */
export function findSessionToken(header: string | null): string | undefined {
  const bearer = parseBearer(header);
  return bearer.kind === "token" && bearer.token.startsWith(SESSION_TOKEN_PREFIX) ? bearer.token : undefined;
}

/** An operation behind the step. `Deps` is what it works with. */
export type OperatorOperation<Deps> = Definition & {
  readonly answer: (deps: Deps, call: Call, caller: AdminCaller) => Promise<Response>;
};

export function behindOperatorStep<Deps extends { readonly operatorStep: OperatorStep }>(
  deps: Deps,
  need: Need,
  operation: OperatorOperation<Deps>,
): Handler {
  const { operatorStep } = deps;
  const handle = (call: Call) =>
    operatorStep.authenticate(call, need, (caller) => operation.answer(deps, call, caller));
  const [keys, errors] = isForKeys(need)
    ? ([["apiKey"], [...OPERATOR_ERRORS, ...COUNTED_ERRORS.filter((name) => name !== "invalidToken")]] as const)
    : ([[], OPERATOR_ERRORS] as const);
  const security = ["masterKey", "sessionToken", ...keys] as const;
  return Object.assign(withOperation(handle, operation, security, errors, isForKeys(need) && "ofKeys"), { need });
}
