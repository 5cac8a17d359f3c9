// Reads what instances share about calls to the game API, without being one of them. The doctor calls only when it allows it.
import { type Budget, UNKNOWN_BUDGET } from "../../core/budget.ts";
import type { UpstreamFailure } from "../../core/ports/upstream.ts";
import { NAMES } from "./names.ts";
import type { RedisLink } from "./redis-link.ts";
import { findGlobalKeyFailure, parseBudget } from "./relay-share.ts";

export type SharedNotes = {
  readonly budget: Budget;
  readonly globalKeyFailure: UpstreamFailure | null;
  /** Redis's time, by which the pause was noted. */
  readonly now: number;
};

export async function readSharedNotes(link: RedisLink, identity: string): Promise<SharedNotes> {
  const text = await link.send(NAMES.budget, "GET", NAMES.budget);
  const [seconds, micros] = (await link.send(NAMES.budget, "TIME")) as string[];
  return {
    budget: typeof text === "string" ? parseBudget(text) : UNKNOWN_BUDGET,
    globalKeyFailure: await findGlobalKeyFailure(link, identity),
    now: Number(seconds) * 1000 + Math.floor(Number(micros) / 1000),
  };
}
