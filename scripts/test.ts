// Runs the tests for npm test, after scripts/test.sh has installed what they need. Then prints which tests were skipped and
// why the run failed. --quick runs the tests that take less than a minute, --long repeats tests with random sequences many
// more times. All other arguments, such as paths or -t, are passed to the test runner.
//
// In a run of everything, and with --try-again, a test file that failed is run again, alone, at most twice: many tests wait
// for real processes with deadlines, which a machine that is short of processor time does not meet.
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildDashboard } from "./build-dashboard.ts";
import { fetchReference } from "./fetch-reference.ts";
import {
  type Failure,
  findFailures,
  findUnexplainedSkips,
  parsePrintedSkips,
  parseReportedSkips,
} from "./test-report.ts";

const ROOT = join(import.meta.dir, "..");
/** The timeout of tests that set none, long enough for a busy machine. */
const PATIENCE_MS = 60_000;
/** With more failed files than this, the code is wrong and not the machine busy. */
const TRIED_AGAIN_MAX = 15;
const TRIES_ALONE = 2;
const INTERRUPTED = 130;
const LAST_LINES = 20;
/** What the runner prints when it has run every file. */
const SUMMARY = /^Ran \d+ tests? across \d+ files?\./m;
const OWN_OPTIONS = ["--quick", "--long", "--try-again"];
const UNITS = ["src", "bench", "packages"];
const BROWSER = "test/browser";
const BROWSER_PARTS = 6;
/** Folders whose tests start processes and wait for them. */
const PROCESSES = ["test/process", "test/instances", "test/faults", "test/runs", "test/docs"];
/** How many parts run at a time: more than cores, because their tests often wait. */
const PARALLEL_MAX = 4;
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

type Part = {
  readonly name: string;
  /** Paths and options for the test runner. */
  readonly args: readonly string[];
  /** Whether its output is printed at once. The output of the other parts is printed when all parts have ended. */
  readonly isLive: boolean;
};
type Ended = {
  readonly part: Part;
  readonly exitCode: number;
  readonly output: string;
  /** Empty when the test runner was killed or crashed. */
  readonly junit: string;
};

const folder = mkdtempSync(join(tmpdir(), "gatehouse-tests-"));
const running = new Set<Bun.Subprocess>();
process.on("exit", () => {
  for (const child of running) child.kill();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(INTERRUPTED));

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const isQuick = args.includes("--quick");
  const others = args.filter((arg) => !OWN_OPTIONS.includes(arg));
  const parts =
    others.length > 0 ? [{ name: others.join(" "), args: others, isLive: true }] : chooseParts(isQuick);
  // Built here, because otherwise every part would build an outdated dashboard at the same time.
  if (parts.length > 1) {
    await buildDashboard();
    const fetched = await fetchReference().then(
      () => true,
      (error: Error) => console.error(`The tests need the program that shows /docs: ${error.message}`),
    );
    if (!fetched) return 1;
  }
  const env = { ...process.env, ...(args.includes("--long") && { GATEHOUSE_TEST_LONG: "1" }) };
  const ended = await runAll(parts, env);
  for (const { part, output } of ended) if (!part.isLive) process.stdout.write(output);
  const mayTryAgain = parts.length > 1 || args.includes("--try-again");
  return report(ended, mayTryAgain ? await tryAgain(ended, env) : []);
}

/** Runs each test file that failed again, alone. Returns the files that passed then. */
async function tryAgain(ended: readonly Ended[], env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const failures = ended.filter(({ exitCode }) => exitCode !== 0).flatMap(findReasons);
  const files = [...new Set(failures.map(({ file }) => file))].filter((file) => file !== "");
  if (files.length > TRIED_AGAIN_MAX) return [];
  const passed: string[] = [];
  for (const file of files) if (await passesAlone(file, env)) passed.push(file);
  return passed;
}

async function passesAlone(file: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const part = { name: file, args: [`./${file}`], isLive: true };
  for (let tries = 1; tries <= TRIES_ALONE; tries++) {
    console.log(`\n${file} failed, and is run again, alone (${tries} of ${TRIES_ALONE}):`);
    const { exitCode } = await run(part, env, join(folder, "again.xml"));
    if (exitCode === 0) return true;
  }
  return false;
}

