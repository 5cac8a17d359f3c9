// Structured logs on standard error. Whatever is logged passes one last filter that no secret gets through.
import pino from "pino";
import type { Log } from "./core/ports.ts";

export type LogSettings = {
  readonly level: string;
  readonly format: "json" | "pretty";
  /** Texts that must never be written. */
  readonly secrets: readonly (string | undefined)[];
  readonly write?: (line: string) => void;
};

const TOKEN = /gth_[0-9A-Za-z]{36}/g;
const LEVEL_NAMES: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};

export type LeveledLog = Log & { readonly isDebug: boolean };

export function createLog(settings: LogSettings): LeveledLog {
  const secrets = settings.secrets.filter((secret) => secret !== undefined && secret !== "") as string[];
  const write = settings.write ?? ((line: string) => void process.stderr.write(line));
  const stream = {
    write(line: string) {
      let safe = line.replace(TOKEN, "gth_[redacted]");
      for (const secret of secrets) {
        safe = safe
          .replaceAll(secret, "[redacted]")
          .replaceAll(JSON.stringify(secret).slice(1, -1), "[redacted]");
      }
      write(settings.format === "pretty" ? toPretty(safe) : safe);
    },
  };
  const logger = pino(
    { level: settings.level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    stream,
  );
  return {
    isDebug: logger.isLevelEnabled("debug"),
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}

/** For what a flood could repeat a million times: the first is logged, then one in a while, with how many there were. */
export function createSampler(
  log: Log,
  everyMs: number,
): (now: number, describe: () => object, message: string) => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  return (now, describe, message) => {
    if (Math.abs(now - loggedAt) < everyMs) {
      unlogged++;
      return;
    }
    log.warn({ ...describe(), like_it_since_the_last: unlogged }, message);
    loggedAt = now;
    unlogged = 0;
  };
}

function toPretty(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const name = (LEVEL_NAMES[Number(level)] ?? String(level)).padEnd(5);
  const rest = Object.entries(fields).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  const stack = typeof err === "object" && err !== null && "stack" in err ? `\n${err.stack}` : "";
  return `${String(time).slice(11, 23)} ${name} ${msg}${rest.join("")}${stack}\n`;
}
