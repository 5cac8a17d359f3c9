// What the store has noted about calls to the game API. The doctor follows it as an instance does: calls during a pause or
// with a refused key can get the address banned.
import { resolve } from "node:path";
import type { Config } from "../config.ts";
import { type Budget, createBudget, followClock } from "../core/budget.ts";
import { formatSeconds } from "../core/format-seconds.ts";
import type { UpstreamFailure } from "../core/ports/upstream.ts";
import { identifyUpstream, type SavedNotes } from "../core/upstream-notes.ts";
import { readSharedNotes } from "../store/redis/read-upstream-notes.ts";
import { type RedisAddress, RedisLink } from "../store/redis/redis-link.ts";
import { readUpstreamNotes } from "../store/sqlite/read-upstream-notes.ts";
import { SILENT } from "./check-redis.ts";
import { type Finding, fail } from "./finding.ts";

export type CallNotes = Pick<SavedNotes, "refusedKeys" | "globalKeyFailure"> & {
  /** How long the pause after a 429 still lasts; 0 when there is none. */
  readonly pauseMs: number;
};

/** Throws when there is a store that cannot be read. */
export async function readCallNotes(config: Config): Promise<CallNotes> {
  const { upstreamUrl = "", upstreamGlobalKey, redis, dataDir } = config;
  const identity = identifyUpstream(upstreamUrl, upstreamGlobalKey);
  const notes = redis
    ? await readFromRedis(redis, identity)
    : readFromDatabase(`${resolve(dataDir)}/gatehouse.db`, identity);
  return { ...notes, globalKeyFailure: upstreamGlobalKey === undefined ? null : notes.globalKeyFailure };
}

function readFromDatabase(path: string, identity: string): CallNotes {
  const { pause, refusedKeys, globalKeyFailure } = readUpstreamNotes(path, identity);
  return { pauseMs: msPaused(createBudget(pause), Date.now()), refusedKeys, globalKeyFailure };
}

/** Without the refused server keys: those in Redis are not tested. */
async function readFromRedis(address: RedisAddress, identity: string): Promise<CallNotes> {
  const link = await RedisLink.open(address, SILENT);
  try {
    const { budget, globalKeyFailure, now } = await readSharedNotes(link, identity);
    return { pauseMs: msPaused(budget, now), refusedKeys: [], globalKeyFailure };
  } finally {
    link.close();
  }
}

function msPaused(budget: Budget, now: number): number {
  return Math.max(0, followClock(budget, now).pausedUntil - now);
}

/** The second half of a sentence. */
export function describePause(pauseMs: number): string {
  const left = formatSeconds(Math.ceil(pauseMs / 1000));
  return `calls to the game API are paused after a 429, for ${left} more.`;
}

export function judgeGlobalKey(
  name: string,
  { code, message }: Pick<UpstreamFailure, "code" | "message">,
): Finding {
  return fail(
    name,
    `The game API refuses the application's own key: ${message} (${code})`,
    "Correct or remove GATEHOUSE_UPSTREAM_GLOBAL_KEY.",
  );
}
