// Which state of a server everybody is told, from what its readings brought.
import { silenceMs } from "../../core/events/judge-state.ts";
import type { PublicState } from "../../core/wire/status.ts";
import type { Relay } from "../readings/relay.ts";

/** A server whose readings fail and that was not asked for this long is unknown. */
const FAILURE_KEPT_MS = 10 * 60_000;

export type StateFacts = Pick<ReturnType<Relay["summarize"]>, "state" | "lastReadAt" | "lastError"> & {
  /** When the last reading was made that showed the server online; null for none. */
  readonly onlineAt: number | null;
  /** How often the server is read. */
  readonly intervalMs: number;
};

/** A good reading counts as long as the ledger lets it: one failed reading, or a short pause, changes nothing. */
export function judgePublicState(facts: StateFacts, now: number): PublicState {
  const { state, lastReadAt, lastError, onlineAt, intervalMs } = facts;
  if (state === "parked" || state === "not_asked") return "unknown";
  if (lastReadAt !== null && now - lastReadAt < silenceMs(intervalMs)) {
    return onlineAt === lastReadAt ? "online" : "offline";
  }
  // A refused key is not tried again, so its failure does not get old.
  if (state === "key_refused") return "unreachable";
  const isFailing = state === "unreachable" && lastError !== null && now - lastError.at < FAILURE_KEPT_MS;
  return isFailing ? "unreachable" : "unknown";
}
