// Watches the certificate's files and hands over what is in them, if it is usable, whenever they change.
import { readFileSync, statSync } from "node:fs";
import { findTlsProblem } from "./config.ts";
import type { Log } from "./core/ports.ts";
import type { TlsFiles } from "./http/listen.ts";

const LOOK_EVERY_MS = 1_000;

export type TlsPaths = { readonly certPath: string; readonly keyPath: string };

export type TlsWatch = {
  /** Looks now, whether or not the files seem to have changed. */
  reload(): void;
  stop(): void;
};

export function readTlsFiles(paths: TlsPaths): TlsFiles {
  return { cert: readFileSync(paths.certPath, "utf8"), key: readFileSync(paths.keyPath, "utf8") };
}

/** Files that cannot be used, or do not belong together yet, leave what is served as it is. */
export function watchTlsFiles(paths: TlsPaths, log: Log, apply: (tls: TlsFiles) => void): TlsWatch {
  let seen = stampOf(paths);
  let reported = "";

  function reload(): void {
    const problem = findTlsProblem(paths.certPath, paths.keyPath);
    if (problem !== undefined) {
      if (problem !== reported) log.error({ problem }, "the new TLS files cannot be used; the old ones stay");
      reported = problem;
      return;
    }
    reported = "";
    try {
      apply(readTlsFiles(paths));
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

  // Looking beats watching: certificates are replaced through renames and links that file watchers lose.
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
