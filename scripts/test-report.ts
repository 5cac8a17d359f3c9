// Parses the output of a test run: which tests were skipped and why, and why the run failed. No I/O.

/** The timeout of tests that set none: only a failure reaches it, also on a busy machine. */
export const PATIENCE_MS = 120_000;

/** The title of a failure without a failed test: the process that ran the file has died. */
export const WORKER_DIED = "(worker died)";

/** A skipped test, with the reason that was printed for it. */
export type Skip = { readonly title: string; readonly reason: string };

/** A failed test, or an error outside of a test. */
export type Failure = {
  /** The path of its test file; empty when the runner did not print one. */
  readonly file: string;
  /** As it is printed, with the names of its groups: "group > test". Empty for an error outside of a test. */
  readonly title: string;
  /** The file, the lines above the verdict that belong to it, and the verdict with the title. */
  readonly text: string;
};

const PRINTED_SKIP = /^skipped: ("(?:[^"\\]|\\.)*"): (.+)$/gm;
/** A test case in JUnit's XML that has child elements: it was skipped or failed. */
const TESTCASE = /<testcase ([^>]*[^/>])>(.*?)<\/testcase>/gs;
/** A test file in JUnit's XML; groups inside of it are indented further. */
const FILE_SUITE = /^ {2}<testsuite ([^>]*)>/gm;
/** How long a test took is printed only when that is measurable. */
const FAILED = /^\(fail\) (.*?)(?: \[[\d.]+m?s\])?$/;
const CRASHED = /^✗ (\S+\.test\.tsx?) \(worker crashed/;
const VERDICT = /^\((?:pass|skip|todo|fail)\)/;
/** The heading of an error outside of a test. A RULE is above the heading and below the error. */
const UNHANDLED = "# Unhandled error between tests";
const RULE = "-".repeat(UNHANDLED.length);
const FILE = /^(\S+\.test\.tsx?):$/;
const RECAP = /^\d+ tests? failed:$/;
/** How many lines above a failed test are kept as its cause. */
const CAUSE_LINES = 40;

export function formatSkip({ title, reason }: Skip): string {
  return `skipped: ${JSON.stringify(title)}: ${reason}`;
}

/** Finds the skips that were printed with `formatSkip`. */
export function parsePrintedSkips(output: string): Skip[] {
  return Array.from(output.matchAll(PRINTED_SKIP), ([, title = '""', reason = ""]) => {
    return { title: JSON.parse(title) as string, reason };
  });
}

/** The skipped tests in the runner's own JUnit report, including those marked with `test.todo`. */
export function parseReportedSkips(junit: string): { readonly title: string; readonly file: string }[] {
  const skipped = Array.from(junit.matchAll(TESTCASE)).filter(([, , content = ""]) => content.includes("<skipped"));
  return skipped.map(([, attributes = ""]) => {
    return { title: readAttribute(attributes, "name"), file: readAttribute(attributes, "file") };
  });
}

/** The skipped tests without a printed reason, one line each. */
export function findUnexplainedSkips(
  reported: readonly { readonly title: string; readonly file: string }[],
  printed: readonly Skip[],
): string[] {
  const explained = printed.map(({ title }) => title);
  const unexplained: string[] = [];
  for (const { title, file } of reported) {
    const index = explained.indexOf(title);
    if (index === -1) unexplained.push(`${file}: ${title}`);
    else explained.splice(index, 1);
  }
  return unexplained;
}

/** The test files that took longest, one line each. */
export function listSlowestFiles(junit: string, count: number): string[] {
  const files = Array.from(junit.matchAll(FILE_SUITE), ([, attributes = ""]) => {
    return { file: readAttribute(attributes, "file"), seconds: Number(readAttribute(attributes, "time")) };
  });
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, count);
  return slowest.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${file}`);
}

/** Finds the failures in the output. */
export function findFailures(output: string): Failure[] {
  const failures: Failure[] = [];
  let file = "";
  let cause: string[] = [];
  for (const line of output.split("\n")) {
    // After a long run the runner lists the failures again, without their causes.
    if (RECAP.test(line)) break;
    const isUnhandled = line === RULE && cause.at(-1) !== UNHANDLED && cause.includes(UNHANDLED);
    const title = FAILED.exec(line)?.[1];
    const crashed = CRASHED.exec(line)?.[1];
    if (isUnhandled || title !== undefined || crashed !== undefined) {
      const text = [`${file}:`, ...cause.slice(-CAUSE_LINES), line].join("\n");
      failures.push({ file: crashed ?? file, title: crashed ? WORKER_DIED : (title ?? ""), text });
    }
    const begun = FILE.exec(line)?.[1];
    if (begun !== undefined) file = begun;
    if (isUnhandled || begun !== undefined || VERDICT.test(line)) cause = [];
    else cause.push(line);
  }
  return failures;
}

function readAttribute(attributes: string, name: string): string {
  const text = new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1] ?? "";
  return text.replaceAll(/&(?:lt|gt|quot|apos|amp|#(\d+)|#x([\da-f]+));/gi, (entity, decimal, hex) => {
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return ENTITIES[entity] ?? String.fromCodePoint(code);
  });
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&amp;": "&",
};
