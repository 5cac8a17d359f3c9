// How long a player was there in a period. Pure.
import type { SessionResource } from "../../../core/wire/history.ts";
import type { Period } from "../../state/period.ts";

/** In seconds. Of a session that reaches over an end of the period only the part inside counts. */
export function sumSessions(sessions: readonly SessionResource[], { from, to }: Period): number {
  const ms = sessions.reduce((sum, { joined_at, left_at }) => {
    return sum + Math.max(0, Math.min(left_at ?? to, to) - Math.max(joined_at, from));
  }, 0);
  return Math.floor(ms / 1000);
}
