// A whole run of npm test: its exit code, and the end of its output.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const folder = mkdtempSync(join(tmpdir(), "gatehouse-run-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;

/** Runs a test file with this text. */
async function runTests(text: string, options: readonly string[] = []) {
  const path = join(folder, `${++files}.test.ts`);
  const needs = JSON.stringify(join(ROOT, "test/needs.ts"));
  const imports = `import { expect, test } from "bun:test"; import { program, testWith } from ${needs};`;
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
  const { exitCode, output } = await runTests(
    'test("wrong", () => expect(1).toBe(2)); test("fine", () => {})',
  );
  expect(exitCode).toBe(1);
  expect(output).toMatch(/\nWhat failed:\n[\s\S]*Expected: 2[\s\S]*\n\(fail\) wrong \[.*\]\n$/);
});

test("a run in which the process dies is no success", async () => {
  const { exitCode, output } = await runTests('test("deadly", () => process.kill(process.pid, "SIGKILL"))');
  expect(exitCode).toBe(1);
  expect(output).toMatch(/\nWhat failed:\n[\s\S]*ended with code 137\n$/);
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

test("when it tries again, a test that fails only once is reported and does not fail the run", async () => {
  const text = onlyAtFirst('test("late", () => expect(isFirst).toBe(false));');
  const { exitCode, output } = await runTests(text, ["--try-again"]);
  expect(exitCode).toBe(0);
  expect(output).toMatch(/\nFailed beside other tests, and passed alone:\n[\s\S]*\(fail\) late/);
});

test("when it tries again, a test that fails every time fails the run", async () => {
  const { exitCode, output } = await runTests('test("wrong", () => expect(1).toBe(2))', ["--try-again"]);
  expect(exitCode).toBe(1);
  expect(output).toMatch(/\nWhat failed:\n[\s\S]*\(fail\) wrong/);
});

test("when it tries again, a run that died stays failed, because some files were not run", async () => {
  const text = onlyAtFirst(`
    test("late", () => expect(isFirst).toBe(false));
    test("deadly", () => { if (isFirst) process.kill(process.pid, "SIGKILL"); });
  `);
  const { exitCode, output } = await runTests(text, ["--try-again"]);
  expect(exitCode).toBe(1);
  expect(output).toMatch(/\nWhat failed:\n[\s\S]*ended with code 137\n$/);
});

test("--long reaches the tests, and is off without it", async () => {
  const text = 'test("long", () => console.log("long:", process.env.GATEHOUSE_TEST_LONG))';
  expect((await runTests(text, ["--long"])).output).toContain("long: 1\n");
  expect((await runTests(text)).output).toContain("long: undefined\n");
});
