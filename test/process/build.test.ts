// The single-file binary behaves like ./gatehouse. It is built once, for this machine.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { PYTHON_FOLDER } from "../../scripts/build-clients.ts";
import { readAs } from "../journeys/operator.ts";
import { PageBrowser, SoftwarePasskey } from "../people.ts";
import { readServer, runToEnd, serve, stop } from "../run-gatehouse.ts";
import { cleanUp, makeFolder } from "../temporary.ts";

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
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"]);
  });

  test("has the clients in it, with the module of the Python package byte for byte", async () => {
    const gatehouse = await serve({ cwd: makeFolder(), program });
    const module = await fetch(`${gatehouse.url}/client/gatehouse_client.py`);
    expect(await module.text()).toBe(readFileSync(join(PYTHON_FOLDER, "gatehouse_client/__init__.py"), "utf8"));
    const page = await (await fetch(`${gatehouse.url}/client/`)).text();
    const paths = page.match(/\/client\/gatehouse[\w.-]+(?=<)/g) ?? [];
    expect(paths).toHaveLength(3);
    for (const path of paths) expect([path, (await fetch(gatehouse.url + path)).status]).toEqual([path, 200]);
  });

  test("checks passkeys: the library for them works in it", async () => {
    const cwd = makeFolder();
    const gatehouse = await serve({ cwd, program });
    const masterKey = readFileSync(join(cwd, "data/master.key"), "utf8").trim();
    const admin = (path: string, body?: object) =>
      fetch(gatehouse.url + path, {
        method: "POST",
        headers: { Authorization: `Bearer ${masterKey}`, "Content-Type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      });
    const person = await readAs<{ person_id: string }>(await admin("/admin/people", { name: "Alex" }), 201);
    const invited = await readAs<{ url: string }>(
      await admin(`/admin/people/${person.person_id}/invitations`, {}),
      201,
    );
    const page = `http://localhost:${gatehouse.port}`;
    const browser = new PageBrowser(page);
    await readAs(await browser.redeem(invited.url.split("/").at(-1) ?? ""), 201);
    const passkey = new SoftwarePasskey(page);
    const made = passkey.create(await readAs(await browser.send("POST", "/session/passkeys/options")));
    await readAs(await browser.send("POST", "/session/passkeys", made), 201);
    const asked = await readAs<Parameters<typeof passkey.use>[0]>(
      await browser.send("POST", "/session/passkeys/sign-in/options"),
    );
    await readAs(await browser.send("POST", "/session/passkeys/sign-in", passkey.use(asked)), 201);
  });

  test("accepts 20 kB of headers and answers 70 kB with 431", async () => {
    const gatehouse = await serve({ cwd: makeFolder(), program });
    const ask = (size: number) => fetch(`${gatehouse.url}/healthz`, { headers: { "X-Filler": "x".repeat(size) } });
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
