// Parses the output of the real test runner.
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  findFailures,
  findUnexplainedSkips,
  formatSkip,
  listSlowestFiles,
  parsePrintedSkips,
  parseReportedSkips,
  WORKER_DIED,
} from "../../scripts/test-report.ts";

const folder = mkdtempSync(join(tmpdir(), "gatehouse-report-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs these test files, by name, with the test runner. */
async function runTests(files: Readonly<Record<string, string>>, more: readonly string[] = []) {
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), `import { beforeAll, describe, expect, test } from "bun:test";\n${text}`);
  }
  const junitPath = join(folder, "junit.xml");
  const options = ["--reporter", "junit", "--reporter-outfile", junitPath, ...more];
  const paths = Object.keys(files).map((name) => `./${name}`);
  const child = Bun.spawn([process.execPath, "test", ...options, ...paths], {
    cwd: folder,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  await child.exited;
  return { output: stdout + stderr, junit: await Bun.file(junitPath).text() };
}

describe("skipped tests", () => {
  test("every test that the runner skips is found, whatever its title, and no other", async () => {
    const { junit } = await runTests({
      "skips.test.ts": [
        'test("run", () => {})',
        'test.skip("plain", () => {})',
        `test.skipIf(true)("<a> & \\"b\\" 'c' > d: ü", () => {})`,
        'describe.skip("a whole group", () => { test("in it", () => {}) })',
        'test.todo("to be written")',
      ].join("\n"),
    });
    expect(parseReportedSkips(junit)).toEqual([
      { title: "plain", file: "skips.test.ts" },
      { title: `<a> & "b" 'c' > d: ü`, file: "skips.test.ts" },
      { title: "in it", file: "skips.test.ts" },
      { title: "to be written", file: "skips.test.ts" },
    ]);
  });

  test("a printed reason is read back, also between other lines and with quotes in the title", () => {
    const skip = { title: 'says "no": a \\ title', reason: "nginx is not installed: here" };
    const output = `before\n${formatSkip(skip)}\n(skip) something\nskipped: without quotes\n`;
    expect(parsePrintedSkips(output)).toEqual([skip]);
  });

  test("one reason explains one test: a second of the same title is unexplained", () => {
    const reported = [
      { title: "a", file: "x.test.ts" },
      { title: "a", file: "y.test.ts" },
      { title: "b", file: "y.test.ts" },
    ];
    const printed = [
      { title: "a", reason: "no a" },
      { title: "b", reason: "no b" },
    ];
    expect(findUnexplainedSkips(reported, printed)).toEqual(["y.test.ts: a"]);
    expect(findUnexplainedSkips(reported, [])).toHaveLength(3);
  });
});

describe("failures", () => {
  test("each is reported once, with its file and its cause, without the lines of other tests", async () => {
    const { output } = await runTests({
      "first.test.ts": `
        test("fine", () => console.log("words of the fine one"));
        test("wrong sum", () => expect(1 + 1).toBe(3));
      `,
      "second.test.ts": `
        test("fine again", () => {});
        describe("group", () => test("thrown [1] [2]", () => { throw new Error("out of sorts"); }));
      `,
    });
    const failures = findFailures(output);
    expect(failures).toHaveLength(2);
    expect(failures.map(({ file }) => file)).toEqual(["first.test.ts", "second.test.ts"]);
    expect(failures.map(({ title }) => title)).toEqual(["wrong sum", "group > thrown [1] [2]"]);
    const texts = failures.map(({ text }) => text);
    expect(texts[0]).toMatch(/^first\.test\.ts:\n[\s\S]*Expected: 3[\s\S]*\n\(fail\) wrong sum \[/);
    expect(texts[1]).toMatch(/^second\.test\.ts:\n[\s\S]*error: out of sorts[\s\S]*\n\(fail\) group > thrown/);
    expect(texts.join("\n")).not.toMatch(/\(pass\)|words of the fine one/);
  });

  test("an error while a file is loaded or prepared is reported too", async () => {
    const { output } = await runTests({
      "loading.test.ts": `throw new Error("broken file");`,
      "preparing.test.ts": `beforeAll(() => { throw new Error("broken hook"); }); test("never", () => {});`,
    });
    const failures = findFailures(output);
    expect(failures).toHaveLength(2);
    expect(failures[0]?.text).toContain("error: broken file");
    expect(failures[1]?.text).toContain("error: broken hook");
  });

  test("a worker that died is reported with the file that it ran", async () => {
    const { output } = await runTests(
      {
        "deadly.test.ts": 'test("deadly", () => process.exit(3));',
        "good.test.ts": 'test("fine", () => {})',
      },
      ["--parallel=2"],
    );
    const failures = findFailures(output).map(({ file, title }) => ({ file, title }));
    expect(failures).toEqual([{ file: "deadly.test.ts", title: WORKER_DIED }]);
  });

  test("a run without a failure reports none", async () => {
    const { output } = await runTests({
      "good.test.ts": ['test("fine", () => {})', 'test.skip("not run", () => {})'].join("\n"),
    });
    expect(output).toContain("(pass) fine");
    expect(findFailures(output)).toEqual([]);
  });
});

test("the slowest files are listed first, with what their tests took together", async () => {
  const slow = 'test("a", () => Bun.sleep(30)); describe("group", () => test("b", () => Bun.sleep(30)));';
  const { junit } = await runTests({
    "fast.test.ts": 'test("at once", () => {})',
    "slow.test.ts": slow,
    "slower.test.ts": `${slow} test("c", () => Bun.sleep(200));`,
  });
  const lines = listSlowestFiles(junit, 2).map((line) => line.split(" s  "));
  expect(lines.map(([, file]) => file)).toEqual(["slower.test.ts", "slow.test.ts"]);
  expect(Number(lines[0]?.[0])).toBeGreaterThanOrEqual(0.2);
});
