// The step before every admin route: the master key. Behind it a handler knows who acts.
import type { Actor } from "../core/ports/audit.ts";
import type { CheckOperator, GuessLimit } from "../gateway/keys/authenticate-operator.ts";
import { answerRefusal } from "./answers.ts";
import type { Call, Handler } from "./call.ts";

export type OperatorHandler = (call: Call, actor: Actor) => Promise<Response>;
export type OperatorOnly = (handler: OperatorHandler) => Handler;

export function createOperatorOnly(parts: {
  readonly check: CheckOperator;
  readonly guesses: GuessLimit;
  readonly fingerprint: string;
  readonly findAddress: (call: Call) => string;
}): OperatorOnly {
  const { check, guesses, fingerprint, findAddress } = parts;
  return (handler) => (call) => {
    const refusal = check(call.request.headers.get("authorization"));
    const address = findAddress(call);
    if (refusal) return answerRefusal(call, guesses.judge(refusal, address, call.now));
    return handler(call, { fingerprint, address });
  };
}
