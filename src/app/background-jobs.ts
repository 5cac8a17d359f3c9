// Starts the background jobs: watching the game servers, ending what ends by time, writing usage, deleting old entries,
// following the other instances.
import type { Config } from "../config.ts";
import { DAY_MS, HOUR_MS } from "../core/durations.ts";
import type { GameServer } from "../core/game-server.ts";
import type { Log } from "../core/ports/log.ts";
import { EventRetention } from "../gateway/events/event-retention.ts";
import { judgeUnread } from "../gateway/events/judge-unread.ts";
import { removeDeletedLedgers } from "../gateway/events/remove-deleted-ledgers.ts";
import type { Closers } from "./closers.ts";
import type { Resources } from "./open-resources.ts";
import { repeatJob } from "./repeat-job.ts";
import type { Gateway } from "./wire-gateway.ts";

/** `last_used_at` must be right within five seconds: on other instances, and after a crash. */
const FLUSH_USAGE_MS = 3_000;
/** How long the last flush may take when Gatehouse stops. */
const LAST_FLUSH_MS = 3_000;
const FOLLOW_OTHERS_MS = 500;
const REMOVE_LEDGERS_MS = 60_000;
const JUDGE_UNREAD_MS = 5 * 60_000;
const TIDY_MS = HOUR_MS;
export const USAGE_KEPT_MS = 30 * DAY_MS;

export async function startBackgroundJobs(
  config: Config,
  { store, shared, clock }: Resources,
  { relay, watcher, dispatcher, usage, archive, recorder, forgetting }: Gateway,
  log: Log,
  closers: Closers,
): Promise<void> {
  const forgetDeletedServers = () => {
    relay.forgetDeleted((serverId) => store.servers.find(serverId) !== undefined);
  };
  if (shared) {
    // Another instance may have died with commands waiting, got a 429, or deleted a server.
    const run = async () => {
      forgetDeletedServers();
      await Promise.all([dispatcher.start(), relay.catchUp()]);
    };
    // Before the first request, because pauses and refused keys must survive a restart.
    await relay.catchUp();
    closers.add(repeatJob({ purpose: "following the other instances", everyMs: FOLLOW_OTHERS_MS, run }, log));
  }

  if (archive) {
    const { eventsDays: days, eventsMax } = config;
    const retention = new EventRetention({ archive, clock, sleep: Bun.sleep, log, days, eventsMax });
    retention.start();
    // Not waited for, because an archive may hang: closing it ends a step that has begun.
    closers.add(async () => void retention.stop());
    const removal = {
      purpose: "deleting the events of deleted servers",
      everyMs: REMOVE_LEDGERS_MS,
      beginsNow: true,
      run: () => removeDeletedLedgers(store.servers, archive),
    } as const;
    closers.add(repeatJob(removal, log));
  }
  if (recorder) {
    // Also those that count as watched, but cannot be: parked ones, for example.
    const isWatched = (server: GameServer) => watcher.describe(server).state === "watching";
    const judging = {
      purpose: "ending calls and alerts of servers that are not watched",
      everyMs: JUDGE_UNREAD_MS,
      beginsNow: true,
      run: () => judgeUnread({ servers: store.servers, isWatched, recorder, clock }),
    } as const;
    closers.add(repeatJob(judging, log));
  }
  forgetting.start();
  closers.add(async () => void forgetting.stop());

  watcher.start();
  closers.add(() => watcher.stop());

  closers.add(() => usage.stop(LAST_FLUSH_MS));
  const flushUsage = { purpose: "writing usage", everyMs: FLUSH_USAGE_MS, run: () => usage.flush() };
  closers.add(repeatJob(flushUsage, log));

  let isStopping = false;
  const tidy = async () => {
    forgetDeletedServers();
    const now = clock();
    recorder?.tidy(now);
    const before = {
      now,
      usage: now - USAGE_KEPT_MS,
      audit: now - config.auditDays * DAY_MS,
      commands: now - config.commandHistoryDays * DAY_MS,
    };
    await store.tidy(before).catch((error) => {
      if (!isStopping) log.warn({ err: error }, "old entries could not be deleted");
    });
  };
  // The start does not wait for it: there may be very much to delete. Keys of a server whose deletion was interrupted are
  // refused meanwhile.
  const job = { purpose: "deleting old entries", everyMs: TIDY_MS, beginsNow: true, run: tidy } as const;
  closers.add(repeatJob(job, log));
  closers.add(async () => {
    isStopping = true;
  });
}
