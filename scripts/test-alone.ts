// npm run test:alone [-- part of a path...]: runs every test file in its own process, to find tests that depend on
// another file. With --together all files run in one process in a random order, to find tests that affect others.
// --without skips files, --seed repeats an order.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findFailures, PATIENCE_MS } from "./test-report.ts";

const ROOT = join(import.meta.dir, "..");

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    together: { type: "boolean", default: false },
    without: { type: "string", multiple: true, default: [] },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
  },
});
const files = shuffle(await listFiles(positionals, values.without), values.seed);
console.log(`${files.length} test files, in the order of --seed ${values.seed}`);
const failed = await runAll(values.together ? [files] : files.map((file) => [file]));
if (failed.length > 0) console.log(`These do not pass: ${failed.join(", ")}`);
process.exitCode = failed.length === 0 && files.length > 0 ? 0 : 1;

/** Runs each group in its own process, one after the other. Returns the files of the groups that failed. */
async function runAll(groups: readonly (readonly string[])[]): Promise<string[]> {
  const failed: string[] = [];
  for (const [index, group] of groups.entries()) {
    const name = group.length === 1 ? group[0] : "all together";
    const { exitCode, output, seconds } = await run(group);
    const verdict = exitCode === 0 ? "pass" : "FAIL";
    console.log(`${index + 1} of ${groups.length}: ${verdict} ${name} (${seconds.toFixed(1)} s)`);
    if (exitCode === 0) continue;
    failed.push(...group);
    const failures = findFailures(output);
    console.log(failures.length > 0 ? failures.map(({ text }) => text).join("\n") : output);
  }
  return failed;
}

async function run(paths: readonly string[]) {
  const startedAt = performance.now();
  const options = ["--no-env-file", "test", "--timeout", String(PATIENCE_MS)];
  const child = Bun.spawn([process.execPath, ...options, ...paths.map((path) => `./${path}`)], {
    cwd: ROOT,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const exitCode = await child.exited;
  return { exitCode, output: stdout + stderr, seconds: (performance.now() - startedAt) / 1_000 };
}

async function listFiles(wanted: readonly string[], unwanted: readonly string[]): Promise<string[]> {
  const all = await Array.fromAsync(new Bun.Glob("**/*.test.ts").scan(ROOT));
  return all.filter((file) => {
    if (file.includes("node_modules/")) return false;
    const isWanted = wanted.length === 0 || wanted.some((part) => file.includes(part));
    return isWanted && !unwanted.some((part) => file.includes(part));
  });
}

function shuffle(list: readonly string[], seed: string): string[] {
  const places = new Map(list.map((item) => [item, Bun.hash.crc32(`${seed} ${item}`)]));
  return list.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
}
