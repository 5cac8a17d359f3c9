// Version 1 is disabled: whatever is asked of it, with or without a key, the answer is 5018.
import { ERRORS, refuse } from "../core/errors.ts";
import { answerRefusal } from "./answers.ts";
import type { Call } from "./call.ts";

const OBSOLETE = refuse(ERRORS.obsolete);

export function answerLegacyV1(call: Call): Response {
  return answerRefusal(call, OBSOLETE);
}
