// The only reader of the environment. Checks every setting, reports all faults at once, and freezes the result.
import { existsSync, readFileSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { dirname, resolve } from "node:path";
import { parseEnv } from "node:util";
import { parseAddressRange } from "./core/address.ts";
import { StartRefused } from "./core/errors.ts";
import { parseRedisAddress } from "./store/redis/parse-address.ts";
import type { RedisAddress } from "./store/redis/redis-link.ts";
import { readTlsFiles } from "./tls-files.ts";

export const MASTER_KEY_MIN_CHARACTERS = 32;
/** What can be sent in an Authorization header, and told from two values in one. */
const BEARER_SHAPE = /^[\x21-\x2b\x2d-\x7e]{1,400}$/;
const BEARER_RULE = "at most 400 visible ASCII characters, without spaces and commas";

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
const LOG_FORMATS = ["json", "pretty"] as const;

/** Why this cannot be a master key; undefined when it can. */
export function findMasterKeyProblem(masterKey: string): string | undefined {
  if (!BEARER_SHAPE.test(masterKey)) return `must consist of ${BEARER_RULE}`;
  if (masterKey.length < MASTER_KEY_MIN_CHARACTERS)
    return `must have at least ${MASTER_KEY_MIN_CHARACTERS} characters`;
  return undefined;
}

export type Config = {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  /** Undefined: the embedded store. */
  readonly redis: RedisAddress | undefined;
  readonly masterKey: string | undefined;
  readonly secret: string | undefined;
  /** Undefined: the built-in simulator is the upstream. */
  readonly upstreamUrl: string | undefined;
  readonly upstreamGlobalKey: string | undefined;
  readonly upstreamTimeoutMs: number;
  readonly freshMs: number;
  readonly staleMs: number;
  readonly commandIntervalMs: number;
  readonly commandTtlMs: number;
  readonly tls: { readonly certPath: string; readonly keyPath: string } | undefined;
  readonly trustProxy: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly keepsUnknownFields: boolean;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly logFormat: (typeof LOG_FORMATS)[number];
  readonly metricsToken: string | undefined;
  readonly auditDays: number;
  readonly commandHistoryDays: number;
  /** Settings with our prefix that we do not know: most likely misspelt. */
  readonly unknownSettings: readonly string[];
};

type Environment = Readonly<Record<string, string | undefined>>;

/** The process's environment, with a .env file of the caller's folder behind it. */
export function readEnvironment(folder: string, overrides: Environment = {}): Environment {
  let fromFile: Environment = {};
  try {
    fromFile = parseEnv(readFileSync(`${folder}/.env`, "utf8")) as Environment;
  } catch (error) {
    const isAbsent = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isAbsent)
      throw new StartRefused(`.env cannot be read: ${error instanceof Error ? error.message : error}`, 2);
  }
  return { ...fromFile, ...process.env, ...overrides };
}

