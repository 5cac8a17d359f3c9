// The step before every admin route: checks the master key. The handler after it knows who acts.
import type { MaybePromise } from "../core/maybe-promise.ts";
import type { Actor } from "../core/ports/audit.ts";
import type { GuessLimit, OperatorCheck } from "../gateway/keys/authenticate-operator.ts";
import { answerRefusal } from "./answers.ts";
import type { Call, Handler } from "./call.ts";

export type OperatorHandler = (call: Call, actor: Actor) => Promise<Response>;

export type OperatorStepParts = {
  readonly operatorCheck: OperatorCheck;
  readonly guesses: GuessLimit;
  /** The fingerprint of the master key, for the audit log. */
  readonly fingerprint: string;
  readonly findAddress: (call: Call) => string;
};

export class OperatorStep {
  readonly #parts: OperatorStepParts;

  constructor(parts: OperatorStepParts) {
    this.#parts = parts;
  }

  /** Puts the step before a handler. */
  before(handler: OperatorHandler): Handler {
    return (call) => this.authenticate(call, handler);
  }

  authenticate(call: Call, handler: OperatorHandler): MaybePromise<Response> {
    const { operatorCheck, guesses, fingerprint, findAddress } = this.#parts;
    const refusal = operatorCheck.check(call.request.headers.get("authorization"));
    const address = findAddress(call);
    if (refusal) return answerRefusal(call, guesses.judge(refusal, address, call.now));
    return handler(call, { fingerprint, address });
  }
}
