// The only place where tests are skipped: each need is something that a test requires of the machine. A test whose need is
// missing is skipped and reported with the reason; the run fails on a skipped test that was not reported here.
import { test } from "bun:test";
import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatSkip } from "../scripts/test-report.ts";

/** Why the need is missing, as a clause; undefined when it is met. */
export type Need = () => string | undefined;

/** Declares a test that is skipped, with the reason, when one of these needs is missing. */
export function testWith(...needs: readonly Need[]) {
  return (title: string, run: () => Promise<unknown>, timeoutMs?: number): void => {
    const reason = findReason(needs);
    if (reason === undefined) {
      test(title, run, timeoutMs);
      return;
    }
    console.log(formatSkip({ title, reason }));
    test.skip(title, run);
  };
}

export function program(name: string): Need {
  return () => (Bun.which(name) ? undefined : `${name} is not installed`);
}

export const root: Need = () => (process.getuid?.() === 0 ? undefined : "the tests are not run by the superuser");

/** The test can mount a file system. */
export const mounting: Need = once(() => root() ?? program("mount")() ?? tryMounting());

/** The test can trace the system calls of a process, and make them fail. */
export const tracing: Need = once(() => {
  return program("strace")() ?? tryRunning(["strace", "-o", "/dev/null", "true"], "strace may not trace here");
});

/** systemd can check a unit that is not installed; versions before 250 cannot. */
export const judgingUnits: Need = once(() => {
  const command = ["systemd-analyze", "security", "--offline=yes", "--help"];
  return program("systemd-analyze")() ?? tryRunning(command, "this systemd-analyze judges no files");
});

function findReason(needs: readonly Need[]): string | undefined {
  for (const need of needs) {
    const reason = need();
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function once(find: Need): Need {
  let found: { readonly reason: string | undefined } | undefined;
  return () => {
    found ??= { reason: find() };
    return found.reason;
  };
}

function tryMounting(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "gatehouse-mount-"));
  try {
    const mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder];
    return tryRunning(mount, "the kernel lets nobody mount here") ?? tryRunning(["umount", folder], "umount failed");
  } finally {
    rmdirSync(folder);
  }
}

/** `complaint` with the first line that the program wrote to stderr, if it fails. */
function tryRunning(command: readonly string[], complaint: string): string | undefined {
  const { exitCode, stderr } = Bun.spawnSync([...command], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  if (exitCode === 0) return undefined;
  const [said = ""] = stderr.toString().trim().split("\n");
  return said === "" ? complaint : `${complaint} (${said})`;
}
