// Finds the address of the admin API and the certificates to trust: --url, GATEHOUSE_URL, the settings of this machine, or where
// the instance on the data folder listens.
// prove-address.ts decides whether the master key may be sent there.
import { readFileSync } from "node:fs";
import { isIPv6 } from "node:net";
import { findFaultWords } from "../../core/system-faults.ts";
import type { Listening } from "../../instance/listening-lock.ts";
import { failUsage } from "../exit-codes.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export type AdminAddress = {
  /** Without a slash at its end. */
  readonly base: string;
  /** On this machine, so that no proxy for outgoing traffic is used. */
  readonly isLocal: boolean;
  /** Certificates to trust besides the usual authorities. */
  readonly trusted: readonly string[];
  /** Whether the certificate must have the name of the host. The certificate of the local instance has its public name. */
  readonly checksName: boolean;
  /** The certificate that the other side must have, instead of one with the name of the host. */
  readonly pinned?: string;
};

export type AddressOptions = { readonly url?: string; readonly caFile?: string };

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_PORT = "8080";

/** `findListening` tells where an instance on the data folder listens; it is asked when no setting names the port. */
export function findAdminAddress(
  options: AddressOptions,
  environment: Environment,
  findListening: () => Listening | undefined = () => undefined,
): AdminAddress {
  const trusted = options.caFile === undefined ? [] : [readCertificates(options.caFile, "--ca-file")];
  const given = options.url ?? findSetting(environment, "GATEHOUSE_URL");
  if (given !== undefined) {
    const url = parseBase(given, options.url === undefined ? "GATEHOUSE_URL" : "--url");
    return { base: toBase(url), isLocal: isLoopback(url.hostname), trusted, checksName: true };
  }
  const url = makeLocalUrl(environment, findListening);
  const certPath = findSetting(environment, "GATEHOUSE_TLS_CERT");
  if (certPath !== undefined) trusted.push(readCertificates(certPath, "GATEHOUSE_TLS_CERT"));
  const checksName = !isLoopback(url.hostname);
  const [pinned] = checksName || certPath === undefined ? [] : trusted.slice(-1);
  return { base: toBase(url), isLocal: true, trusted, checksName, ...(pinned && { pinned }) };
}

export function findSetting(environment: Environment, name: string): string | undefined {
  return environment[name]?.trim() || undefined;
}

function makeLocalUrl(environment: Environment, findListening: () => Listening | undefined): URL {
  // Operators may have a listener of their own, and the other one does not know the admin API then.
  const adminPort = findSetting(environment, "GATEHOUSE_ADMIN_PORT");
  const prefix = adminPort === undefined ? "GATEHOUSE" : "GATEHOUSE_ADMIN";
  const set = adminPort ?? findSetting(environment, "GATEHOUSE_PORT");
  const found = set === undefined || set === "0" ? findListening() : undefined;
  const host = found?.address ?? findSetting(environment, `${prefix}_HOST`) ?? DEFAULT_HOST;
  const port = String(found?.port ?? set ?? DEFAULT_PORT);
  if (port === "0") {
    failUsage(
      `${prefix}_PORT is 0, and no Gatehouse runs on the data folder: say where it is with --url or --data-dir`,
    );
  }
  const scheme = findSetting(environment, "GATEHOUSE_TLS_CERT") === undefined ? "http" : "https";
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  const url = URL.parse(`${scheme}://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`);
  if (url === null || !/^\d+$/.test(port)) {
    failUsage(`${prefix}_HOST and ${prefix}_PORT are not a usable address: say where Gatehouse is with --url`);
  }
  return url;
}

function parseBase(text: string, source: string): URL {
  const url = URL.parse(text.trim());
  const isPlain = url && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!isPlain || (url.protocol !== "http:" && url.protocol !== "https:")) {
    failUsage(`${source} must be an http:// or https:// address without user, query or fragment`);
  }
  return url;
}

function toBase(url: URL): string {
  return url.href.replace(/\/+$/, "");
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
}

function readCertificates(path: string, source: string): string {
  let text = "";
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    failUsage(`${source} cannot be read (${path}): ${findFaultWords(error) ?? error}`);
  }
  // Bun would report a file without a certificate as a failed connection.
  if (!text.includes("-----BEGIN CERTIFICATE-----")) failUsage(`${source} has no certificate in PEM form`);
  return text;
}