function chooseParts(isQuick: boolean): readonly Part[] {
  if (isQuick) {
    const left = listContracts().filter((path) => !QUICK_CONTRACTS.includes(path));
    console.log(
      `Left out but for ${QUICK_CONTRACTS.join(", ")}: ${left.join(", ")}.\nnpm test runs everything.`,
    );
    return [{ name: "the quick tests", args: [...UNITS, ...QUICK_CONTRACTS], isLive: true }];
  }
  // Every test file that is in no other part is in the first.
  const elsewhere = [BROWSER, ...PROCESSES].flatMap((folder) => ["--path-ignore-patterns", `${folder}/**`]);
  const [first, second, ...pages] = listBrowserParts();
  const [processes, ...others] = PROCESSES.map((folder) => ({ name: folder, args: [folder], isLive: false }));
  // Long parts come first, so that none is the last alone; pages need the processor, and the others often wait.
  const parts = [first, processes, second, ...others, ...pages].filter((part) => part !== undefined);
  return [{ name: "units, stores and journeys", args: elsewhere, isLive: true }, ...parts];
}

/** Deals the files of the browser's tests out in turn, the largest first, so that the parts take about as long. */
function listBrowserParts(): Part[] {
  const files = readdirSync(join(ROOT, BROWSER)).filter((name) => name.endsWith(".test.ts"));
  const sizes = new Map(files.map((name) => [name, statSync(join(ROOT, BROWSER, name)).size]));
  const paths = files
    .toSorted((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0))
    .map((name) => `${BROWSER}/${name}`);
  return Array.from({ length: BROWSER_PARTS }, (_, part) => ({
    name: `the browser, part ${part + 1} of ${BROWSER_PARTS}`,
    args: paths.filter((_, place) => place % BROWSER_PARTS === part),
    isLive: false,
  }));
}

/** Runs the parts in their order, several at a time. */
async function runAll(parts: readonly Part[], env: NodeJS.ProcessEnv): Promise<readonly Ended[]> {
  const ended: Ended[] = [];
  const waiting = [...parts.entries()];
  async function runInTurn(): Promise<void> {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [place, part] = next;
      ended[place] = await run(part, env, join(folder, `${place}.xml`));
    }
  }
  await Promise.all(Array.from({ length: PARALLEL_MAX }, runInTurn));
  return ended;
}

/** The folders and test files directly below test/. */
function listContracts(): string[] {
  const entries = readdirSync(join(ROOT, "test"), { withFileTypes: true });
  const found = entries.filter((entry) => entry.isDirectory() || entry.name.endsWith(".test.ts"));
  return found.map(({ name }) => `test/${name}`).toSorted();
}

async function run(part: Part, env: NodeJS.ProcessEnv, junitPath: string): Promise<Ended> {
  const options = [
    ...["--timeout", String(PATIENCE_MS)],
    ...["--reporter", "junit", "--reporter-outfile", junitPath],
  ];
  const command = [process.execPath, "--no-env-file", "test", ...options, ...part.args];
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
  for await (const chunk of child.stdout) {
    const text = decoder.decode(chunk, { stream: true });
    output += text;
    if (part.isLive) process.stdout.write(text);
  }
  const exitCode = await child.exited;
  running.delete(child);
  const file = Bun.file(junitPath);
  return { part, exitCode, output, junit: (await file.exists()) ? await file.text() : "" };
}

/** Prints the skipped and failed tests again at the end of the output, where they are easy to find. Returns the exit code. */
function report(ended: readonly Ended[], passedAlone: readonly string[]): number {
  const printed = ended.flatMap(({ output }) => parsePrintedSkips(output));
  const unexplained = findUnexplainedSkips(
    ended.flatMap(({ junit }) => parseReportedSkips(junit)),
    printed,
  );
  const reasons = ended.filter(({ exitCode }) => exitCode !== 0).flatMap(findReasons);
  const failures = reasons.filter(({ file }) => !passedAlone.includes(file)).map(({ text }) => text);
  const excused = reasons.filter(({ file }) => passedAlone.includes(file)).map(({ text }) => text);

  const skips = printed.map(({ title, reason }) => `${reason}: ${title}`);
  if (skips.length > 0)
    printList(`Skipped, because this machine has not what they need (${skips.length}):`, skips);
  if (excused.length > 0) printList("Failed beside other tests, and passed alone:", excused);
  if (failures.length > 0) printList("What failed:", failures);
  if (unexplained.length > 0) {
    printList("Skipped without a known reason, which fails the run (see test/needs.ts):", unexplained);
  }
  return failures.length === 0 && unexplained.length === 0 ? 0 : 1;
}

function findReasons({ part, exitCode, output }: Ended): Failure[] {
  const failures = findFailures(output);
  // The runner was killed, or found no test: then the last lines are the reason, and there is no file to run again.
  const lastLines = output.split("\n").slice(-LAST_LINES).join("\n");
  if (failures.length === 0 || !SUMMARY.test(output))
    failures.push({ file: "", text: `${lastLines}${part.name}: ended with code ${exitCode}` });
  return failures;
}

function printList(head: string, items: readonly string[]): void {
  process.stdout.write(`\n${head}\n${items.map((item) => `${item}\n`).join("")}`);
}
