// The certificate and its key: usable, valid for a while, and the key not readable for other users.
import { X509Certificate } from "node:crypto";
import { statSync } from "node:fs";
import { DAY_MS } from "../core/durations.ts";
import { readTlsFiles, type TlsPaths } from "../instance/tls-files.ts";
import { type Finding, reportAs } from "./finding.ts";

const { fail, ok, skip, warn } = reportAs("TLS");
const DAYS_MIN = 30;

export type CertificateFacts = {
  /** The host names and addresses in it. */
  readonly names: readonly string[];
  readonly validFrom: number;
  readonly validTo: number;
  readonly keyPath: string;
  readonly isKeyReadableByOthers: boolean;
};

/** Undefined when the files cannot be used; the check of the settings says why. */
export function inspectTlsFiles(paths: TlsPaths): CertificateFacts | undefined {
  const read = readTlsFiles(paths);
  if ("problems" in read) return undefined;
  const certificate = new X509Certificate(read.tls.cert);
  return {
    names: listNames(certificate),
    validFrom: Date.parse(certificate.validFrom),
    validTo: Date.parse(certificate.validTo),
    keyPath: paths.keyPath,
    isKeyReadableByOthers: process.getuid !== undefined && (statSync(paths.keyPath).mode & 0o077) !== 0,
  };
}

function listNames(certificate: X509Certificate): string[] {
  const alternatives = (certificate.subjectAltName ?? "").split(", ");
  const names = alternatives.map((entry) => /^(?:DNS|IP Address):"?([^"]+)"?$/.exec(entry)?.[1]);
  const found = names.filter((name) => name !== undefined);
  const common = /^CN=(.+)$/m.exec(certificate.subject)?.[1];
  return found.length === 0 && common !== undefined ? [common] : found;
}

/** `facts` is "none" when no files are configured. */
export function judgeTls(facts: CertificateFacts | "none" | undefined, now: number): Finding[] {
  if (facts === "none") return skip("No certificate is configured: Gatehouse speaks plain HTTP.");
  if (!facts) {
    return fail(
      "The certificate or its key cannot be used.",
      "Correct GATEHOUSE_TLS_CERT and GATEHOUSE_TLS_KEY; the findings about the settings say what is wrong.",
    );
  }
  const { names, validFrom, validTo, keyPath, isKeyReadableByOthers } = facts;
  const subject = `The certificate for ${names.join(", ") || "no host name"}`;
  const findings: Finding[] = [];
  const daysLeft = Math.floor((validTo - now) / DAY_MS);
  const renew = "Renew it; Gatehouse loads the new files by itself.";
  if (now < validFrom) {
    findings.push(
      ...fail(
        `${subject} is valid only from ${day(validFrom)} on.`,
        "Check the clock, or use a certificate that is valid now.",
      ),
    );
  } else if (now >= validTo) {
    findings.push(...fail(`${subject} has expired on ${day(validTo)}.`, renew));
  } else if (daysLeft < DAYS_MIN) {
    findings.push(...warn(`${subject} expires on ${day(validTo)}, in ${daysLeft} days.`, renew));
  }
  if (isKeyReadableByOthers) {
    findings.push(
      ...warn("The certificate's key can be read by other users.", `Restrict it to its owner: chmod 600 ${keyPath}`),
    );
  }
  return findings.length > 0 ? findings : ok(`${subject} is valid until ${day(validTo)}.`);
}

function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
