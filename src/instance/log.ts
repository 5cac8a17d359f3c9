// Structured logs on standard error. A last filter redacts tokens and the operator's secrets in every line.
import pino from "pino";
import { SECRET_TEXTS } from "../core/keys/token.ts";
import type { Log } from "../core/ports/log.ts";

export type LogSettings = {
  readonly level: string;
  readonly format: "json" | "pretty";
  /** Texts that must never be written. */
  readonly secrets: readonly (string | undefined)[];
  readonly write?: (line: string) => void;
};

/** Secrets of this length are redacted anywhere. Shorter ones only as whole words, because they occur in other words by chance. */
const LONG_SECRET_MIN_CHARACTERS = 8;
/** What pino writes itself; a short secret that looks like part of it must not damage it. */
const OWN_FIELDS: ReadonlySet<string> = new Set(["level", "time"]);

export type LeveledLog = Log & { readonly isDebug: boolean };

export function createLog(settings: LogSettings): LeveledLog {
  const redact = createRedaction(settings.secrets.filter((secret) => secret !== undefined));
  const write = settings.write ?? writeToStandardError();
  const stream = {
    write(line: string) {
      const safe = redact(line);
      write(settings.format === "pretty" ? formatPretty(safe) : safe);
    },
  };
  const logger = pino({ level: settings.level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
  return {
    isDebug: logger.isLevelEnabled("debug"),
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}

/** The filter for a line of JSON: it replaces tokens and secrets. */
function createRedaction(secrets: readonly string[]): (line: string) => string {
  const isLong = (secret: string) => secret.length >= LONG_SECRET_MIN_CHARACTERS;
  // In plain form and in the form that JSON escapes.
  const anywhere = secrets
    .filter(isLong)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .sort((one, other) => other.length - one.length);
  const words = secrets.filter((secret) => secret !== "" && !isLong(secret)).map(matchWholeWord);
  return (line) => {
    let safe = line.replace(SECRET_TEXTS, redactText);
    for (const secret of anywhere) safe = safe.replaceAll(secret, "[redacted]");
    return words.length === 0 ? safe : redactWords(safe, words);
  };
}

/** Leaves the prefix, which says what it was. A façade key has no underscore after it. */
function redactText(secret: string): string {
  const prefix = secret.startsWith("gth") ? "gth" : secret.slice(0, secret.indexOf("_"));
  return `${prefix}_[redacted]`;
}

/** Letters and digits on either side would make it part of another word. */
function matchWholeWord(secret: string): RegExp {
  const isWordAt = (index: number) => /[\p{L}\p{N}]/u.test(secret.at(index) ?? "");
  const before = isWordAt(0) ? "(?<![\\p{L}\\p{N}])" : "";
  const after = isWordAt(-1) ? "(?![\\p{L}\\p{N}])" : "";
  return new RegExp(before + RegExp.escape(secret) + after, "gu");
}

/** Redacts texts, never names of fields: a short secret may look like JSON or like the name of a field. */
function redactWords(line: string, words: readonly RegExp[]): string {
  const redactIn = (text: string) => words.reduce((safe, word) => safe.replace(word, "[redacted]"), text);
  const fields = JSON.parse(line, (name, value: unknown) =>
    typeof value === "string" && !OWN_FIELDS.has(name) ? redactIn(value) : value,
  );
  return `${JSON.stringify(fields)}\n`;
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
  const name = (pino.levels.labels[Number(level)] ?? String(level)).padEnd(5);
  const rest = Object.entries(fields).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  const stack = typeof err === "object" && err !== null && "stack" in err ? `\n${err.stack}` : "";
  return `${String(time).slice(11, 23)} ${name} ${msg}${rest.join("")}${stack}\n`;
}
