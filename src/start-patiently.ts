// Redis may be starting as well, as after a reboot, or be away for a moment: a start waits for it, but not for ever.
import { type App, startApp } from "./app.ts";
import type { Config } from "./config.ts";
import { NotReadyToStart } from "./core/errors.ts";
import { createLog } from "./log.ts";

const PATIENCE_MS = 10_000;
const TRY_AGAIN_MS = 300;

/** Undefined when it was given up while Redis was waited for. */
export async function startPatiently(config: Config, isGivenUp: () => boolean): Promise<App | undefined> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  let complaint = "";
  let tried = config;
  for (;;) {
    try {
      return await startApp(tried);
    } catch (error) {
      if (!(error instanceof NotReadyToStart)) throw error;
      if (isGivenUp()) return undefined;
      if (performance.now() > giveUpAt) throw error;
      if (error.message !== complaint) {
        complaint = error.message;
        const log = createLog({ level: config.logLevel, format: config.logFormat, secrets: [] });
        log.warn({}, `${complaint} (trying again for ${PATIENCE_MS / 1000} seconds)`);
      }
    }
    // They were warned of by the first try.
    tried = { ...config, unknownSettings: [] };
    await Bun.sleep(TRY_AGAIN_MS);
  }
}
