// Finds the code blocks of a page and runs them as a reader would.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../..");

/** The blocks of one language, in order, from one heading to the next one named. */
export function readSnippets(page: string, language: string, from = "", to?: string): string[] {
  const text = readFileSync(join(ROOT, "docs", page), "utf8");
  const part = text.slice(text.indexOf(from), to === undefined ? undefined : text.indexOf(to));
  const blocks = part.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs"));
  return Array.from(blocks, (match) => match[1] ?? "");
}

export type Ran = { readonly exitCode: number; readonly out: string; readonly complaints: string };

export async function runProgram(
  command: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Ran> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: cwd, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [exitCode, out, complaints] = await Promise.all([
    child.exited,
    child.stdout.text(),
    child.stderr.text(),
  ]);
  return { exitCode, out, complaints };
}

/** Runs all blocks in one shell. The first failed command ends it; an error answer counts as a failure. */
export function runShell(
  blocks: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Ran> {
  const curl = 'curl() { command curl --silent --show-error --fail-with-body "$@"; }';
  return runProgram(["bash", "-c", ["set -euo pipefail", curl, ...blocks].join("\n")], cwd, env);
}
