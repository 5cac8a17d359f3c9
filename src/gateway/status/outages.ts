// When a server was not online, from the changes of its state in the ledger.
import type { StateChange } from "../../core/ports/state-changes.ts";
import type { StatusOutage } from "../../core/wire/status.ts";

/** `changes` are newest first. The outages that were not over before `from`, newest first. */
export function listOutages(changes: readonly StateChange[], from: number): StatusOutage[] {
  const outages: StatusOutage[] = [];
  let end: number | null = null;
  for (const [index, { state, at }] of changes.entries()) {
    // The state may be recorded again without a change; the outage began with the older one.
    const isContinued = changes[index + 1]?.state === state;
    if (state !== "online" && !isContinued) {
      // A clock that was set back would make it end before it began.
      outages.push({ state, from: at, to: end === null ? null : Math.max(end, at) });
    }
    if (!isContinued) end = at;
  }
  return outages.filter(({ to }) => to === null || to >= from);
}
