// How the command line calls Gatehouse: certificates are always verified, proxies are not used on this machine, and a call
// that fails is described in our own words.
import { X509Certificate } from "node:crypto";
import { describeFault, findCode, isCertificateFault } from "../../core/system-faults.ts";
import type { AdminAddress } from "./admin-address.ts";

class OtherCertificate extends Error {
  override name = "OtherCertificate";
}

export async function makeTransport(address: AdminAddress): Promise<BunFetchRequestInit> {
  const transport: Record<string, unknown> = {};
  // A proxy for outgoing traffic must not see calls to this machine.
  if (address.isLocal) transport.proxy = false;
  if (address.base.startsWith("https:")) {
    // Said here, because NODE_TLS_REJECT_UNAUTHORIZED=0 would switch it off.
    const tls: Record<string, unknown> = { rejectUnauthorized: true };
    if (address.trusted.length > 0) {
      const { rootCertificates } = await import("node:tls");
      tls.ca = [...rootCertificates, ...address.trusted];
    }
    if (!address.checksName) tls.checkServerIdentity = checkIdentity(address.pinned);
    transport.tls = tls;
  }
  return transport as BunFetchRequestInit;
}

/** Without a pinned certificate any trusted one will do. Called before the request is sent. */
function checkIdentity(pinned: string | undefined) {
  const expected = pinned === undefined ? undefined : new X509Certificate(pinned).fingerprint256;
  return (_host: string, certificate: { readonly fingerprint256: string }): Error | undefined => {
    return expected === undefined || certificate.fingerprint256 === expected ? undefined : new OtherCertificate();
  };
}

/** Without the master key. Throws when there is no answer. */
export async function callPlainly(address: AdminAddress, path: string, deadlineMs: number): Promise<void> {
  const response = await fetch(address.base + path, {
    redirect: "manual",
    keepalive: false,
    signal: AbortSignal.timeout(deadlineMs),
    ...(await makeTransport(address)),
  });
  await response.body?.cancel();
}

export function describeNoAnswer(error: unknown, base: string, deadlineMs: number): string {
  if (error instanceof Error && error.name === "TimeoutError") {
    return `${base} did not answer within ${deadlineMs / 1000} s`;
  }
  if (error instanceof OtherCertificate) {
    return `${base} has another certificate than the one in GATEHOUSE_TLS_CERT, so the master key is not sent: use the settings that Gatehouse was started with`;
  }
  const code = findCode(error);
  if (code === "ECONNREFUSED") {
    return `nothing listens at ${base}: start it with gatehouse serve, or say where it is with --url`;
  }
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return `the certificate of ${base} is for another name: use that name in --url`;
  }
  if (isCertificateFault(error)) {
    return `${base} is not trusted: ${describeFault(error)}; give it, or its authority, with --ca-file`;
  }
  if (code === "EPROTO") return `${base} does not speak TLS: is it an http:// address?`;
  return `${base} cannot be reached: ${describeFault(error)}; check the address (--url)`;
}
