// The certificate and its key: read, checked, and reloaded whenever the files change.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import type { Log } from "../core/ports/log.ts";
import { findFaultWords } from "../core/system-faults.ts";

const POLL_MS = 1_000;
const UNUSABLE = "the new TLS files cannot be used; the old ones stay";

/** Their contents, in PEM form. */
export type TlsFiles = { readonly cert: string; readonly key: string };
export type TlsPaths = { readonly certPath: string; readonly keyPath: string };

/** The contents of the files, or every reason why they cannot be used. */
export function readTlsFiles(paths: TlsPaths): { tls: TlsFiles } | { problems: string[] } {
  const problems: string[] = [];
  function attempt<T>(name: string, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      problems.push(`${name} cannot be used: ${findFaultWords(error) ?? describeContent(error)}`);
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
  if (text.trim() === "") throw new EmptyFile();
  return text;
}

class EmptyFile extends Error {}

function describeContent(error: unknown): string {
  return error instanceof EmptyFile
    ? "it is empty"
    : "it does not hold what it should, in PEM form and without a password";
}

/** Polls the files and applies new ones. Files that cannot be used, or do not match yet, change nothing. */
export class TlsReloader {
  readonly #paths: TlsPaths;
  readonly #log: Log;
  readonly #apply: (tls: TlsFiles) => void;
  readonly #timer: ReturnType<typeof setInterval>;
  #seenStamp: string;
  #loggedProblem = "";

  constructor(paths: TlsPaths, log: Log, apply: (tls: TlsFiles) => void) {
    this.#paths = paths;
    this.#log = log;
    this.#apply = apply;
    this.#seenStamp = stampOf(paths);
    // Polling, because file watchers lose certificates that are replaced through renames and links.
    this.#timer = setInterval(() => this.#reloadIfChanged(), POLL_MS);
    this.#timer.unref();
  }

  /** Reloads now, whether or not the files seem to have changed. */
  reload(): void {
    const read = readTlsFiles(this.#paths);
    if ("problems" in read) {
      this.#logProblem(read.problems.join("; "));
      return;
    }
    this.#loggedProblem = "";
    try {
      this.#apply(read.tls);
      this.#log.info({}, "TLS files reloaded");
    } catch (error) {
      this.#log.error({ err: error }, UNUSABLE);
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #reloadIfChanged(): void {
    const stamp = stampOf(this.#paths);
    if (stamp === this.#seenStamp) return;
    this.#seenStamp = stamp;
    this.reload();
  }

  #logProblem(problem: string): void {
    if (problem !== this.#loggedProblem) this.#log.error({ problem }, UNUSABLE);
    this.#loggedProblem = problem;
  }
}

/** Changes whenever one of the files is replaced or written. */
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
