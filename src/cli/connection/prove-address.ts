// Decides whether the master key may be sent to an address: over verified TLS, or to an instance on this machine that
// holds its lock in the data folder. Any other process may have taken the port.
import { lookup } from "node:dns/promises";
import { isIP, isIPv4 } from "node:net";
import { CommandFailed, EXIT_CODES } from "../exit-codes.ts";
import type { AdminAddress } from "./admin-address.ts";
import { callPlainly, describeNoAnswer } from "./admin-transport.ts";

const PROBE_MS = 5_000;

export type Proof = {
  readonly dataDir: string;
  /** The operator accepts that the master key can be read on its way, or by another process. */
  readonly allowsHttp: boolean;
};

/** The address to send the master key to. Throws CommandFailed when nothing shows that it is Gatehouse's. */
export async function proveAddress(address: AdminAddress, proof: Proof): Promise<AdminAddress> {
  const isTls = address.base.startsWith("https:");
  if (isTls && address.checksName) return address;
  const bound = await findBoundAddress(address.base, proof.dataDir);
  if (bound !== undefined) {
    // The lock is proof enough, and the file may be newer than the certificate that is in use.
    const { pinned: _, ...unpinned } = address;
    return { ...unpinned, isLocal: true, base: isTls ? address.base : withHost(address.base, bound) };
  }
  if (isTls && address.pinned !== undefined) return address;
  if (proof.allowsHttp) return address;
  throw await describeStranger(address, proof.dataDir);
}

/** The address of this host and port at which an instance on the data folder listens. */
async function findBoundAddress(base: string, dataDir: string): Promise<string | undefined> {
  const { isListening } = await import("../../instance/listening-lock.ts");
  const url = new URL(base);
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isBound = (address: string) => {
    const everywhere = isIPv4(address) ? "0.0.0.0" : "::";
    return isListening(dataDir, address, port) || isListening(dataDir, everywhere, port);
  };
  return (await resolve(host)).find(isBound);
}

/** A name can lead to several addresses, and the instance may listen at one of them only. */
async function resolve(host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}

function withHost(base: string, address: string): string {
  const url = new URL(base);
  url.hostname = isIPv4(address) ? address : `[${address}]`;
  return url.href.replace(/\/+$/, "");
}

async function describeStranger(address: AdminAddress, dataDir: string): Promise<CommandFailed> {
  const { base, isLocal } = address;
  if (!isLocal) {
    return new CommandFailed(
      `${base} is not encrypted, so the master key is not sent there: use an https:// address, or add --allow-http`,
      EXIT_CODES.unavailable,
    );
  }
  try {
    // Asks without the master key whether anything is there at all, for the most helpful sentence.
    await callPlainly(address, "/healthz", PROBE_MS);
  } catch (error) {
    return new CommandFailed(describeNoAnswer(error, base, PROBE_MS), EXIT_CODES.unavailable);
  }
  return new CommandFailed(
    `what listens at ${base} is not the Gatehouse of ${dataDir}, so it does not get the master key: ` +
      "name the data folder with --data-dir and run this as the user that Gatehouse runs as, use an https:// address, or add --allow-http",
    EXIT_CODES.unavailable,
  );
}
