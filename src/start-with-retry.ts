// Starts Gatehouse. While PostgreSQL cannot be used it listens, says that it is not ready, and tries again.
import { WaitingRoom } from "./app/open-listeners.ts";
import { listConfiguredSecrets } from "./app/open-resources.ts";
import { type App, startApp } from "./app.ts";
import { NotReadyToStart } from "./core/errors.ts";
import { createThrottle } from "./core/throttle.ts";
import type { Config } from "./instance/config.ts";
import { createLog } from "./instance/log.ts";

const RETRY_DELAY_MS = 300;
const REASON_LOG_MS = 60_000;

export type StartListener = {
  readonly isCancelled: () => boolean;
  /** Called when it listens before the database answers. */
  readonly onWaiting: (url: string) => void;
};

/** Undefined when it was cancelled while it waited. */
export async function startWithRetry(config: Config, listener: StartListener): Promise<App | undefined> {
  const log = createLog({
    level: config.logLevel,
    format: config.logFormat,
    secrets: listConfiguredSecrets(config),
  });
  const throttleReason = createThrottle(REASON_LOG_MS);
  let room: WaitingRoom | undefined;
  let tried = config;
  try {
    for (;;) {
      try {
        const app = await startApp(tried, { room });
        room = undefined;
        return app;
      } catch (error) {
        if (!(error instanceof NotReadyToStart)) throw error;
        if (listener.isCancelled()) return undefined;
        throttleReason(performance.now(), () => log.error({ reason: error.message }, "waiting for PostgreSQL"));
      }
      // The first try has already logged a warning about these.
      tried = { ...config, unknownSettings: [] };
      if (!room) {
        room = await WaitingRoom.open(config, log);
        listener.onWaiting(room.listeners.everybody.url);
      }
      await Bun.sleep(RETRY_DELAY_MS);
    }
  } finally {
    await room?.close();
  }
}
