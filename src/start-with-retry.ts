// Starts Gatehouse, and tries again for a while when Redis cannot be reached: after a reboot it may still be starting.
import { listConfiguredSecrets } from "./app/open-resources.ts";
import { type App, startApp } from "./app.ts";
import type { Config } from "./config.ts";
import { NotReadyToStart } from "./core/errors.ts";
import { createLog } from "./log.ts";

const RETRY_FOR_MS = 10_000;
const RETRY_DELAY_MS = 300;

/** Undefined when it was cancelled while it waited for Redis. */
export async function startWithRetry(config: Config, isCancelled: () => boolean): Promise<App | undefined> {
  const retryUntil = performance.now() + RETRY_FOR_MS;
  let loggedReason = "";
  let tried = config;
  for (;;) {
    try {
      return await startApp(tried);
    } catch (error) {
      if (!(error instanceof NotReadyToStart)) throw error;
      if (isCancelled()) return undefined;
      if (performance.now() > retryUntil) throw error;
      if (error.message !== loggedReason) {
        loggedReason = error.message;
        const log = createLog({
          level: config.logLevel,
          format: config.logFormat,
          secrets: listConfiguredSecrets(config),
        });
        log.warn({}, `${loggedReason} (trying again for ${RETRY_FOR_MS / 1000} seconds)`);
      }
    }
    // The first try has already logged a warning about these.
    tried = { ...config, unknownSettings: [] };
    await Bun.sleep(RETRY_DELAY_MS);
  }
}
