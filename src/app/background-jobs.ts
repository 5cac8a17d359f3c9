// Starts the background jobs: watching the game servers, ending what ends by time, writing usage, deleting old entries,
// following the other instances.
import { DAY_MS, HOUR_MS } from "../core/durations.ts";
import { StartRefused, StoreUnavailable } from "../core/errors.ts";
import type { GameServer } from "../core/game-server.ts";
import type { Log } from "../core/ports/log.ts";
import { createThrottle } from "../core/throttle.ts";
import { EventRetention, removeDeletedLedgers } from "../gateway/events/event-retention.ts";
import { judgeUnread } from "../gateway/events/recorder.ts";
import { LOOK_FOR_NOTICES_MS, type NoticeBoard } from "../gateway/instances/notice-board.ts";
import { KEEP_ID_MS } from "../gateway/instances/shared-redis.ts";
import type { Config } from "../instance/config.ts";
import { LOOK_AT_MACHINE_MS } from "../instance/machine-watch.ts";
import type { Closers } from "./closers.ts";
import type { Resources } from "./open-resources.ts";
import type { Gateway } from "./wire-gateway.ts";

/** `last_used_at` must be right within five seconds: on other instances, and after a crash. */
const FLUSH_USAGE_MS = 3_000;
/** How long the last flush may take when Gatehouse stops. */
const LAST_FLUSH_MS = 3_000;
const FOLLOW_OTHERS_MS = 500;
const EXCHANGE_STATES_MS = 1_000;
const REMOVE_LEDGERS_MS = 60_000;
const JUDGE_UNREAD_MS = 5 * 60_000;
const TIDY_MS = HOUR_MS;
export const USAGE_KEPT_MS = 30 * DAY_MS;

export async function startBackgroundJobs(
  config: Config,
  { store, instances, redisId, clock }: Resources,
  { relay, watcher, dispatcher, usage, archive, recorder, forgetting }: Gateway,
  log: Log,
  closers: Closers,
): Promise<void> {
  /** `begins`: whether the first run begins now, without anybody waiting for it. */
  const repeat = (everyMs: number, purpose: string, run: () => Promise<void>, begins?: "now") =>
    closers.add(repeatJob({ purpose, everyMs, run, ...(begins && { beginsNow: true }) }, log));
  const forgetDeletedServers = () => {
    relay.forgetDeleted((serverId) => store.servers.find(serverId) !== undefined);
  };
  if (instances) {
    // Another instance may have died with commands waiting, got a 429, or deleted a server. And the database may have been away.
    repeat(FOLLOW_OTHERS_MS, "following the other instances", async () => {
      forgetDeletedServers();
      await Promise.all([instances.isUp ? dispatcher.start() : undefined, relay.catchUp()]);
    });
  }
  if (redisId && instances) {
    repeat(KEEP_ID_MS, "keeping the id in Redis", () =>
      redisId.keep().catch((error) => {
        if (!(error instanceof StartRefused)) throw error;
        instances.onReplaced?.(error);
      }),
    );
    repeat(EXCHANGE_STATES_MS, "telling the others about servers", async () => watcher.board?.exchange());
  }

  if (archive) {
    const { eventsDays: days, eventsMax } = config;
    const retention = new EventRetention({ archive, clock, sleep: Bun.sleep, log, days, eventsMax });
    retention.start();
    // Not waited for, because an archive may hang: closing it ends a step that has begun.
    closers.add(async () => void retention.stop());
    const remove = () => removeDeletedLedgers(store.servers, archive);
    repeat(REMOVE_LEDGERS_MS, "deleting the events of deleted servers", remove, "now");
  }
  if (recorder) {
    // Also those that count as watched, but cannot be: parked ones, for example.
    const isWatched = (server: GameServer) => watcher.describe(server).state === "watching";
    const judge = () => judgeUnread({ servers: store.servers, isWatched, recorder, clock });
    repeat(JUDGE_UNREAD_MS, "ending calls and alerts of servers that are not watched", judge, "now");
  }
  forgetting.start();
  closers.add(async () => void forgetting.stop());

  watcher.start();
  closers.add(() => watcher.stop());

  closers.add(() => usage.stop(LAST_FLUSH_MS));
  repeat(FLUSH_USAGE_MS, "writing usage", () => usage.flush());

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
  repeat(TIDY_MS, "deleting old entries", tidy, "now");
  closers.add(async () => {
    isStopping = true;
  });
}

/** What is not well is looked for, so that the log has it also when nobody asks. */
export function startNoticeJobs(board: NoticeBoard, { machine, clock }: Resources, log: Log, closers: Closers): void {
  const look = async () => void (await board.look(clock()));
  const lookAtMachine = () => machine.look();
  for (const job of [
    { purpose: "looking at the machine", everyMs: LOOK_AT_MACHINE_MS, run: lookAtMachine },
    { purpose: "looking for what is not well", everyMs: LOOK_FOR_NOTICES_MS, run: look },
  ])
    closers.add(repeatJob({ ...job, beginsNow: true }, log));
}

const FAULT_LOG_MS = 60_000;

type Job = {
  /** Names the job in the log, as in "deleting old entries". */
  readonly purpose: string;
  readonly everyMs: number;
  /** Whether the first run begins now, without anybody waiting for it; otherwise it begins after `everyMs`. */
  readonly beginsNow?: true;
  readonly run: () => Promise<void>;
};

/**
 * Sleeps `everyMs` after each run, so that runs never overlap. A failed run is logged, and the job goes on. Returns a function
 * that stops the job without waiting for a run that has begun.
 */
export function repeatJob({ purpose, everyMs, beginsNow, run }: Job, log: Log): () => Promise<void> {
  const throttleFault = createThrottle(FAULT_LOG_MS);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  function schedule(delayMs: number): void {
    if (isStopped) return;
    timer = setTimeout(() => void runOnce().then(() => schedule(everyMs)), delayMs);
    timer.unref();
  }

  async function runOnce(): Promise<void> {
    try {
      await run();
    } catch (error) {
      // The edge logs this already when callers are affected.
      if (error instanceof StoreUnavailable) return;
      throttleFault(performance.now(), (unlogged) => log.error({ err: error, unlogged }, `${purpose} failed`));
    }
  }

  schedule(beginsNow ? 0 : everyMs);
  return async () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
