// A process loads only the modules that it needs: real processes list their modules when they end.
import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { run, serve, stop } from "../run-gatehouse.ts";
import { cleanUp, makeFolder } from "../temporary.ts";

const ROOT = resolve(import.meta.dir, "../..");
const REFERENCE = "/src/http/openapi/";
const SHARED_STORE = "/node_modules/@redis/client/";
const PROMPTS = "/node_modules/@clack/prompts/";

afterEach(cleanUp);

/** Runs a program like ./gatehouse that lists its modules when it ends. */
function makeProgram(cwd: string) {
  const [program, list] = [join(cwd, "watched-gatehouse"), join(cwd, "modules")];
  const witness = join(import.meta.dir, "list-modules.ts");
  const command = [process.execPath, "--no-env-file", "--preload", witness, join(ROOT, "src/main.ts")];
  writeFileSync(program, `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(" ")} "$@"\n`);
  chmodSync(program, 0o755);
  return {
    program,
    env: { TEST_MODULES_FILE: list },
    /** The modules with this in their path. */
    listLoaded: (part: string) =>
      readFileSync(list, "utf8")
        .split("\n")
        .filter((path) => path.includes(part)),
  };
}

describe("a service", () => {
  test("without a request for its reference does not load it, nor the modules of commands and other stores", async () => {
    const cwd = makeFolder();
    const { program, env, listLoaded } = makeProgram(cwd);
    await stop(await serve({ cwd, program, env }));
    expect(listLoaded(REFERENCE)).toEqual([join(ROOT, REFERENCE, "answer-openapi.ts")]);
    for (const part of [SHARED_STORE, PROMPTS]) expect(listLoaded(part)).toEqual([]);
  });

  test("loads its reference with the first request", async () => {
    const cwd = makeFolder();
    const { program, env, listLoaded } = makeProgram(cwd);
    const gatehouse = await serve({ cwd, program, env });
    expect((await fetch(`${gatehouse.url}/openapi.json`)).status).toBe(200);
    await stop(gatehouse);
    expect(listLoaded(REFERENCE).length).toBeGreaterThan(1);
  });
});

describe("a command", () => {
  async function list(options: readonly string[]) {
    const cwd = makeFolder();
    const gatehouse = await serve({ cwd });
    const { program, env, listLoaded } = makeProgram(cwd);
    const child = run(["keys", "list", "--url", gatehouse.url, ...options], { cwd, program, env });
    expect(await child.exited).toBe(0);
    return { listLoaded, stdout: child.stdout };
  }

  test.each([[["--json"]], [[]]])("that lists keys with options %p loads no prompts", async (options: string[]) => {
    const { listLoaded, stdout } = await list(options);
    expect(stdout).toContain("demo");
    expect(listLoaded(PROMPTS)).toEqual([]);
  });
});
