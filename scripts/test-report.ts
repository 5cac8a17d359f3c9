// What a run of the tests has said, taken apart: which tests were skipped and why, and why the run failed. No I/O.

/** A test that was left out, with the reason that was printed for it. */
export type Skip = { readonly title: string; readonly reason: string };

const PRINTED_SKIP = /^skipped: ("(?:[^"\\]|\\.)*"): (.+)$/gm;
/** A test case of JUnit's XML that is not closed in its own tag has something to tell. */
const TESTCASE = /<testcase ([^>]*[^/>])>(.*?)<\/testcase>/gs;
const VERDICT = /^\((?:pass|skip|todo|fail)\)/;
/** An error outside of a test stands between two such lines, below its heading. */
const UNHANDLED = "# Unhandled error between tests";
const RULE = "-".repeat(UNHANDLED.length);
const FILE = /^\S+\.test\.tsx?:$/;
const RECAP = /^\d+ tests? failed:$/;
/** The cause of a failure stands above it, in fewer lines than these. */
const CAUSE_LINES = 40;

export function formatSkip({ title, reason }: Skip): string {
  return `skipped: ${JSON.stringify(title)}: ${reason}`;
}

/** Those that were printed with `formatSkip`. */
export function parsePrintedSkips(output: string): Skip[] {
  return Array.from(output.matchAll(PRINTED_SKIP), ([, title = '""', reason = ""]) => {
    return { title: JSON.parse(title) as string, reason };
  });
}

/** The tests that the runner itself says it has skipped, from its report in JUnit's format. Tests still to be written count. */
export function parseReportedSkips(junit: string): { readonly title: string; readonly file: string }[] {
  const skipped = Array.from(junit.matchAll(TESTCASE)).filter(([, , content = ""]) =>
    content.includes("<skipped"),
  );
  return skipped.map(([, attributes = ""]) => {
    return { title: readAttribute(attributes, "name"), file: readAttribute(attributes, "file") };
  });
}

/** Skipped tests that nobody has printed a reason for, each as a line. */
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

/** The parts of the output that tell why tests failed: the file, and each failure with the lines above it that are its own. */
export function findFailures(output: string): string[] {
  const failures: string[] = [];
  let file = "";
  let cause: string[] = [];
  for (const line of output.split("\n")) {
    // Behind many tests the runner lists the failures once more, without their causes.
    if (RECAP.test(line)) break;
    const isUnhandled = line === RULE && cause.at(-1) !== UNHANDLED && cause.includes(UNHANDLED);
    if (isUnhandled || line.startsWith("(fail)")) {
      failures.push([file, ...cause.slice(-CAUSE_LINES), line].join("\n").trim());
    }
    if (FILE.test(line)) file = line;
    if (isUnhandled || FILE.test(line) || VERDICT.test(line)) cause = [];
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
