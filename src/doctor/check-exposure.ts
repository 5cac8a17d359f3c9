// What other users of the machine, or whoever is on the way, could read: .env, and traffic that is not encrypted or whose
// certificates are not checked.
import { statSync } from "node:fs";
import { isIPv4 } from "node:net";
import { join } from "node:path";
import { type Config, readEnvFile } from "../instance/config.ts";
import { type Finding, reportAs } from "./finding.ts";

const { fail, ok, warn } = reportAs("exposure");
const ADDRESS_SETTINGS = ["GATEHOUSE_STORE", "GATEHOUSE_REDIS", "GATEHOUSE_ARCHIVE"];
const SECRET_SETTINGS = [
  "GATEHOUSE_MASTER_KEY",
  "GATEHOUSE_SECRET",
  "GATEHOUSE_METRICS_TOKEN",
  "GATEHOUSE_UPSTREAM_GLOBAL_KEY",
];

export type EnvFileFacts = {
  readonly path: string;
  readonly mode: number;
  /** The names of the settings in it that are secrets. */
  readonly secrets: readonly string[];
};

export type ExposureFacts = {
  /** Undefined when there is none, and where files have no owners, as on Windows. */
  readonly envFile: EnvFileFacts | undefined;
  /** Whether the runtime was told to accept every certificate. */
  readonly acceptsAllCertificates: boolean;
  /** Undefined with the simulator. */
  readonly upstreamUrl: string | undefined;
  readonly host: string;
  /** The host of the listener for operators, if they have one of their own. */
  readonly adminHost: string | undefined;
  readonly hasTls: boolean;
  readonly trustsProxy: boolean;
};

export function inspectExposure(config: Config, folder: string, acceptsAllCertificates: boolean): ExposureFacts {
  return {
    envFile: inspectEnvFile(folder),
    acceptsAllCertificates,
    upstreamUrl: config.upstreamUrl,
    host: config.host,
    adminHost: config.admin?.host,
    hasTls: config.tls !== undefined,
    trustsProxy: config.trustProxy.length > 0,
  };
}

function inspectEnvFile(folder: string): EnvFileFacts | undefined {
  const path = join(folder, ".env");
  const found = process.getuid === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
  if (!found) return undefined;
  const settings = readEnvFile(folder);
  const secrets = SECRET_SETTINGS.filter((name) => settings[name]?.trim());
  // An address holds its password before the @.
  secrets.push(...ADDRESS_SETTINGS.filter((name) => settings[name]?.includes("@")));
  return { path, mode: found.mode & 0o777, secrets };
}

export function judgeExposure(facts: ExposureFacts): Finding[] {
  const findings = [
    ...(facts.envFile ? judgeEnvFile(facts.envFile) : []),
    ...judgeCertificateChecks(facts),
    ...judgeUpstream(facts),
    ...judgeListener(facts),
    ...judgeAdminListener(facts),
  ];
  if (findings.length > 0) return findings;
  return ok("Neither .env nor any traffic is open to others.");
}

function judgeEnvFile({ path, mode, secrets }: EnvFileFacts): Finding[] {
  const remedy = `Restrict it to its owner: chmod 600 ${path}`;
  const shown = `(mode 0${mode.toString(8).padStart(3, "0")})`;
  if ((mode & 0o022) !== 0) {
    return fail(`Other users can change .env, and with it every setting ${shown}.`, remedy);
  }
  if ((mode & 0o077) === 0) return [];
  return secrets.length > 0
    ? fail(`Other users can read ${secrets.join(", ")} in .env ${shown}.`, remedy)
    : warn(`Other users can read .env ${shown}; it holds no secret yet.`, remedy);
}

function judgeCertificateChecks({ acceptsAllCertificates }: ExposureFacts): Finding[] {
  if (!acceptsAllCertificates) return [];
  return fail(
    "NODE_TLS_REJECT_UNAUTHORIZED is 0: anybody on the way can pose as the game API or Redis and read the server keys.",
    "Remove it; NODE_EXTRA_CA_CERTS names a file with further authorities to trust.",
  );
}

function judgeUpstream({ upstreamUrl }: ExposureFacts): Finding[] {
  const url = upstreamUrl === undefined ? null : URL.parse(upstreamUrl);
  if (url?.protocol !== "http:" || isLoopback(url.hostname)) return [];
  return warn(
    `The game API is called over plain HTTP (${upstreamUrl}): anybody on the way can read the server keys.`,
    "Use its https:// address in GATEHOUSE_UPSTREAM_URL.",
  );
}

function judgeListener({ host, adminHost, hasTls, trustsProxy }: ExposureFacts): Finding[] {
  if (hasTls || trustsProxy || isLoopback(host)) return [];
  const secrets = adminHost === undefined ? "tokens and the master key" : "tokens";
  return warn(
    `Gatehouse listens at ${host} without TLS: anybody on the way can read ${secrets}.`,
    "Set GATEHOUSE_TLS_CERT and GATEHOUSE_TLS_KEY, or let a proxy with TLS call it at 127.0.0.1 and name the proxy in GATEHOUSE_TRUST_PROXY.",
  );
}

/** A trusted proxy does not excuse it: proxies forward callers, not operators. */
function judgeAdminListener({ adminHost, hasTls }: ExposureFacts): Finding[] {
  if (hasTls || adminHost === undefined || isLoopback(adminHost)) return [];
  return warn(
    `Gatehouse listens for operators at ${adminHost} without TLS: anybody on the way can read the master key.`,
    "Set GATEHOUSE_TLS_CERT and GATEHOUSE_TLS_KEY, or leave GATEHOUSE_ADMIN_HOST at 127.0.0.1. In a container whose port only this machine can reach, all is well.",
  );
}

function isLoopback(host: string): boolean {
  const plain = host.replace(/^\[|\]$/g, "");
  return plain === "localhost" || plain === "::1" || (isIPv4(plain) && plain.startsWith("127."));
}
