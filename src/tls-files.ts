// The certificate and its key: read and checked in one go, and handed over again whenever the files change.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import type { Log } from "./core/ports/log.ts";
import type { TlsFiles } from "./http/tls-front.ts";

const LOOK_EVERY_MS = 1_000;

export type TlsPaths = { readonly certPath: string; readonly keyPath: string };

export type TlsReloader = {
  /** Looks now, whether or not the files seem to have changed. */
  reload(): void;
  stop(): void;
};

/** The files' contents, or everything that keeps them from being used. */
export function readTlsFiles(paths: TlsPaths): { tls: TlsFiles } | { problems: string[] } {
  const problems: string[] = [];
  function attempt<T>(name: string, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      problems.push(`${name} cannot be used: ${error instanceof Error ? error.message : error}`);
      return undefined;
    }
  }
  const cert = attempt("GATEHOUSE_TLS_CERT", () => readText(paths.certPath));
  const key = attempt("GATEHOUSE_TLS_KEY", () => readText(paths.keyPath));
  const certificate = cert && attempt("GATEHOUSE_TLS_CERT", () => new X509Certificate(cert));
  const privateKey = key && attempt("GATEHOUSE_TLS_KEY", () => createPrivateKey(key));
  if (!cert || !key || !certificate || !privateKey) return { problems };
  if (certificate.checkPrivateKey(privateKey)) return { tls: { cert, key } };
  return { problems: ["GATEHOUSE_TLS_KEY does not belong to the certificate in GATEHOUSE_TLS_CERT"] };
}

function readText(path: string): string {
  const text = readFileSync(path, "utf8");
  if (text.trim() === "") throw new Error(`${path} is empty`);
  return text;
}

/** Files that cannot be used, or do not belong together yet, leave what is served as it is. */
export function reloadTlsOnChange(paths: TlsPaths, log: Log, apply: (tls: TlsFiles) => void): TlsReloader {
  let seen = stampOf(paths);
  let reported = "";

  function reload(): void {
    const read = readTlsFiles(paths);
    if ("problems" in read) {
      const problem = read.problems.join("; ");
      if (problem !== reported) log.error({ problem }, "the new TLS files cannot be used; the old ones stay");
      reported = problem;
      return;
    }
    reported = "";
    try {
      apply(read.tls);
      log.info({}, "TLS files reloaded");
    } catch (error) {
      log.error({ err: error }, "the new TLS files cannot be used; the old ones stay");
    }
  }

  function look(): void {
    const stamp = stampOf(paths);
    if (stamp === seen) return;
    seen = stamp;
    reload();
  }

  // Polling, because certificates are replaced through renames and links that file watchers lose.
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return { reload, stop: () => clearInterval(timer) };
}

function stampOf(paths: TlsPaths): string {
  return [paths.certPath, paths.keyPath].map(stampOfFile).join();
}

function stampOfFile(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs}-${size}-${ino}`;
  } catch {
    return "absent";
  }
}
