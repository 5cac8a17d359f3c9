// Structured logs on standard error. A last filter redacts tokens and the operator's secrets in every line.
import pino from "pino";
import type { Log } from "./core/ports/log.ts";

export type LogSettings = {
  readonly level: string;
  readonly format: "json" | "pretty";
  /** Texts that must never be written. */
  readonly secrets: readonly (string | undefined)[];
  readonly write?: (line: string) => void;
};

/** Shorter secrets are not redacted: they occur in many lines by chance. */
const SECRET_LENGTH_MIN = 8;
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
  const secrets = settings.secrets.filter((secret) => secret !== undefined);
  const redacted = secrets.filter((secret) => secret.length >= SECRET_LENGTH_MIN);
  const write = settings.write ?? writeToStandardError();
  const stream = {
    write(line: string) {
      const safe = redact(line, redacted);
      write(settings.format === "pretty" ? formatPretty(safe) : safe);
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

/** Replaces tokens and secrets. A secret is searched in plain form and in the form that JSON escapes. */
function redact(line: string, secrets: readonly string[]): string {
  let safe = line.replace(TOKEN, "gth_[redacted]");
  for (const secret of secrets) {
    safe = safe
      .replaceAll(secret, "[redacted]")
      .replaceAll(JSON.stringify(secret).slice(1, -1), "[redacted]");
  }
  return safe;
}

const ignore = () => {};

/** Ignores write errors (a closed pipe, a full disk): they must not end the service. */
function writeToStandardError(): (line: string) => void {
  if (!process.stderr.listeners("error").includes(ignore)) process.stderr.on("error", ignore);
  return (line) => {
    try {
      process.stderr.write(line);
    } catch {
      // There is nowhere left to report it.
    }
  };
}

function formatPretty(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const name = (LEVEL_NAMES[Number(level)] ?? String(level)).padEnd(5);
  const rest = Object.entries(fields).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  const stack = typeof err === "object" && err !== null && "stack" in err ? `\n${err.stack}` : "";
  return `${String(time).slice(11, 23)} ${name} ${msg}${rest.join("")}${stack}\n`;
}
