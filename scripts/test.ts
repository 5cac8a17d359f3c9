// Runs the tests for npm test, after scripts/test.sh has installed what they need. Then prints which tests were skipped, why
// the run failed and which files took longest. --quick runs the tests that take less than a minute, --long repeats tests with
// random sequences many more times. All other arguments, such as paths or -t, are passed to the test runner.
//
// A test that failed fails the run. Only the tests in scripts/retries.json are tried a second time.
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import RETRIES from "./retries.json";
import SLOW_FILES from "./slow-files.json";
import {
  type Failure,
  findFailures,
  findUnexplainedSkips,
  listSlowestFiles,
  PATIENCE_MS,
  parsePrintedSkips,
  parseReportedSkips,
  WORKER_DIED,
} from "./test-report.ts";

const ROOT = join(import.meta.dir, "..");
const INTERRUPTED = 130;
const LAST_LINES = 20;
/** What the runner prints when it has run every file. */
const SUMMARY = /^Ran \d+ tests? across \d+ files?\./m;
const UNITS = ["src", "bench", "packages"];
/** How many test files run at a time: more than cores, because their tests often wait. */
const WORKERS = 3;
const SLOWEST_SHOWN = 10;
/** What a file that is not in slow-files.json counts as when the files are dealt out. */
const USUAL_FILE_MS = 500;
const MEMORY_FOLDER = "/dev/shm";
const MEMORY_BYTES_MIN = 4 * 1024 ** 3;
/** The tests below test/ that take only a moment. */
const QUICK_CONTRACTS = [
  "test/guard",
  "test/import-direction.test.ts",
  "test/journeys/reading.test.ts",
  "test/no-bare-skips.test.ts",
  "test/scripts",
  "test/store/sqlite-commands.test.ts",
  "test/store/sqlite.test.ts",
];

/** A run that prints nothing for so long hangs: a test that takes half of it has failed. */
const SILENCE_MS = 2 * PATIENCE_MS;

/** A test that may fail once, because of something that we cannot change. The file * is any file, a title may be a group's. */
type Retry = { readonly file: string; readonly title: string; readonly reason: string };
type Ended = {
  readonly exitCode: number;
  readonly output: string;
  /** Empty when the test runner was killed or crashed. */
  readonly junit: string;
};

const folder = mkdtempSync(join(findFastFolder(), "gatehouse-tests-"));
// PostgreSQL runs as another user and has its folder in here.
chmodSync(folder, 0o755);
const running = new Set<Bun.Subprocess>();
process.on("exit", () => {
  for (const child of running) child.kill();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(INTERRUPTED));

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const { values, rest } = takeOptions(args);
  const isAll = rest.length === 0;
  const needsProgram = isAll && !values.quick;
  if (needsProgram && !(await buildProgram())) return 1;
  const env = {
    ...process.env,
    TMPDIR: folder,
    // They must outlast the run.
    GATEHOUSE_TEST_SCREENSHOTS: join(tmpdir(), "gatehouse-browser"),
    ...(values.long && { GATEHOUSE_TEST_LONG: "1" }),
    ...(needsProgram && { GATEHOUSE_TEST_PROGRAM: join(folder, "program/gatehouse") }),
  };
  const paths = values.quick ? chooseQuick() : rest;
  const ended = await run([...(isAll ? inParallel() : []), ...paths], env);
  const failures = hasPassed(ended) ? [] : findReasons(ended);
  const retries: readonly Retry[] = values.retries ? await Bun.file(values.retries).json() : RETRIES;
  return report(ended, failures, await tryAgain(failures, retries, env));
}

/**
 * The binary, which the tests start hundreds of times, with the dashboard and the program that shows /docs: else the workers
 * would make these all at the same time. False when it cannot be built.
 */
async function buildProgram(): Promise<boolean> {
  const script = join(ROOT, "scripts/build.ts");
  const args = ["--target", "host", "--bytecode", "--outdir", join(folder, "program")];
  const child = Bun.spawn([process.execPath, "--no-env-file", script, ...args], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  running.add(child);
  const exitCode = await child.exited;
  running.delete(child);
  return exitCode === 0;
}

/** What is not an option of this script is for the test runner. */
function takeOptions(args: readonly string[]) {
  const rest = args.filter((arg) => !/^--(?:quick|long|retries=.*)$/.test(arg));
  const retries = args.find((arg) => arg.startsWith("--retries="))?.slice("--retries=".length);
  return { values: { quick: args.includes("--quick"), long: args.includes("--long"), retries }, rest };
}

function chooseQuick(): readonly string[] {
  const left = listContracts().filter((path) => !QUICK_CONTRACTS.includes(path));
  console.log(`Left out but for ${QUICK_CONTRACTS.join(", ")}: ${left.join(", ")}.\nnpm test runs everything.`);
  return [...UNITS, ...QUICK_CONTRACTS];
}

/** Several workers, each of which runs the slowest of its files first. */
function inParallel(): readonly string[] {
  const files = Array.from(new Bun.Glob("{src,bench,packages,test}/**/*.test.{ts,tsx}").scanSync(ROOT));
  const slow: Readonly<Record<string, number>> = SLOW_FILES;
  const times = files.map((file) => [file, (slow[file] ?? 0) * 1_000 || USUAL_FILE_MS] as const);
  const path = join(folder, "times.json");
  writeFileSync(path, JSON.stringify({ version: 1, files: Object.fromEntries(times) }));
  return [`--parallel=${WORKERS}`, "--no-isolate", `--timings=${path}`];
}

/** Runs the failed tests again, alone, if every one of them may be. Returns those that passed then. */
async function tryAgain(
  failures: readonly Failure[],
  retries: readonly Retry[],
  env: NodeJS.ProcessEnv,
): Promise<readonly Retry[]> {
  const listed = failures.map((failure) => {
    const retry = retries.find(({ file, title }) => {
      return ["*", failure.file].includes(file) && `${failure.title} > `.startsWith(`${title} > `);
    });
    return retry && { ...failure, reason: retry.reason };
  });
  const passed: Retry[] = [];
  for (const retry of listed) {
    if (!retry || listed.includes(undefined)) return [];
    console.log(`\n${retry.file}: "${retry.title}" failed, and is tried again: ${retry.reason}`);
    // The runner matches the names of groups and test with spaces between them.
    const pattern = retry.title.replaceAll(/[^\w\s>]/g, "\\$&").replaceAll(" > ", "(?: > | )");
    const only = retry.title === WORKER_DIED ? [] : ["-t", `^${pattern}$`];
    if (hasPassed(await run([`./${retry.file}`, ...only], env))) passed.push(retry);
  }
  return passed;
}

/** The folders and test files directly below test/. */
function listContracts(): string[] {
  const entries = readdirSync(join(ROOT, "test"), { withFileTypes: true });
  const found = entries.filter((entry) => entry.isDirectory() || entry.name.endsWith(".test.ts"));
  return found.map(({ name }) => `test/${name}`).toSorted();
}

/** In memory if there is room: on a busy disk a write can take longer than a caller waits. */
function findFastFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    return bavail * bsize > MEMORY_BYTES_MIN ? MEMORY_FOLDER : tmpdir();
  } catch {
    return tmpdir();
  }
}

