// Refusals of requests with an invalid field, or for something that does not exist.
import { ERRORS, type Refusal, refuse } from "./errors.ts";

export const NOT_FOUND: Refusal = refuse(ERRORS.notFound);

export function refuseField(field: string, reason: string): Refusal {
  return refuseFields({ [field]: reason });
}

export function refuseFields(details: Readonly<Record<string, string>>): Refusal {
  return refuse(ERRORS.invalidRequest, { details });
}