/** Throws StartRefused with every fault there is. */
export function parseConfig(
  environment: Environment,
  defaultLogFormat: Config["logFormat"] = "json",
): Config {
  const faults: string[] = [];
  /** GATEHOUSE_URL is for the command line alone. */
  const known = new Set<string>(["GATEHOUSE_URL"]);

  function find(name: string): string | undefined {
    known.add(name);
    const value = environment[name]?.trim();
    return value === "" ? undefined : value;
  }
  function fault(name: string, problem: string): undefined {
    faults.push(`${name} ${problem}`);
  }
  function integer(name: string, fallback: number, min: number, max = Number.MAX_SAFE_INTEGER): number {
    const text = find(name);
    if (text === undefined) return fallback;
    const value = /^\d+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : Number.NaN;
    if (value >= min && value <= max) return value;
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    fault(name, `must be a whole number ${range}, not "${text}"`);
    return fallback;
  }
  function choice<const T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const text = find(name);
    if (text === undefined) return fallback;
    const chosen = choices.find((option) => option === text);
    if (chosen === undefined) fault(name, `must be one of ${choices.join(", ")}, not "${text}"`);
    return chosen ?? fallback;
  }
  function list(name: string): string[] {
    const entries = (find(name) ?? "").split(",").map((entry) => entry.trim());
    return entries.filter((entry) => entry !== "");
  }

  const store = find("GATEHOUSE_STORE") ?? "sqlite";
  const redis = store === "sqlite" ? undefined : parseRedisAddress(store);
  if (store !== "sqlite" && !redis) {
    const forms = "sqlite, redis://host:port, rediss://host:port or redis+cluster://host:port,host:port";
    // What it is set to is not shown: a password may be in it, and where that ends is what cannot be told.
    fault("GATEHOUSE_STORE", `must be ${forms}`);
  }
  function visible(
    name: string,
    shape = /^[\x21-\x7e]+$/,
    what = "visible ASCII characters, without spaces",
  ) {
    const text = find(name);
    if (text !== undefined && !shape.test(text)) fault(name, `must consist of ${what}`);
    return text;
  }

  const host = find("GATEHOUSE_HOST") ?? "127.0.0.1";
  if (!isHost(host)) fault("GATEHOUSE_HOST", `must be an address or a host name, not "${host}"`);
  const dataDir = find("GATEHOUSE_DATA_DIR") ?? "./data";
  const folderProblem = findFolderProblem(dataDir);
  if (folderProblem !== undefined) fault("GATEHOUSE_DATA_DIR", folderProblem);
  const masterKey = find("GATEHOUSE_MASTER_KEY");
  const masterKeyProblem = masterKey === undefined ? undefined : findMasterKeyProblem(masterKey);
  if (masterKeyProblem !== undefined) fault("GATEHOUSE_MASTER_KEY", masterKeyProblem);
  const upstreamUrl = find("GATEHOUSE_UPSTREAM_URL");
  if (upstreamUrl !== undefined && !isBaseUrl(upstreamUrl)) {
    fault("GATEHOUSE_UPSTREAM_URL", "must be an http:// or https:// address without user, query or fragment");
  }
  const trustProxy = list("GATEHOUSE_TRUST_PROXY");
  for (const entry of trustProxy.filter((entry) => !parseAddressRange(entry))) {
    fault("GATEHOUSE_TRUST_PROXY", `has "${entry}", which is neither an address nor a range like 10.0.0.0/8`);
  }
  const corsOrigins = list("GATEHOUSE_CORS_ORIGINS");
  for (const origin of corsOrigins.filter((origin) => origin !== "*" && !isOrigin(origin))) {
    fault("GATEHOUSE_CORS_ORIGINS", `has "${origin}", which is not an origin like https://example.org`);
  }
  const certPath = find("GATEHOUSE_TLS_CERT");
  const keyPath = find("GATEHOUSE_TLS_KEY");
  let tls: Config["tls"];
  if (certPath !== undefined && keyPath !== undefined) {
    const read = readTlsFiles({ certPath, keyPath });
    if ("tls" in read) tls = { certPath, keyPath };
    else faults.push(...read.problems);
  } else if (certPath !== undefined || keyPath !== undefined) {
    faults.push("GATEHOUSE_TLS_CERT and GATEHOUSE_TLS_KEY must be set together");
  }

  const config: Config = {
    host,
    port: integer("GATEHOUSE_PORT", 8080, 0, 65_535),
    dataDir,
    redis,
    masterKey,
    secret: find("GATEHOUSE_SECRET"),
    upstreamUrl,
    upstreamGlobalKey: visible("GATEHOUSE_UPSTREAM_GLOBAL_KEY"),
    upstreamTimeoutMs: integer("GATEHOUSE_UPSTREAM_TIMEOUT_MS", 5_000, 1),
    freshMs: integer("GATEHOUSE_FRESH_MS", 2_000, 1),
    staleMs: integer("GATEHOUSE_STALE_MS", 0, 0),
    commandIntervalMs: integer("GATEHOUSE_COMMAND_INTERVAL_MS", 5_000, 1),
    commandTtlMs: integer("GATEHOUSE_COMMAND_TTL_MS", 600_000, 1),
    tls,
    trustProxy,
    corsOrigins,
    keepsUnknownFields: choice("GATEHOUSE_UNKNOWN_FIELDS", ["drop", "pass"], "drop") === "pass",
    logLevel: choice("GATEHOUSE_LOG_LEVEL", LOG_LEVELS, "info"),
    logFormat: choice("GATEHOUSE_LOG_FORMAT", LOG_FORMATS, defaultLogFormat),
    metricsToken: visible("GATEHOUSE_METRICS_TOKEN", BEARER_SHAPE, BEARER_RULE),
    commandHistoryDays: integer("GATEHOUSE_COMMAND_HISTORY_DAYS", 7, 1),
    auditDays: integer("GATEHOUSE_AUDIT_DAYS", 365, 1),
    unknownSettings: Object.keys(environment).filter(
      (name) => name.startsWith("GATEHOUSE_") && !known.has(name),
    ),
  };
  if (faults.length > 0)
    throw new StartRefused(`the settings are not usable:\n  - ${faults.join("\n  - ")}`, 2);
  return Object.freeze(config);
}

function isBaseUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) return false;
  return url.username === "" && url.password === "" && url.search === "" && url.hash === "";
}

function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.origin === text;
}

function isHost(text: string): boolean {
  const mustBeAddress = /^[\d.]+$/.test(text) || text.includes(":");
  return isIP(text) !== 0 || (!mustBeAddress && /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text));
}

/** Undefined when the folder is there, or there is a folder that it can be made in. */
function findFolderProblem(folder: string): string | undefined {
  let path = resolve(folder);
  while (!existsSync(path) && dirname(path) !== path) path = dirname(path);
  return statSync(path).isDirectory() ? undefined : `cannot be ${folder}, because ${path} is not a folder`;
}