async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  const junitPath = join(folder, "junit.xml");
  rmSync(junitPath, { force: true });
  const options = [
    // Ends what the tests have left running.
    "--no-orphans",
    ...["--timeout", String(PATIENCE_MS)],
    ...["--reporter", "junit", "--reporter-outfile", junitPath],
  ];
  const command = [process.execPath, "--no-env-file", "test", ...options, ...args];
  // Standard output and errors in one stream, in the order in which they were written.
  const child = Bun.spawn(["sh", "-c", 'exec "$@" 2>&1', "sh", ...command], {
    cwd: ROOT,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  running.add(child);
  const decoder = new TextDecoder();
  let output = "";
  let silence = setTimeout(killWorkers, SILENCE_MS, child.pid);
  for await (const chunk of child.stdout) {
    clearTimeout(silence);
    silence = setTimeout(killWorkers, SILENCE_MS, child.pid);
    const text = decoder.decode(chunk, { stream: true });
    output += text;
    process.stdout.write(text);
  }
  const exitCode = await child.exited;
  clearTimeout(silence);
  running.delete(child);
  const file = Bun.file(junitPath);
  return { exitCode, output, junit: (await file.exists()) ? await file.text() : "" };
}

/** Ends the workers that hang, or else the run would never end. Their files count as failed. */
function killWorkers(runnerPid: number): void {
  console.log(`\nNothing was printed for ${SILENCE_MS / 1_000} s: the processes that still run tests are killed.`);
  Bun.spawnSync(["pkill", "-KILL", "-P", String(runnerPid)]);
}

/** Prints the skipped and failed tests again at the end of the output, where they are easy to find. Returns the exit code. */
function report(ended: Ended, reasons: readonly Failure[], passed: readonly Retry[]): number {
  const printed = parsePrintedSkips(ended.output);
  const unexplained = findUnexplainedSkips(parseReportedSkips(ended.junit), printed);
  const failures = reasons.filter((failure) => {
    return !passed.some(({ file, title }) => file === failure.file && title === failure.title);
  });

  const slowest = listSlowestFiles(ended.junit, SLOWEST_SHOWN);
  if (slowest.length === SLOWEST_SHOWN) printList("The slowest files:", slowest);
  const skips = printed.map(({ title, reason }) => `${reason}: ${title}`);
  if (skips.length > 0) printList(`Skipped, because this machine has not what they need (${skips.length}):`, skips);
  if (passed.length > 0) {
    const lines = passed.map(({ file, title, reason }) => `${file}: ${title} (${reason})`);
    printList("Failed, and passed when tried again, as scripts/retries.json allows:", lines);
  }
  if (failures.length > 0)
    printList(
      "What failed:",
      failures.map(({ text }) => text),
    );
  if (unexplained.length > 0) {
    printList("Skipped without a known reason, which fails the run (see test/needs.ts):", unexplained);
  }
  return failures.length === 0 && unexplained.length === 0 ? 0 : 1;
}

/** A test that ends the process with 0 would pass by the code alone, and the tests after it would not run. */
function hasPassed({ exitCode, output }: Ended): boolean {
  return exitCode === 0 && SUMMARY.test(output);
}

function findReasons({ exitCode, output }: Ended): Failure[] {
  const failures = findFailures(output);
  // The runner was killed, or found no test: then the last lines are the reason.
  const lastLines = output.split("\n").slice(-LAST_LINES).join("\n");
  if (failures.length === 0 || !SUMMARY.test(output))
    failures.push({ file: "", title: "", text: `${lastLines}the test runner ended with code ${exitCode}` });
  return failures;
}

function printList(head: string, items: readonly string[]): void {
  process.stdout.write(`\n${head}\n${items.map((item) => `${item}\n`).join("")}`);
}
