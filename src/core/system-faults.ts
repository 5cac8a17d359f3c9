// Faults of connections, certificates and files in our own words: the runtime's codes and sentences help nobody.

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ConnectionRefused: "the connection was refused",
  ECONNRESET: "the connection was cut",
  ConnectionClosed: "the connection was cut",
  EPIPE: "the connection was cut",
  ETIMEDOUT: "there was no answer in time",
  ConnectionTimeout: "there was no answer in time",
  ENOTFOUND: "its name cannot be resolved",
  EAI_AGAIN: "its name cannot be resolved at the moment",
  DNSException: "its name cannot be resolved",
  ENETUNREACH: "there is no way to its network",
  EHOSTUNREACH: "there is no way to its machine",
  FailedToOpenSocket: "no connection could be opened",
  EADDRINUSE: "the address is already in use",
  EADDRNOTAVAIL: "the address does not belong to this machine",
  EPROTO: "it does not speak TLS as expected",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak TLS",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  CERT_REVOKED: "its certificate was revoked",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate comes from an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT: "its certificate comes from an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate comes from an unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate comes from an unknown authority",
  ENOENT: "it does not exist",
  EACCES: "there is no permission",
  EPERM: "there is no permission",
  EISDIR: "it is a folder",
  ENOTDIR: "part of its path is not a folder",
  EMFILE: "too many files are open",
  ENOSPC: "the disk is full",
};

/** Undefined for an error without a known code; its message may be ours, or the other side's. */
export function findFaultWords(error: unknown): string | undefined {
  for (const each of listCauses(error)) {
    const words = WORDS[findCode(each) ?? ""];
    if (words !== undefined) return words;
  }
  return undefined;
}

/** Always a phrase of ours. An unknown code is named, so that it can be looked up. */
export function describeFault(error: unknown): string {
  const words = findFaultWords(error);
  if (words !== undefined) return words;
  if (error instanceof Error && error.name === "TimeoutError") return "there was no answer in time";
  const code = findCode(error);
  return code === undefined ? "the reason is not known" : `the reason is not known: ${code}`;
}

/** Whether the other side showed a certificate that is not trusted. */
export function isCertificateFault(error: unknown): boolean {
  return /CERT|SIGNATURE|ISSUER/.test(findCode(error) ?? "");
}

export function findCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** The error, what caused it, and the errors of each address that was tried. */
function listCauses(error: unknown): unknown[] {
  const causes: unknown[] = [error];
  if (error instanceof AggregateError) causes.push(...error.errors);
  if (error instanceof Error && error.cause !== undefined) causes.push(error.cause);
  return causes;
}
