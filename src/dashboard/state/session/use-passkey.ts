// Passkeys in the browser: signing in with one, and adding one. The user can always refuse, which is no failure of Gatehouse.
import { useState } from "react";
import { ERRORS } from "../../../core/errors.ts";
import type { ApiError, Outcome } from "../../api/request.ts";
import { addPasskey, signInWithPasskey } from "../../api/session.ts";
import { describeProblem, type SignInProblem } from "./session.ts";

export function canUsePasskeys(): boolean {
  return typeof PublicKeyCredential === "function";
}

const ACTIONS = { signIn: signInWithPasskey, add: addPasskey };

/** `onProblem` gets undefined when another try begins. */
export function usePasskey(
  action: keyof typeof ACTIONS,
  onProblem: (problem: SignInProblem | undefined) => void,
  onDone: () => Promise<void> | void,
) {
  const [isRunning, setRunning] = useState(false);
  async function run(): Promise<void> {
    setRunning(true);
    onProblem(undefined);
    try {
      const outcome: Outcome<unknown> = await ACTIONS[action]();
      if (outcome.ok) await onDone();
      else onProblem(describePasskeyProblem(outcome.error));
    } catch (error) {
      onProblem({ text: findRefusal(error), retryAt: 0, code: 0 });
    } finally {
      setRunning(false);
    }
  }
  return { run, isRunning };
}

function describePasskeyProblem(error: ApiError): SignInProblem {
  const problem = describeProblem(error);
  const { code, details } = error;
  if (code === ERRORS.notConfigured.code && details?.address)
    return { ...problem, text: "passkeyElsewhere", address: details.address };
  if (code === ERRORS.notConfigured.code) return { ...problem, text: "passkeyNotHere" };
  return problem.text === "invalidKey" || problem.text === "missing" ? { ...problem, text: "passkeyUnknown" } : problem;
}

/** The browser says by the name of the error why there is no passkey. */
function findRefusal(error: unknown): SignInProblem["text"] {
  const { name } = error instanceof Error ? error : { name: "" };
  if (name === "InvalidStateError") return "passkeyThere";
  return name === "NotAllowedError" || name === "AbortError" ? "passkeyCancelled" : "passkeyFailed";
}
