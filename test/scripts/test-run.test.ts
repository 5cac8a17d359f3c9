// A whole run of npm test: its exit code, and the end of its output.
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import RETRY_LIST from "../../scripts/retries.json";
import SLOW_FILES from "../../scripts/slow-files.json";
import { WORKER_DIED } from "../../scripts/test-report.ts";
import { until } from "../until.ts";

const ROOT = join(import.meta.dir, "../..");
const folder = mkdtempSync(join(tmpdir(), "gatehouse-run-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RETRIES: readonly { file: string; title: string; reason: string }[] = RETRY_LIST;
let files = 0;

/** Runs a test file with this text. */
async function runTests(text: string, options: readonly string[] = []) {
  const path = join(folder, `${++files}.test.ts`);
  const needs = JSON.stringify(join(ROOT, "test/needs.ts"));
  const imports = `import { describe, expect, test } from "bun:test"; import { program, testWith } from ${needs};`;
  writeFileSync(path, `${imports}\n${text}`);
  const child = Bun.spawn([process.execPath, join(ROOT, "scripts/test.ts"), ...options, path], {
    env: { ...process.env, GATEHOUSE_TEST_LONG: undefined },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const output = await child.stdout.text();
  return { exitCode: await child.exited, output };
}

test("tests that pass end it with 0, and it says how many there were", async () => {
  const { exitCode, output } = await runTests('test("fine", () => {})');
  expect(exitCode).toBe(0);
  expect(output).toContain(" 1 pass");
  expect(output).not.toMatch(/Skipped|What failed/);
});

test("a test whose need is missing is skipped with its reason, and the run passes", async () => {
  const { exitCode, output } = await runTests(`
    testWith(program("sh"), program("no-such-program"))("needs much", async () => {});
    testWith(program("sh"))("needs little", async () => {});
  `);
  expect(exitCode).toBe(0);
  expect(output).toContain("(pass) needs little");
  expect(output).toEndWith("no-such-program is not installed: needs much\n");
});

test("a test that is skipped without a printed reason fails the run, and its name stands at the end", async () => {
  const { exitCode, output } = await runTests(
    ['test("fine", () => {})', 'test.skip("left out quietly", () => {})'].join("\n"),
  );
  expect(exitCode).toBe(1);
  expect(output).toContain(" 0 fail");
  expect(output).toMatch(/Skipped without a known reason.*\n\S*\d\.test\.ts: left out quietly\n$/);
});

test("a failing test fails the run, whose output ends with its cause", async () => {
  const { exitCode, output } = await runTests('test("wrong", () => expect(1).toBe(2)); test("fine", () => {})');
  expect(exitCode).toBe(1);
  expect(output).toMatch(/\nWhat failed:\n[\s\S]*Expected: 2[\s\S]*\n\(fail\) wrong \[.*\]\n$/);
});

test("a run in which the process dies is no success", async () => {
  const { exitCode, output } = await runTests('test("deadly", () => process.kill(process.pid, "SIGKILL"))');
  expect(exitCode).toBe(1);
  expect(output).toMatch(/\nWhat failed:\n[\s\S]*ended with code 137\n$/);
});

test("what a test leaves behind, running or on disk, is gone when the run has ended", async () => {
  const { output } = await runTests(`
    test("careless", async () => {
      const child = Bun.spawn(["sleep", "1000"], { detached: true, stdio: ["ignore", "ignore", "ignore"] });
      child.unref();
      const folder = require("node:fs").mkdtempSync(require("node:os").tmpdir() + "/left-");
      console.log("left:", child.pid, folder);
    });
  `);
  const [, pid = "", path = ""] = /left: (\d+) (\S+)/.exec(output) ?? [];
  expect(path).toContain("/left-");
  expect(existsSync(path)).toBe(false);
  // A killed process has its number until its new parent has noticed its end.
  await until("the process is still there", () => !existsSync(`/proc/${pid}`));
});

/** A test file in which `isFirst` is true in its first run only. */
function onlyAtFirst(text: string): string {
  const path = JSON.stringify(join(folder, `seen-${files}`));
  return `
    import { existsSync, writeFileSync } from "node:fs";
    const isFirst = !existsSync(${path});
    writeFileSync(${path}, "");
    ${text}`;
}

/** Runs a file whose tests "late" and "group > (late)?" fail at first, when these titles are on the list. */
async function runLate(titles: readonly string[], more = "") {
  const listPath = join(folder, `retries-${files}.json`);
  const file = relative(ROOT, join(folder, `${files + 1}.test.ts`));
  writeFileSync(listPath, JSON.stringify(titles.map((title) => ({ file, title, reason: "the network" }))));
  const text = onlyAtFirst(`
    describe("group", () => test("(late)?", () => expect(isFirst).toBe(false)));
    test("late", () => expect(isFirst).toBe(false));
    ${more}`);
  return await runTests(text, [`--retries=${listPath}`]);
}

test("a test that fails only once fails the run, when it is not on the list", async () => {
  const { exitCode, output } = await runLate([]);
  expect(exitCode).toBe(1);
  expect(output).toMatch(/\nWhat failed:\n[\s\S]*\(fail\) group > \(late\)\?[\s\S]*\(fail\) late/);
  expect(output).not.toContain("tried again");
});

test("tests on the list that fail only once pass the run, which says so at its end", async () => {
  const { exitCode, output } = await runLate(["late", "group"]);
  expect(exitCode).toBe(0);
  expect(output).toMatch(
    /\nFailed, and passed when tried again, .*\n\S+: group > \(late\)\? \(the network\)\n\S+: late \(the network\)\n$/,
  );
});

test("a test on the list that fails twice fails the run, and is tried no third time", async () => {
  const { exitCode, output } = await runLate(
    ["late", "group > (late)?", "wrong"],
    'test("wrong", () => expect(1).toBe(2));',
  );
  expect(exitCode).toBe(1);
  expect(output).toMatch(/\nWhat failed:\n[\s\S]*\(fail\) wrong/);
  expect(output.match(/"wrong" failed, and is tried again/g)).toHaveLength(1);
});

test("beside a failure that is not on the list, nothing is tried again", async () => {
  const { exitCode, output } = await runLate(["late", "grou"]);
  expect(exitCode).toBe(1);
  expect(output).not.toContain("tried again");
});

test("a run that died stays failed, because some tests were not run", async () => {
  const { exitCode, output } = await runLate(
    ["late", "group > (late)?", "deadly"],
    'test("deadly", () => { if (isFirst) process.kill(process.pid, "SIGKILL"); });',
  );
  expect(exitCode).toBe(1);
  expect(output).toMatch(/\nWhat failed:\n[\s\S]*ended with code 137\n$/);
});

test("a file whose worker has died is run again once, and the run says so at its end", async () => {
  const other = join(folder, "other.test.ts");
  writeFileSync(other, 'import { test } from "bun:test"; test("fine", () => {});');
  const deadly = 'test("deadly", () => { if (isFirst) process.kill(process.pid, "SIGKILL"); });';
  const once = await runTests(onlyAtFirst(deadly), ["--parallel=2", other]);
  expect(once.output).toMatch(/\nFailed, and passed when tried again, .*\n\S+: \(worker died\) \(.*\)\n$/);
  expect(once.exitCode).toBe(0);
  const twice = await runTests(deadly.replace("if (isFirst) ", ""), ["--parallel=2", other]);
  expect(twice.output).toMatch(/\nWhat failed:\n[\s\S]*worker crashed/);
  expect(twice.exitCode).toBe(1);
});

test("each test that may be tried again exists, and has a reason", async () => {
  for (const { file, title, reason } of RETRIES) {
    const name = title.split(" > ").at(-1) ?? "";
    if (file === "*") expect(title).toBe(WORKER_DIED);
    else expect(await Bun.file(join(ROOT, file)).text()).toContain(name);
    expect(reason.split(" ").length).toBeGreaterThan(3);
  }
});

test("each file that is known as slow exists", () => {
  for (const file of Object.keys(SLOW_FILES)) expect(existsSync(join(ROOT, file)), file).toBe(true);
});

test("--long reaches the tests, and is off without it", async () => {
  const text = 'test("long", () => console.log("long:", process.env.GATEHOUSE_TEST_LONG))';
  expect((await runTests(text, ["--long"])).output).toContain("long: 1\n");
  expect((await runTests(text)).output).toContain("long: undefined\n");
});
