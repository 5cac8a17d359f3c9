// npm run test:alone [-- part of a path...]: runs every test file in a process of its own, in a random order, and says which
// fail that way. A test that needs another file's leftovers is found here.
import { parseArgs } from "node:util";
import { Glob } from "bun";
import { findFailures } from "./test-report.ts";

const ROOT = `${import.meta.dir}/..`;
const PATIENCE_MS = 20_000;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { without: { type: "string", multiple: true, default: [] } },
});
const files = shuffle(await listFiles(positionals, values.without));
const failed: string[] = [];
for (const [index, file] of files.entries()) {
  const { exitCode, output, seconds } = await runAlone(file);
  const verdict = exitCode === 0 ? "passes" : "FAILS";
  console.log(`${index + 1} of ${files.length}: ${file} ${verdict} (${seconds.toFixed(1)} s)`);
  if (exitCode === 0) continue;
  failed.push(file);
  const failures = findFailures(output);
  console.log(failures.length > 0 ? failures.join("\n") : output);
}
console.log(
  failed.length === 0
    ? `${files.length} test files pass alone.`
    : `${failed.length} of ${files.length} test files fail alone:\n${failed.join("\n")}`,
);
process.exit(failed.length === 0 && files.length > 0 ? 0 : 1);

async function listFiles(wanted: readonly string[], unwanted: readonly string[]): Promise<string[]> {
  const all = await Array.fromAsync(new Glob("{src,bench,test}/**/*.test.ts").scan(ROOT));
  return all.filter((file) => {
    const isWanted = wanted.length === 0 || wanted.some((part) => file.includes(part));
    return isWanted && !unwanted.some((part) => file.includes(part));
  });
}

function shuffle(list: string[]): string[] {
  return list
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

async function runAlone(file: string) {
  const startedAt = performance.now();
  const command = [process.execPath, "--no-env-file", "test", "--timeout", String(PATIENCE_MS), `./${file}`];
  const child = Bun.spawn(command, { cwd: ROOT, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const exitCode = await child.exited;
  return { exitCode, output: stdout + stderr, seconds: (performance.now() - startedAt) / 1_000 };
}
