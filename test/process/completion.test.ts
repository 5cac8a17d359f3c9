// The completion scripts, run in their shells.
import { afterEach, describe, expect, test } from "bun:test";
import { symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { program, testWith } from "../needs.ts";
import { PROGRAM, runToEnd } from "../run-gatehouse.ts";
import { cleanUp, makeFolder } from "../temporary.ts";

afterEach(cleanUp);

async function writeScript(shell: string): Promise<{ folder: string; script: string }> {
  const folder = makeFolder();
  const script = join(folder, `_gatehouse`);
  const { exitCode, stdout, stderr } = await runToEnd(["completion", shell], { cwd: folder });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  writeFileSync(script, stdout);
  symlinkSync(PROGRAM, join(folder, "gatehouse"));
  return { folder, script };
}

async function runShell(command: readonly string[], cwd: string): Promise<{ exitCode: number; output: string }> {
  // The scripts run the program.
  const env = { ...process.env, PATH: [cwd, process.env.PATH].join(delimiter) };
  const child = Bun.spawn([...command], { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [exitCode, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  return { exitCode, output: stdout + stderr };
}

/** The typed words, of which the last is being completed, and what must and must not be offered. */
const CASES: readonly [words: readonly string[], offered: readonly string[], others: readonly string[]][] = [
  [["k"], ["keys"], ["servers"]],
  [["keys", "ro"], ["rotate"], ["revoke"]],
  [["keys", "create", "--s"], ["--sections", "--server"], ["--label"]],
  [["keys", "create", "--label", "servers", "--exp"], ["--expires"], ["--yes"]],
  [["keys", "list", "--state", "re"], ["revoked"], ["active"]],
  [["events", "--f"], ["--follow"], ["--types"]],
  [["audit", "s"], ["show"], ["list"]],
  [["commands", "list", "--status", "s"], ["sending", "sent"], ["queued"]],
  [["completion", ""], ["bash", "fish", "zsh"], ["--help"]],
  [["servers", "remove", "--y"], ["--yes"], ["--json"]],
  [["serve", "--p"], ["--port"], ["--players"]],
];

describe("completion for bash", () => {
  testWith(program("bash"))("offers commands, options and their values", async () => {
    const { folder, script } = await writeScript("bash");
    expect(await runShell(["bash", "-n", script], folder)).toEqual({ exitCode: 0, output: "" });
    for (const [words, offered, others] of CASES) {
      const program = `source "$1"; shift; COMP_WORDS=(gatehouse "$@"); COMP_CWORD=$#; _gatehouse; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { output } = await runShell(["bash", "--norc", "-c", program, "bash", script, ...words], folder);
      expectOffer(words, output, offered, others);
    }
  });

  testWith(program("bash"))("offers files where an option or an argument takes one", async () => {
    const { folder, script } = await writeScript("bash");
    for (const words of ["keys list --ca-file _g", "restore _g"]) {
      const program = `source "$1"; COMP_WORDS=(gatehouse ${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _gatehouse; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { output } = await runShell(["bash", "--norc", "-c", program, "bash", script], folder);
      expect(output).toBe("_gatehouse\n");
    }
  });
});

describe("completion for fish", () => {
  testWith(program("fish"))("offers commands, options and their values", async () => {
    const { folder, script } = await writeScript("fish");
    expect(await runShell(["fish", "--no-config", "-n", script], folder)).toEqual({
      exitCode: 0,
      output: "",
    });
    for (const [words, offered, others] of CASES) {
      const program = `source ${script}; complete -C "gatehouse ${words.join(" ")}"`;
      const { output } = await runShell(["fish", "--no-config", "-c", program], folder);
      expectOffer(words, output.replace(/\t.*$/gm, ""), offered, others);
    }
  });
});

describe("completion for zsh", () => {
  testWith(program("zsh"))("offers commands, options and their values", async () => {
    const { folder, script } = await writeScript("zsh");
    expect(await runShell(["zsh", "-n", script], folder)).toEqual({ exitCode: 0, output: "" });
    for (const [words, offered, others] of CASES) {
      // Real completion needs a terminal, so the test prints what the function passes to zsh.
      const program = `compdef() { :; }; compadd() { print -l -- \${@:2}; }
        _describe() { local list=\${@[-1]}; print -l -- \${\${(P)list}%%:*}; }
        source $1; shift; words=(gatehouse "$@"); CURRENT=$#words; _gatehouse`;
      const { output } = await runShell(["zsh", "-f", "-c", program, "zsh", script, ...words], folder);
      const typed = words.at(-1) ?? "";
      const matching = output.split("\n").filter((word) => word.startsWith(typed));
      expectOffer(words, matching.join("\n"), offered, others);
    }
  });
});

test("another shell is wrong usage", async () => {
  const ended = await runToEnd(["completion", "tcsh"], { cwd: makeFolder() });
  expect(ended).toMatchObject({ exitCode: 2, stdout: "" });
});

function expectOffer(
  words: readonly string[],
  output: string,
  offered: readonly string[],
  others: readonly string[],
): void {
  const lines = output.split("\n").filter((line) => line !== "");
  for (const word of offered) expect({ words, lines }).toEqual({ words, lines: expect.arrayContaining([word]) });
  for (const word of others) expect({ words, lines }).not.toEqual({ words, lines: expect.arrayContaining([word]) });
}
