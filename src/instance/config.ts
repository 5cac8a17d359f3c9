// The only reader of the environment. Checks every setting, reports all faults at once, and freezes the result.
import { existsSync, readFileSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { dirname, resolve } from "node:path";
import { parseEnv } from "node:util";
import { parseAddressRange } from "../core/address.ts";
import { StartRefused } from "../core/errors.ts";
import { findGameKeyProblem, PUBLISHED_GAME_KEY } from "../core/events/game-hook.ts";
import { FAILING_MAX_MS } from "../core/webhooks/retry.ts";
import { parseRedisAddress, type RedisAddress } from "../shared/parse-address.ts";
import { type Environment, SettingReader } from "./setting-reader.ts";
import { readTlsFiles, type TlsPaths } from "./tls-files.ts";

/** For the secrets that an operator chooses: master key, encryption secret and metrics token. */
export const SECRET_MIN_CHARACTERS = 32;
/** Texts that an Authorization header can carry. No comma, because it would look like two values. */
const BEARER_SHAPE = /^[\x21-\x2b\x2d-\x7e]{1,400}$/;
const VISIBLE_SHAPE = /^[\x21-\x7e]+$/;
const BEARER_RULE = "at most 400 visible ASCII characters, without spaces and commas";

/** A value of GATEHOUSE_UPSTREAM_URL. */
const SIMULATOR = "simulator";
/** The path of the game API at the end of an address. Calls would have it twice. */
const API_PATH = /(?:\/+(?:v1|v2|server|command))*\/+(?:v1|v2|server)(?:\/+command)?\/*$/i;
const HOST_DEFAULT = "127.0.0.1";
const PORT_DEFAULT = 8080;
const CHAT_URL_DEFAULT = "https://discord.com";
/** Hosts that are this machine. */
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
export const DATA_DIR_DEFAULT = "./data";
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

/** Every setting, with its default. */
export type Config = Readonly<ReturnType<typeof readSettings>>;
export type DatabasePlace = "sqlite" | { readonly postgresUrl: string };

/** Without the .env file: for what the runtime reads itself, and for `doctor`, which reports an unreadable .env. */
export function readProcessEnvironment(): Environment {
  return process.env;
}

/** The overrides that are given, then the process's environment, then the .env file in the folder. */
export function readEnvironment(folder: string, overrides: Environment = {}): Environment {
  const given = Object.entries(overrides).filter(([, value]) => value !== undefined);
  return { ...readEnvFile(folder), ...process.env, ...Object.fromEntries(given) };
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
export function parseConfig(environment: Environment, defaultLogFormat: (typeof LOG_FORMATS)[number] = "json"): Config {
  const settings = new SettingReader(environment);
  const config = readSettings(settings, defaultLogFormat);
  const { faults } = settings;
  if (faults.length > 0) throw new StartRefused(`the settings are not usable:\n  - ${faults.join("\n  - ")}`, 2);
  return Object.freeze(config);
}

function readSettings(settings: SettingReader, defaultLogFormat: (typeof LOG_FORMATS)[number]) {
  const store = parseStore(settings);
  const redis = parseRedis(settings, store);
  return {
    /** Where everything is kept that must last. */
    store,
    /** What several instances share and may be lost. Undefined for a single instance. */
    redis,
    /** Where events and history are kept. */
    archive: parseArchive(settings, store),
    host: parseHost(settings, "GATEHOUSE_HOST"),
    dataDir: settings.findChecked("GATEHOUSE_DATA_DIR", findFolderProblem, DATA_DIR_DEFAULT),
    masterKey: settings.findChecked("GATEHOUSE_MASTER_KEY", findMasterKeyProblem),
    secret: settings.findChecked("GATEHOUSE_SECRET", findLengthProblem),
    // Callers send it as the master key is sent, so the same texts can be one.
    metricsToken: settings.findChecked("GATEHOUSE_METRICS_TOKEN", findMasterKeyProblem),
    /** Undefined: the built-in simulator is the upstream. */
    upstreamUrl: parseUpstreamUrl(settings),
    /** What the game's webhooks are signed with: base64 of its SPKI form. */
    gamePublicKey: settings.findChecked("GATEHOUSE_GAME_PUBLIC_KEY", findGameKeyProblem, PUBLISHED_GAME_KEY),
    trustProxy: settings.readList("GATEHOUSE_TRUST_PROXY", (entry) =>
      parseAddressRange(entry) ? undefined : "neither an address nor a range like 10.0.0.0/8",
    ),
    corsOrigins: settings.readList("GATEHOUSE_CORS_ORIGINS", (entry) =>
      entry === "*" || isOrigin(entry) ? undefined : "not an origin like https://example.org",
    ),
    /** The address at which people open the dashboard, for links to it. Undefined: the one that the operator uses. */
    publicUrl: settings.findChecked("GATEHOUSE_PUBLIC_URL", findPublicUrlProblem),
    /** The application at the chat platform, for signing in there. Undefined: nobody signs in there. */
    chat: parseChat(settings),
    tls: parseTls(settings),
    port: settings.readInteger("GATEHOUSE_PORT", PORT_DEFAULT, 0, PORT_MAX),
    /** Where operators are served. Undefined: together with everybody else. */
    admin: parseAdmin(settings),
    upstreamGlobalKey: settings.findChecked("GATEHOUSE_UPSTREAM_GLOBAL_KEY", findInvisible),
    upstreamTimeoutMs: settings.readInteger("GATEHOUSE_UPSTREAM_TIMEOUT_MS", 5_000, 1),
    freshMs: settings.readInteger("GATEHOUSE_FRESH_MS", 2_000, 1),
    staleMs: settings.readInteger("GATEHOUSE_STALE_MS", 0, 0),
    commandIntervalMs: settings.readInteger("GATEHOUSE_COMMAND_INTERVAL_MS", 5_000, 1),
    commandTtlMs: settings.readInteger("GATEHOUSE_COMMAND_TTL_MS", 600_000, 1),
    /** 0: not limited. */
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
    /** Waits before a webhook's event is sent again; the last one repeats. */
    webhookRetryMs: settings.readIntegers("GATEHOUSE_WEBHOOKS_RETRY_MS", WEBHOOK_RETRY_DEFAULT_MS, {
      min: 1,
      max: FAILING_MAX_MS,
      countMax: WEBHOOK_RETRIES_MAX,
    }),
    /** Whether webhooks may be sent over http and to private addresses. */
    allowsPrivateWebhooks: settings.readChoice("GATEHOUSE_WEBHOOKS_PRIVATE", ["deny", "allow"], "deny") === "allow",
    /** Settings with our prefix that are not known, most likely misspelt. Last: it lists what nothing else read. */
    unknownSettings: settings.listUnknown(),
  };
}

function parseStore(settings: SettingReader): DatabasePlace {
  const name = "GATEHOUSE_STORE";
  const store = settings.find(name) ?? "sqlite";
  if (store === "sqlite") return store;
  if (/^rediss?(?:\+\w+)?:/.test(store)) {
    const instead = "write GATEHOUSE_STORE=postgres://… and GATEHOUSE_REDIS=redis://…";
    settings.addFault(name, `cannot be a Redis: ${instead}; to take the data of a 0.2 Redis over, see docs/scaling.md`);
    return "sqlite";
  }
  checkPostgresUrl(settings, name, store, "sqlite or a postgres:// address");
  return { postgresUrl: store };
}

/** Several instances share a PostgreSQL and a Redis. */
function parseRedis(settings: SettingReader, store: DatabasePlace): RedisAddress | undefined {
  const name = "GATEHOUSE_REDIS";
  const text = settings.find(name);
  if (text === undefined) return undefined;
  const redis = parseRedisAddress(text);
  if (!redis) {
    const forms =
      "redis://host:port, rediss://host:port, redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/name";
    // The value is not shown: it may hold a password, and without parsing it nobody can tell where.
    settings.addFault(name, `must be ${forms}`);
  }
  // A GATEHOUSE_STORE with a fault of its own needs no second sentence.
  const isWrongStore = settings.faults.some((fault) => fault.startsWith("GATEHOUSE_STORE "));
  if (store === "sqlite" && !isWrongStore)
    settings.addFault(
      name,
      "needs a database for several instances: set GATEHOUSE_STORE to a postgres:// address, or leave GATEHOUSE_REDIS out",
    );
  return redis;
}

/**
 * In the database of the store, unless something else is set. A file beside a PostgreSQL could neither be shared nor be closed to
 * an instance that was replaced.
 */
function parseArchive(settings: SettingReader, store: DatabasePlace): DatabasePlace | "off" {
  const name = "GATEHOUSE_ARCHIVE";
  const archive = settings.find(name);
  if (archive === undefined) return store;
  if (archive === "off") return archive;
  if (archive === "sqlite") {
    if (store !== "sqlite")
      settings.addFault(
        name,
        "must be off or a postgres:// address, or left out, when GATEHOUSE_STORE is a postgres:// address",
      );
    return archive;
  }
  checkPostgresUrl(settings, name, archive, "sqlite, off or a postgres:// address");
  return { postgresUrl: archive };
}

/** The value is not shown: it may hold a password. */
function checkPostgresUrl(settings: SettingReader, name: string, url: string, forms: string): void {
  const { protocol, hostname, username = "", password = "" } = URL.parse(url) ?? {};
  if ((protocol !== "postgres:" && protocol !== "postgresql:") || !hostname)
    settings.addFault(name, `must be ${forms}`);
  else if (!isPercentEncoded(username + password))
    settings.addFault(name, "must have a % in user and password written as %25");
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function parseHost(settings: SettingReader, name: string): string {
  const findProblem = (host: string) => (isHost(host) ? undefined : `must be an address or a host name, not "${host}"`);
  return settings.findChecked(name, findProblem, HOST_DEFAULT);
}

function parseAdmin(settings: SettingReader): { readonly host: string; readonly port: number } | undefined {
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

function parseChat(settings: SettingReader) {
  const baseUrl = settings.findChecked("GATEHOUSE_DISCORD_URL", findChatUrlProblem, CHAT_URL_DEFAULT);
  const clientId = settings.findChecked("GATEHOUSE_DISCORD_CLIENT_ID", (id) => {
    // Only of Discord itself it is known what an id looks like.
    if (baseUrl === CHAT_URL_DEFAULT && !/^[0-9]{1,20}$/.test(id)) return "must be the number of an application";
    return findInvisible(id);
  });
  const clientSecret = settings.findChecked("GATEHOUSE_DISCORD_CLIENT_SECRET", findInvisible);
  if (clientId === undefined && clientSecret === undefined) return undefined;
  if (clientId === undefined || clientSecret === undefined) {
    settings.faults.push("GATEHOUSE_DISCORD_CLIENT_ID and GATEHOUSE_DISCORD_CLIENT_SECRET must be set together");
  }
  const publicUrl = settings.find("GATEHOUSE_PUBLIC_URL");
  if (publicUrl === undefined)
    settings.addFault("GATEHOUSE_DISCORD_CLIENT_ID", "needs GATEHOUSE_PUBLIC_URL, where people come back to");
  if (clientId === undefined || clientSecret === undefined || publicUrl === undefined) return undefined;
  return { baseUrl, clientId, clientSecret, returnUrl: `${publicUrl}/session/chat/return` };
}

function findInvisible(text: string): string | undefined {
  return VISIBLE_SHAPE.test(text) ? undefined : "must consist of visible ASCII characters, without spaces";
}

/** Secrets are sent there, so without TLS only to this machine. */
function findChatUrlProblem(url: string): string | undefined {
  const { protocol, hostname = "" } = URL.parse(url) ?? {};
  const isUsable = protocol === "https:" || (protocol === "http:" && LOOPBACK.test(hostname));
  return isUsable && isOrigin(url) ? undefined : "must be an https:// address, without a path or a slash at its end";
}

function parseTls(settings: SettingReader): TlsPaths | undefined {
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

function findPublicUrlProblem(url: string): string | undefined {
  const isUsable = /^https?:\/\//.test(url) && isOrigin(url);
  if (isUsable) return undefined;
  return "must be an address like https://gatehouse.example.org, without a path or a slash at its end";
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
