// The only reader of the environment. Checks every setting, reports all faults at once, and freezes the result.
import { existsSync, readFileSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { dirname, resolve } from "node:path";
import { parseEnv } from "node:util";
import { parseAddressRange } from "./core/address.ts";
import { StartRefused } from "./core/errors.ts";
import { type Environment, SettingReader } from "./setting-reader.ts";
import { parseRedisAddress } from "./store/redis/parse-address.ts";
import type { RedisAddress } from "./store/redis/redis-link.ts";
import { readTlsFiles } from "./tls-files.ts";

export const MASTER_KEY_MIN_CHARACTERS = 32;
/** Texts that an Authorization header can carry. No comma, because it would look like two values. */
const BEARER_SHAPE = /^[\x21-\x2b\x2d-\x7e]{1,400}$/;
const VISIBLE_SHAPE = /^[\x21-\x7e]+$/;
const VISIBLE_RULE = "visible ASCII characters, without spaces";
const BEARER_RULE = "at most 400 visible ASCII characters, without spaces and commas";

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
const LOG_FORMATS = ["json", "pretty"] as const;

/** Why this text cannot be a master key; undefined when it can. */
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
  /** 0: not limited. */
  readonly connectionsPerAddress: number;
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

/** The process's environment, then the .env file in the folder for what it leaves out. */
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

/** Throws StartRefused, with all faults in its message. */
export function parseConfig(
  environment: Environment,
  defaultLogFormat: Config["logFormat"] = "json",
): Config {
  const settings = new SettingReader(environment);
  const config: Config = {
    redis: parseStore(settings),
    host: parseHost(settings),
    dataDir: parseDataDir(settings),
    masterKey: parseMasterKey(settings),
    upstreamUrl: parseUpstreamUrl(settings),
    trustProxy: parseTrustProxy(settings),
    corsOrigins: parseCorsOrigins(settings),
    tls: parseTls(settings),
    port: settings.readInteger("GATEHOUSE_PORT", 8080, 0, 65_535),
    secret: settings.find("GATEHOUSE_SECRET"),
    upstreamGlobalKey: settings.findShaped("GATEHOUSE_UPSTREAM_GLOBAL_KEY", VISIBLE_SHAPE, VISIBLE_RULE),
    upstreamTimeoutMs: settings.readInteger("GATEHOUSE_UPSTREAM_TIMEOUT_MS", 5_000, 1),
    freshMs: settings.readInteger("GATEHOUSE_FRESH_MS", 2_000, 1),
    staleMs: settings.readInteger("GATEHOUSE_STALE_MS", 0, 0),
    commandIntervalMs: settings.readInteger("GATEHOUSE_COMMAND_INTERVAL_MS", 5_000, 1),
    commandTtlMs: settings.readInteger("GATEHOUSE_COMMAND_TTL_MS", 600_000, 1),
    connectionsPerAddress: settings.readInteger("GATEHOUSE_CONNECTIONS_PER_ADDRESS", 2_000, 0),
    keepsUnknownFields: settings.readChoice("GATEHOUSE_UNKNOWN_FIELDS", ["drop", "pass"], "drop") === "pass",
    logLevel: settings.readChoice("GATEHOUSE_LOG_LEVEL", LOG_LEVELS, "info"),
    logFormat: settings.readChoice("GATEHOUSE_LOG_FORMAT", LOG_FORMATS, defaultLogFormat),
    metricsToken: settings.findShaped("GATEHOUSE_METRICS_TOKEN", BEARER_SHAPE, BEARER_RULE),
    commandHistoryDays: settings.readInteger("GATEHOUSE_COMMAND_HISTORY_DAYS", 7, 1),
    auditDays: settings.readInteger("GATEHOUSE_AUDIT_DAYS", 365, 1),
    // Last, because it lists what none of the others has read.
    unknownSettings: settings.listUnknown(),
  };
  const { faults } = settings;
  if (faults.length > 0)
    throw new StartRefused(`the settings are not usable:\n  - ${faults.join("\n  - ")}`, 2);
  return Object.freeze(config);
}

function parseStore(settings: SettingReader): Config["redis"] {
  const store = settings.find("GATEHOUSE_STORE") ?? "sqlite";
  if (store === "sqlite") return undefined;
  const redis = parseRedisAddress(store);
  if (!redis) {
    const forms = "sqlite, redis://host:port, rediss://host:port or redis+cluster://host:port,host:port";
    // The value is not shown: it may hold a password, and without parsing it nobody can tell where.
    settings.addFault("GATEHOUSE_STORE", `must be ${forms}`);
  }
  return redis;
}

function parseHost(settings: SettingReader): string {
  const host = settings.find("GATEHOUSE_HOST") ?? "127.0.0.1";
  if (!isHost(host)) settings.addFault("GATEHOUSE_HOST", `must be an address or a host name, not "${host}"`);
  return host;
}

function parseDataDir(settings: SettingReader): string {
  const dataDir = settings.find("GATEHOUSE_DATA_DIR") ?? "./data";
  const problem = findFolderProblem(dataDir);
  if (problem !== undefined) settings.addFault("GATEHOUSE_DATA_DIR", problem);
  return dataDir;
}

function parseMasterKey(settings: SettingReader): string | undefined {
  const masterKey = settings.find("GATEHOUSE_MASTER_KEY");
  const problem = masterKey === undefined ? undefined : findMasterKeyProblem(masterKey);
  if (problem !== undefined) settings.addFault("GATEHOUSE_MASTER_KEY", problem);
  return masterKey;
}

function parseUpstreamUrl(settings: SettingReader): string | undefined {
  const url = settings.find("GATEHOUSE_UPSTREAM_URL");
  if (url !== undefined && !isBaseUrl(url)) {
    const rule = "must be an http:// or https:// address without user, query or fragment";
    settings.addFault("GATEHOUSE_UPSTREAM_URL", rule);
  }
  return url;
}

function parseTrustProxy(settings: SettingReader): string[] {
  const ranges = settings.readList("GATEHOUSE_TRUST_PROXY");
  for (const range of ranges.filter((entry) => !parseAddressRange(entry))) {
    const problem = `has "${range}", which is neither an address nor a range like 10.0.0.0/8`;
    settings.addFault("GATEHOUSE_TRUST_PROXY", problem);
  }
  return ranges;
}

function parseCorsOrigins(settings: SettingReader): string[] {
  const origins = settings.readList("GATEHOUSE_CORS_ORIGINS");
  for (const origin of origins.filter((entry) => entry !== "*" && !isOrigin(entry))) {
    const problem = `has "${origin}", which is not an origin like https://example.org`;
    settings.addFault("GATEHOUSE_CORS_ORIGINS", problem);
  }
  return origins;
}

function parseTls(settings: SettingReader): Config["tls"] {
  const certPath = settings.find("GATEHOUSE_TLS_CERT");
  const keyPath = settings.find("GATEHOUSE_TLS_KEY");
  if (certPath === undefined && keyPath === undefined) return undefined;
  if (certPath === undefined || keyPath === undefined) {
    settings.faults.push("GATEHOUSE_TLS_CERT and GATEHOUSE_TLS_KEY must be set together");
    return undefined;
  }
  const read = readTlsFiles({ certPath, keyPath });
  if ("tls" in read) return { certPath, keyPath };
  settings.faults.push(...read.problems);
  return undefined;
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

/** Undefined when the folder exists, or can be created in a folder that exists. */
function findFolderProblem(folder: string): string | undefined {
  let path = resolve(folder);
  while (!existsSync(path) && dirname(path) !== path) path = dirname(path);
  return statSync(path).isDirectory() ? undefined : `cannot be ${folder}, because ${path} is not a folder`;
}
