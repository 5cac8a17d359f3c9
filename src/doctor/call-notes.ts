// What the store has noted about calls to the game API. The doctor follows it as an instance does: calls during a pause or
// with a refused key can get the address banned.
import { resolve } from "node:path";
import { formatSeconds } from "../core/human-units.ts";
import type { UpstreamFailure } from "../core/ports/upstream.ts";
import { type Budget, createBudget, followClock } from "../core/readings/budget.ts";
import { identifyUpstream, type SavedNotes } from "../core/readings/upstream-notes.ts";
import { readUpstreamNotes } from "../database/store/inspect-store.ts";
import type { Config } from "../instance/config.ts";
import { readPostgresNotes } from "./check-postgres.ts";
import { type Finding, reportAs } from "./finding.ts";

export type CallNotes = Pick<SavedNotes, "refusedKeys" | "globalKeyFailure"> & {
  /** How long the pause after a 429 still lasts; 0 when there is none. */
  readonly pauseMs: number;
};

/** Throws when there is a store that cannot be read. */
export async function readCallNotes(config: Config): Promise<CallNotes> {
  const { upstreamUrl = "", upstreamGlobalKey, store, dataDir } = config;
  const identity = identifyUpstream(upstreamUrl, upstreamGlobalKey);
  const { pause, refusedKeys, globalKeyFailure } =
    store === "sqlite"
      ? readUpstreamNotes(`${resolve(dataDir)}/gatehouse.db`, identity)
      : await readPostgresNotes(store.postgresUrl, identity);
  return {
    pauseMs: msPaused(createBudget(pause), Date.now()),
    refusedKeys,
    globalKeyFailure: upstreamGlobalKey === undefined ? null : globalKeyFailure,
  };
}

function msPaused(budget: Budget, now: number): number {
  return Math.max(0, followClock(budget, now).pausedUntil - now);
}

/** The second half of a sentence. */
export function describePause(pauseMs: number): string {
  const left = formatSeconds(Math.ceil(pauseMs / 1000));
  return `calls to the game API are paused after a 429, for ${left} more.`;
}

export function reportGlobalKey(name: string, { code, message }: Pick<UpstreamFailure, "code" | "message">): Finding[] {
  return reportAs(name).fail(
    `The game API refuses the application's own key: ${message} (${code})`,
    "Correct or remove GATEHOUSE_UPSTREAM_GLOBAL_KEY.",
  );
}
