// The only reader of the environment. Checks every setting, reports all faults at once, and freezes the result.
import { existsSync, readFileSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { dirname, resolve } from "node:path";
import { parseEnv } from "node:util";
import { parseAddressRange } from "./core/address.ts";
import { StartRefused } from "./core/errors.ts";
import { findGameKeyProblem, PUBLISHED_GAME_KEY } from "./core/game-public-key.ts";
import { FAILING_MAX_MS } from "./core/webhooks/retry.ts";
import { type Environment, SettingReader } from "./setting-reader.ts";
import { parseRedisAddress } from "./store/redis/parse-address.ts";
import type { RedisAddress } from "./store/redis/redis-link.ts";
import { readTlsFiles } from "./tls-files.ts";

/** For the secrets that an operator chooses: master key, encryption secret and metrics token. */
export const SECRET_MIN_CHARACTERS = 32;
/** Texts that an Authorization header can carry. No comma, because it would look like two values. */
const BEARER_SHAPE = /^[\x21-\x2b\x2d-\x7e]{1,400}$/;
const VISIBLE_SHAPE = /^[\x21-\x7e]+$/;
const VISIBLE_RULE = "visible ASCII characters, without spaces";
const BEARER_RULE = "at most 400 visible ASCII characters, without spaces and commas";

/** A value of GATEHOUSE_UPSTREAM_URL. */
const SIMULATOR = "simulator";
/** The path of the game API at the end of an address. Calls would have it twice. */
const API_PATH = /(?:\/+(?:v1|v2|server|command))*\/+(?:v1|v2|server)(?:\/+command)?\/*$/i;
const HOST_DEFAULT = "127.0.0.1";
const PORT_DEFAULT = 8080;
const PORT_MAX = 65_535;

const WEBHOOK_RETRY_DEFAULT_MS: readonly number[] = [
  5_000, 30_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000,
];
const WEBHOOK_RETRIES_MAX = 100;

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
const LOG_FORMATS = ["json", "pretty"] as const;

/** Why this text cannot be a master key; undefined when it can. */
export function findMasterKeyProblem(masterKey: string): string | undefined {
  return findShapeProblem(masterKey) ?? findLengthProblem(masterKey);
}

function findShapeProblem(bearer: string): string | undefined {
  return BEARER_SHAPE.test(bearer) ? undefined : `must consist of ${BEARER_RULE}`;
}

function findLengthProblem(secret: string): string | undefined {
  if (secret.length >= SECRET_MIN_CHARACTERS) return undefined;
  return `must have at least ${SECRET_MIN_CHARACTERS} characters`;
}

export type Config = {
  readonly host: string;
  readonly port: number;
  /** Where operators are served. Undefined: together with everybody else. */
  readonly admin: { readonly host: string; readonly port: number } | undefined;
  /** The address at which people open the dashboard, for links to it. Undefined: the one that the operator uses. */
  readonly publicUrl: string | undefined;
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
  /** Where events and history are kept. */
  readonly archive: "sqlite" | "off" | { readonly postgresUrl: string };
  readonly isWatching: boolean;
  readonly watchIntervalMs: number;
  /** What the game's webhooks are signed with: base64 of its SPKI form. */
  readonly gamePublicKey: string;
  readonly eventsDays: number;
  readonly eventsMax: number;
  readonly auditDays: number;
  readonly commandHistoryDays: number;
  /** Waits before a webhook's event is sent again; the last one repeats. */
  readonly webhookRetryMs: readonly number[];
  /** Whether webhooks may be sent over http and to private addresses. */
  readonly allowsPrivateWebhooks: boolean;
  /** Settings with our prefix that we do not know: most likely misspelt. */
  readonly unknownSettings: readonly string[];
};

/** Without the .env file: for what the runtime reads by itself, and for `doctor`, which reports a .env that cannot be read. */
export function readProcessEnvironment(): Environment {
  return process.env;
}

/** The process's environment, then the .env file in the folder for what it leaves out. */
export function readEnvironment(folder: string, overrides: Environment = {}): Environment {
  return { ...readEnvFile(folder), ...process.env, ...overrides };
}

/** Empty when there is no .env file. */
export function readEnvFile(folder: string): Environment {
  try {
    return parseEnv(readFileSync(`${folder}/.env`, "utf8")) as Environment;
  } catch (error) {
    const isAbsent = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (isAbsent) return {};
    throw new StartRefused(`.env cannot be read: ${error instanceof Error ? error.message : error}`, 2);
  }
}

/** Throws StartRefused, with all faults in its message. */
export function parseConfig(
  environment: Environment,
  defaultLogFormat: Config["logFormat"] = "json",
): Config {
  const settings = new SettingReader(environment);
  const redis = parseStore(settings);
  const config: Config = {
    redis,
    archive: parseArchive(settings, redis !== undefined),
    host: parseHost(settings, "GATEHOUSE_HOST"),
    dataDir: parseDataDir(settings),
    masterKey: parseSecret(settings, "GATEHOUSE_MASTER_KEY", findMasterKeyProblem),
    secret: parseSecret(settings, "GATEHOUSE_SECRET", findLengthProblem),
    // Callers send it as the master key is sent, so the same texts can be one.
    metricsToken: parseSecret(settings, "GATEHOUSE_METRICS_TOKEN", findMasterKeyProblem),
    upstreamUrl: parseUpstreamUrl(settings),
    gamePublicKey: parseGameKey(settings),
    trustProxy: parseTrustProxy(settings),
    corsOrigins: parseCorsOrigins(settings),
    publicUrl: parsePublicUrl(settings),
    tls: parseTls(settings),
    port: settings.readInteger("GATEHOUSE_PORT", PORT_DEFAULT, 0, PORT_MAX),
    admin: parseAdmin(settings),
    upstreamGlobalKey: settings.findShaped("GATEHOUSE_UPSTREAM_GLOBAL_KEY", VISIBLE_SHAPE, VISIBLE_RULE),
    upstreamTimeoutMs: settings.readInteger("GATEHOUSE_UPSTREAM_TIMEOUT_MS", 5_000, 1),
    freshMs: settings.readInteger("GATEHOUSE_FRESH_MS", 2_000, 1),
    staleMs: settings.readInteger("GATEHOUSE_STALE_MS", 0, 0),
    commandIntervalMs: settings.readInteger("GATEHOUSE_COMMAND_INTERVAL_MS", 5_000, 1),
    commandTtlMs: settings.readInteger("GATEHOUSE_COMMAND_TTL_MS", 600_000, 1),
    connectionsPerAddress: settings.readInteger("GATEHOUSE_CONNECTIONS_PER_ADDRESS", 10_000, 0),
    keepsUnknownFields: settings.readChoice("GATEHOUSE_UNKNOWN_FIELDS", ["drop", "pass"], "drop") === "pass",
    logLevel: settings.readChoice("GATEHOUSE_LOG_LEVEL", LOG_LEVELS, "info"),
    logFormat: settings.readChoice("GATEHOUSE_LOG_FORMAT", LOG_FORMATS, defaultLogFormat),
    commandHistoryDays: settings.readInteger("GATEHOUSE_COMMAND_HISTORY_DAYS", 7, 1),
    isWatching: settings.readChoice("GATEHOUSE_WATCH", ["on", "off"], "on") === "on",
    watchIntervalMs: settings.readInteger("GATEHOUSE_WATCH_INTERVAL_MS", 5_000, 1),
    eventsDays: settings.readInteger("GATEHOUSE_EVENTS_DAYS", 30, 1),
    eventsMax: settings.readInteger("GATEHOUSE_EVENTS_MAX", 1_000_000, 1),
    auditDays: settings.readInteger("GATEHOUSE_AUDIT_DAYS", 365, 1),
    webhookRetryMs: settings.readIntegers("GATEHOUSE_WEBHOOKS_RETRY_MS", WEBHOOK_RETRY_DEFAULT_MS, {
      min: 1,
      max: FAILING_MAX_MS,
      countMax: WEBHOOK_RETRIES_MAX,
    }),
    allowsPrivateWebhooks:
      settings.readChoice("GATEHOUSE_WEBHOOKS_PRIVATE", ["deny", "allow"], "deny") === "allow",
    // Last, because it lists what none of the others has read.
    unknownSettings: settings.listUnknown(),
  };
  const { faults } = settings;
  if (faults.length > 0)
    throw new StartRefused(`the settings are not usable:\n  - ${faults.join("\n  - ")}`, 2);
  return Object.freeze(config);
}

/** Instances that share a Redis cannot share a file, so their archive is a PostgreSQL or off. */
function parseArchive(settings: SettingReader, isShared: boolean): Config["archive"] {
  const archive = settings.find("GATEHOUSE_ARCHIVE") ?? (isShared ? "off" : "sqlite");
  if (archive === "off") return archive;
  if (archive === "sqlite") {
    if (isShared)
      settings.addFault(
        "GATEHOUSE_ARCHIVE",
        "must be off or a postgres:// address when GATEHOUSE_STORE is a Redis",
      );
    return archive;
  }
  const { protocol, hostname, username = "", password = "" } = URL.parse(archive) ?? {};
  // The value is not shown: it may hold a password.
  if ((protocol !== "postgres:" && protocol !== "postgresql:") || !hostname)
    settings.addFault("GATEHOUSE_ARCHIVE", "must be sqlite, off or a postgres:// address");
  else if (!isPercentEncoded(username + password))
    settings.addFault("GATEHOUSE_ARCHIVE", "must have a % in user and password written as %25");
  return { postgresUrl: archive };
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
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

function parseHost(settings: SettingReader, name: string): string {
  const host = settings.find(name) ?? HOST_DEFAULT;
  if (!isHost(host)) settings.addFault(name, `must be an address or a host name, not "${host}"`);
  return host;
}

function parseAdmin(settings: SettingReader): Config["admin"] {
  const portText = settings.find("GATEHOUSE_ADMIN_PORT");
  const hostText = settings.find("GATEHOUSE_ADMIN_HOST");
  const host = parseHost(settings, "GATEHOUSE_ADMIN_HOST");
  if (portText === undefined) {
    // Ignoring it would leave the admin API where its operator believes it is not.
    if (hostText !== undefined) settings.addFault("GATEHOUSE_ADMIN_HOST", "needs GATEHOUSE_ADMIN_PORT");
    return undefined;
  }
  if (portText !== "0" && portText === (settings.find("GATEHOUSE_PORT") ?? String(PORT_DEFAULT))) {
    settings.addFault("GATEHOUSE_ADMIN_PORT", "must be another port than GATEHOUSE_PORT");
  }
  return { host, port: settings.readInteger("GATEHOUSE_ADMIN_PORT", 0, 0, PORT_MAX) };
}

function parseDataDir(settings: SettingReader): string {
  const dataDir = settings.find("GATEHOUSE_DATA_DIR") ?? "./data";
  const problem = findFolderProblem(dataDir);
  if (problem !== undefined) settings.addFault("GATEHOUSE_DATA_DIR", problem);
  return dataDir;
}

/** The value is never part of the fault. */
function parseSecret(
  settings: SettingReader,
  name: string,
  findProblem: (secret: string) => string | undefined,
): string | undefined {
  const secret = settings.find(name);
  const problem = secret === undefined ? undefined : findProblem(secret);
  if (problem !== undefined) settings.addFault(name, problem);
  return secret;
}

function parseGameKey(settings: SettingReader): string {
  const key = settings.find("GATEHOUSE_GAME_PUBLIC_KEY") ?? PUBLISHED_GAME_KEY;
  const problem = findGameKeyProblem(key);
  if (problem !== undefined) settings.addFault("GATEHOUSE_GAME_PUBLIC_KEY", problem);
  return key;
}

function parseUpstreamUrl(settings: SettingReader): string | undefined {
  const url = settings.find("GATEHOUSE_UPSTREAM_URL");
  if (url === undefined || url === SIMULATOR) return undefined;
  if (!isBaseUrl(url)) {
    const rule = "must be `simulator`, or an http:// or https:// address without user, query or fragment";
    settings.addFault("GATEHOUSE_UPSTREAM_URL", rule);
  }
  const shorter = findShorterUrl(url);
  if (shorter !== undefined) {
    const rule = "must be the address without the path of the API, which Gatehouse adds itself";
    settings.addFault("GATEHOUSE_UPSTREAM_URL", `${rule}: write ${shorter}`);
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

function parsePublicUrl(settings: SettingReader): string | undefined {
  const url = settings.find("GATEHOUSE_PUBLIC_URL");
  if (url === undefined) return undefined;
  const isUsable = /^https?:\/\//.test(url) && isOrigin(url);
  if (!isUsable) {
    const rule =
      "must be an address like https://gatehouse.example.org, without a path or a slash at its end";
    settings.addFault("GATEHOUSE_PUBLIC_URL", rule);
  }
  return url;
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

/** The address without the path of the API at its end; undefined when it has none. */
function findShorterUrl(text: string): string | undefined {
  const url = isBaseUrl(text) ? URL.parse(text) : null;
  return url && API_PATH.test(url.pathname) ? url.origin + url.pathname.replace(API_PATH, "") : undefined;
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
