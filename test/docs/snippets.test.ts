// Runs the code blocks of docs/bots.md and docs/getting-started.md unchanged.
import { afterEach, expect, test } from "bun:test";
import { chmodSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { program, testWith } from "../needs.ts";
import { cleanUp, makeFolder, serve } from "../process/run-gatehouse.ts";
import { type Ran, readSnippets, runProgram, runShell } from "./snippets.ts";
import { openTown } from "./town-for-bots.ts";

const ROOT = resolve(import.meta.dir, "../..");

afterEach(cleanUp);

function expectSuccess({ exitCode, out, complaints }: Ran): void {
  expect({ exitCode, complaints: exitCode === 0 ? "" : complaints + out }).toEqual({
    exitCode: 0,
    complaints: "",
  });
}

testWith(program("bash"), program("curl"))(
  "the curl lines for bot developers work as they are written",
  async () => {
    const { cwd, env } = await openTown();
    const snippets = readSnippets("bots.md", "sh");
    expect(snippets).toHaveLength(4);
    const ran = await runShell(snippets, cwd, env);
    expectSuccess(ran);
    expect(ran.out).toContain('"sections":["Players",');
    expect(ran.out).toContain('"Players":[');
    expect(ran.out).toMatch(/X-RateLimit-Remaining: \d+/i);
    expect(ran.out).toMatch(/"command":":h The event starts in ten minutes","status":"\w+"/);
    expect(JSON.parse(readFileSync(join(cwd, "answer.json"), "utf8"))).toHaveProperty("MaxPlayers");
  },
  60_000,
);

test("the TypeScript for bot developers works as it is written, and type-checks", async () => {
  const { cwd, env } = await openTown();
  const [client = "", exact = "", ...others] = readSnippets("bots.md", "ts");
  expect(others).toEqual([]);
  await Bun.write(join(cwd, "client.ts"), client);
  await Bun.write(join(cwd, "exact.ts"), exact);

  const ran = await runProgram([process.execPath, "client.ts"], cwd, env);
  expectSuccess(ran);
  expect(ran.out).toMatch(/: \d+ of \d+\n/);
  expect(ran.out).toMatch(/\S+ \(\d+\) plays for \w+/);
  expect(ran.out).toEndWith("the command is sent\n");

  const read = await runProgram([process.execPath, "exact.ts"], cwd, env);
  expectSuccess(read);
  expect(read.out).toContain("1234567890123456789n");

  await Bun.write(
    join(cwd, "tsconfig.json"),
    JSON.stringify({
      extends: join(ROOT, "tsconfig.json"),
      compilerOptions: { typeRoots: [join(ROOT, "node_modules/@types")], moduleDetection: "force" },
      include: ["*.ts"],
    }),
  );
  expectSuccess(await runProgram([join(ROOT, "node_modules/.bin/tsc"), "-p", cwd], cwd, {}));
}, 60_000);

testWith(program("python3"))(
  "the Python for bot developers works as it is written",
  async () => {
    const { cwd, env } = await openTown();
    const [client = "", ...others] = readSnippets("bots.md", "python");
    expect(others).toEqual([]);
    await Bun.write(join(cwd, "client.py"), client);
    const ran = await runProgram(["python3", "client.py"], cwd, env);
    expectSuccess(ran);
    expect(ran.out).toMatch(/: \d+ of \d+\n/);
    expect(ran.out).toMatch(/\S+ \(\d+\) plays for \w+/);
    expect(ran.out).toEndWith("the command is sent\n");
  },
  60_000,
);

testWith(program("bash"), program("curl"))(
  "the way from nothing to the first answer works as it is written",
  async () => {
    const [start, ...snippets] = readSnippets("getting-started.md", "sh");
    expect(start).toBe("npm start\n");
    expect(snippets).toHaveLength(3);
    // A temporary folder instead of the checkout, so that no files are left there.
    const cwd = makeFolder();
    const program = join(cwd, "gatehouse");
    await Bun.write(program, `#!/bin/sh\nexec '${ROOT}/gatehouse' "$@"\n`);
    chmodSync(program, 0o755);
    const town = await serve({ cwd });
    const moved = snippets.map((text) => text.replaceAll("127.0.0.1:8080", `127.0.0.1:${town.port}`));
    const ran = await runShell(moved, cwd, { GATEHOUSE_PORT: String(town.port) });
    expectSuccess(ran);
    expect(ran.out).toContain('"Players":[');
    expect(ran.out).toContain('"command_id":"cmd_');
    expect(ran.out).toContain('"Command":":h Hello"');
  },
  60_000,
);
