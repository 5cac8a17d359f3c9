// The single-file binary behaves like ./gatehouse. It is built once, for this machine.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { cleanUp, makeFolder, readServer, runToEnd, serve, stop } from "./run-gatehouse.ts";

const BUILD = resolve(import.meta.dir, "../../scripts/build.sh");
const outdir = mkdtempSync(join(tmpdir(), "gatehouse-build-"));
const program = join(outdir, "gatehouse");

async function build(args: readonly string[]): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const child = Bun.spawn(["sh", BUILD, ...args], { stdout: "pipe", stderr: "pipe", stdin: "ignore" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, stdout, stderr };
}

beforeAll(async () => {
  const { exitCode, stdout, stderr } = await build(["--target", "host", "--outdir", outdir]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout).toMatch(/\d+ MiB/);
});

afterEach(cleanUp);
afterAll(() => rmSync(outdir, { recursive: true, force: true }));

describe("the build", () => {
  test("leaves the executables and their checksums, and no temporary files", () => {
    expect(statSync(program).mode & 0o111).toBe(0o111);
    const [sum = "", name = ""] = readFileSync(join(outdir, "SHA256SUMS"), "utf8").trim().split("  ");
    const hash = new Bun.CryptoHasher("sha256").update(readFileSync(join(outdir, name))).digest("hex");
    expect(sum).toBe(hash);
    expect(readdirSync(outdir).sort()).toEqual(["SHA256SUMS", "gatehouse", name].sort());
  });

  test("refuses a target that does not exist with exit code 2, and names those that do", async () => {
    const { exitCode, stderr } = await build(["--target", "amiga", "--outdir", outdir]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('"amiga"');
    expect(stderr).toContain("linux-x64, linux-arm64, macos-arm64, macos-x64, windows-x64");
  });
});

describe("the binary", () => {
  test("--version prints the version", async () => {
    const { exitCode, stdout } = await runToEnd(["--version"], { cwd: makeFolder(), program });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${manifest.version}\n` });
  });

  test("serves, answers a read with the printed key, and exits with 0 on SIGTERM", async () => {
    const gatehouse = await serve({ cwd: makeFolder(), program });
    const token = /gth_[0-9A-Za-z]{36}/.exec(gatehouse.stdout)?.[0] ?? "no key was printed";
    const response = await readServer(gatehouse.url, token, "?Players=true");
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ Name: expect.any(String), Players: expect.any(Array) });
    expect(await stop(gatehouse)).toBe(0);
  });

  test("has the dashboard in it, whatever folder it is started from", async () => {
    const gatehouse = await serve({ cwd: makeFolder(), program });
    const page = await (await fetch(gatehouse.url)).text();
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? "/no-script";
    const answer = await fetch(gatehouse.url + script);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      200,
      "text/javascript; charset=utf-8",
    ]);
  });

  test("accepts 20 kB of headers and answers 70 kB with 431", async () => {
    const gatehouse = await serve({ cwd: makeFolder(), program });
    const ask = (size: number) =>
      fetch(`${gatehouse.url}/healthz`, { headers: { "X-Filler": "x".repeat(size) } });
    expect((await ask(20_000)).status).toBe(200);
    expect((await ask(70_000)).status).toBe(431);
  });

  test("reads .env by our rules alone: the environment wins, and nothing is expanded", async () => {
    const cwd = makeFolder();
    const dollar = "a$HOME-secret-with-a-dollar-sign-in-it";
    writeFileSync(
      join(cwd, ".env"),
      `GATEHOUSE_DATA_DIR=./from-file\nGATEHOUSE_PORT=1\nGATEHOUSE_MASTER_KEY='${dollar}'\n`,
    );
    // Files that the runtime could load itself, before our code reads them by its own rules.
    writeFileSync(join(cwd, ".env.local"), "GATEHOUSE_DATA_DIR=./from-local\n");
    writeFileSync(join(cwd, ".env.production"), "GATEHOUSE_DATA_DIR=./from-production\n");
    const gatehouse = await serve({ cwd, program });
    expect(gatehouse.port).toBeGreaterThan(1);
    expect(readdirSync(cwd)).toContain("from-file");
    expect(existsSync(join(cwd, "from-local")) || existsSync(join(cwd, "from-production"))).toBe(false);
    const metrics = await fetch(`${gatehouse.url}/metrics`, {
      headers: { Authorization: `Bearer ${dollar}` },
    });
    expect(metrics.status).toBe(200);
  });

  test("loads no bunfig.toml of the folder it is started in", async () => {
    const cwd = makeFolder();
    writeFileSync(join(cwd, "bunfig.toml"), 'preload = ["./intruder.ts"]\n');
    writeFileSync(join(cwd, "intruder.ts"), 'console.log("intruder");\n');
    const { exitCode, stdout } = await runToEnd(["--version"], { cwd, program });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${manifest.version}\n` });
  });
});
