// Version 1 is switched off: every request under /v1 is answered with 5018, with or without a key.
import { ERRORS, refuse } from "../core/errors.ts";
import { answerRefusal } from "./answers.ts";
import type { Call } from "./call.ts";

const OBSOLETE = refuse(ERRORS.obsolete);

export function answerLegacyV1(call: Call): Response {
  return answerRefusal(call, OBSOLETE);
}
