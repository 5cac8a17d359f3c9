// A terminal in which a test types the commands of a page: one bash, in its own folder, that keeps its variables. And the
// folder in which a reader types.
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM } from "../run-gatehouse.ts";
import { makeFolder, undoLater } from "../temporary.ts";
import { within } from "../until.ts";
import { ROOT } from "./page-blocks.ts";

const COMMAND_DEADLINE_MS = 100_000;

export type Terminal = {
  /** Everything that was printed so far, standard error too. */
  readonly printed: string;
  /** Runs a block and returns what it printed. Throws when one of its commands fails. */
  type(text: string, input?: string): Promise<string>;
  /** Runs a block that does not end by itself, until it has printed these words. */
  start(text: string, words: string): Promise<string>;
  /** Presses Ctrl+C and waits until the running block has ended. */
  interrupt(): Promise<void>;
};

/** Closed by `cleanUp`, together with everything that runs in it. */
export function openTerminal(cwd: string, env: Readonly<Record<string, string>>): Terminal {
  // Outside of `cwd`, because a page may list the files of its folder.
  const home = mkdtempSync(join(tmpdir(), "gatehouse-terminal-"));
  writeFileSync(join(home, ".curlrc"), "silent\nshow-error\nfail-with-body\n");
  const bash = Bun.spawn(["bash"], {
    cwd,
    env: { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: home, ...env },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
    // A process group of its own, which a signal reaches as Ctrl+C would.
    detached: true,
  });
  undoLater(async () => {
    signalGroup(bash.pid, "SIGKILL");
    await bash.exited;
    rmSync(home, { recursive: true, force: true });
  });
  // `-e`: the first command that fails ends the shell, and with it the block.
  bash.stdin.write("exec 2>&1; set -euo pipefail; trap ':' INT\n");
  bash.stdin.flush();

  let printed = "";
  let hasEnded = false;
  let wake = () => {};
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of bash.stdout) {
      printed += decoder.decode(chunk, { stream: true });
      wake();
    }
    hasEnded = true;
    wake();
  })();

  async function waitForText(text: string, from: number): Promise<void> {
    while (!printed.includes(text, from)) {
      if (hasEnded) throw new Error(`the shell ended:\n${printed.slice(from)}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      await within(COMMAND_DEADLINE_MS, promise, `nothing was printed any more:\n${printed.slice(from)}`);
    }
  }

  let blocks = 0;
  let from = 0;
  const endOfBlock = () => `(end of block ${blocks})\n`;
  function submit(text: string, input: string, onFailure = ""): void {
    const file = join(home, `block-${++blocks}`);
    writeFileSync(file, text);
    writeFileSync(`${file}-input`, input);
    from = printed.length;
    bash.stdin.write(`. ${file} < ${file}-input ${onFailure}; echo "(end of block ${blocks})"\n`);
    bash.stdin.flush();
  }

  return {
    get printed() {
      return printed;
    },
    async type(text, input = "") {
      submit(text, input);
      await waitForText(endOfBlock(), from);
      return printed.slice(from).replace(endOfBlock(), "");
    },
    async start(text, words) {
      // npm ends with an error when it is interrupted.
      submit(text, "", "|| true");
      await waitForText(words, from);
      return printed.slice(from);
    },
    async interrupt() {
      signalGroup(bash.pid, "SIGINT");
      await waitForText(endOfBlock(), from);
    },
  };
}

/**
 * A folder that looks like this checkout, so that the data folder and .env of a reader are not made in it. Its ./gatehouse is
 * `program`: the binary of a whole run answers in a third of the time that the sources need.
 */
export function makeCheckout(program = PROGRAM): string {
  const folder = makeFolder();
  for (const name of readdirSync(ROOT)) {
    if (!["data", ".env", ".git", "gatehouse"].includes(name)) symlinkSync(join(ROOT, name), join(folder, name));
  }
  symlinkSync(program, join(folder, "gatehouse"));
  return folder;
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
