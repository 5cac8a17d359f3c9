// What an instance serves at /client/: the page and the archives, which npm and pip really install from it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildClients, CLIENT_FOLDER, CLIENTS_FOLDER, PYTHON_FOLDER } from "../../scripts/build-clients.ts";
import { program, testWith } from "../needs.ts";
import { type Listening, makeDataFolder, runToEnd, serve } from "../run-gatehouse.ts";
import { cleanUp, makeFolder } from "../temporary.ts";
import { findPip, pip } from "./python-at-hand.ts";

const PATIENCE_MS = 120_000;
const WHEEL = /gatehouse_client-\d+\.\d+\.\d+-py3-none-any\.whl/;

let gatehouse: Listening;
let key: string;

beforeAll(async () => {
  const { folder, token } = await makeDataFolder();
  key = token;
  gatehouse = await serve({ cwd: folder, env: { GATEHOUSE_DATA_DIR: folder } });
}, PATIENCE_MS);
afterAll(cleanUp, PATIENCE_MS);

const get = (path: string, headers: Record<string, string> = {}) => fetch(gatehouse.url + path, { headers });

test("the page has the lines for npm, pip, curl and Discord with the address that it was asked at, and no key is needed", async () => {
  const page = await get("/client/");
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  const text = await page.text();
  expect(text).toContain(`npm install ${gatehouse.url}/client/gatehouse-client.tgz<`);
  expect(text).toMatch(new RegExp(`pip install ${gatehouse.url}/client/${WHEEL.source}<`));
  expect(text).toContain(`curl -O ${gatehouse.url}/client/gatehouse_client.py<`);
  expect(text).toContain(`curl &quot;${gatehouse.url}/admin/webhooks&quot;`);
  const elsewhere = await (await get("/client/", { Host: "bots.example:8443" })).text();
  expect(elsewhere).toContain("npm install http://bots.example:8443/client/gatehouse-client.tgz<");
  const hostile = await (await get("/client/", { Host: "a<script>" })).text();
  expect(hostile).not.toContain("<script");
});

test("each file is what the packages are, has an ETag, and is not sent again to who has it", async () => {
  const wheel = WHEEL.exec(await (await get("/client/")).text())?.[0] ?? "";
  for (const name of ["gatehouse-client.tgz", "gatehouse_client.py", wheel]) {
    const answer = await get(`/client/${name}`);
    const etag = answer.headers.get("etag") ?? "";
    expect([name, answer.status, etag]).toEqual([name, 200, expect.stringMatching(/^"\w{24}"$/)]);
    const { length } = await answer.bytes();
    expect(length).toBeGreaterThan(1_000);
    const again = await get(`/client/${name}`, { "If-None-Match": etag });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    const head = await fetch(`${gatehouse.url}/client/${name}`, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(length)]);
  }
  const module = readFileSync(join(PYTHON_FOLDER, "gatehouse_client/__init__.py"), "utf8");
  expect(await (await get("/client/gatehouse_client.py")).text()).toBe(module);
  for (const path of [
    "/client/manifest.json",
    "/client/..%2Fdashboard%2Fmanifest.json",
    "/client/nothing.tgz",
    "/client",
  ])
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  expect((await fetch(`${gatehouse.url}/client/`, { method: "POST" })).status).toBe(405);
});

test("the same sources give the same bytes", async () => {
  const folders = [makeFolder(), makeFolder()].map((folder) => join(folder, "clients"));
  for (const folder of folders) await buildClients(folder);
  const [one = "", other = ""] = folders;
  const names = readdirSync(one);
  expect(names).toHaveLength(4);
  for (const name of names) expect(readFileSync(join(one, name)).equals(readFileSync(join(other, name)))).toBe(true);
  expect(readdirSync(CLIENTS_FOLDER).toSorted()).toEqual(names.toSorted());
});

testWith(program("npm"), program("node"))(
  "npm installs the archive from the instance, for modules and for CommonJS, with the files that npm itself would pack",
  async () => {
    const cwd = makeFolder();
    writeFileSync(join(cwd, "package.json"), '{"private": true}');
    const env = { npm_config_audit: "false", npm_config_fund: "false", npm_config_update_notifier: "false" };
    const args = ["install", `${gatehouse.url}/client/gatehouse-client.tgz`, "--loglevel=error"];
    expect(await runToEnd(args, { cwd, program: "npm", env })).toMatchObject({ exitCode: 0 });
    const installed = join(cwd, "node_modules/gatehouse-client");
    expect(readFileSync(join(installed, "README.md"), "utf8")).toBe(
      readFileSync(join(CLIENT_FOLDER, "README.md"), "utf8"),
    );
    expect(readdirSync(installed).toSorted()).toEqual(["LICENSE", "README.md", "dist", "package.json"]);
    const use = `const gatehouse = new Gatehouse({ baseUrl: process.argv[2], token: process.argv[3] });
gatehouse.key().then(({ key_id }) => console.log(key_id.startsWith("key_")));\n`;
    writeFileSync(join(cwd, "module.mjs"), `import { Gatehouse } from "gatehouse-client";\n${use}`);
    writeFileSync(join(cwd, "common.cjs"), `const { Gatehouse } = require("gatehouse-client");\n${use}`);
    for (const file of ["module.mjs", "common.cjs"]) {
      const { exitCode, stdout } = await runToEnd([file, gatehouse.url, key], { cwd, program: "node" });
      expect([file, exitCode, stdout]).toEqual([file, 0, "true\n"]);
    }
  },
  PATIENCE_MS,
);

testWith(pip)(
  "pip installs the wheel from the instance, with its types",
  async () => {
    const cwd = makeFolder();
    const program = findPip() ?? "";
    const wheel = WHEEL.exec(await (await get("/client/")).text())?.[0] ?? "";
    const options = ["--no-index", "--disable-pip-version-check", "--no-cache-dir", "--target", "installed"];
    const args = ["-m", "pip", "install", "--quiet", ...options, `${gatehouse.url}/client/${wheel}`];
    expect(await runToEnd(args, { cwd, program })).toMatchObject({ exitCode: 0 });
    expect(readdirSync(join(cwd, "installed/gatehouse_client"))).toContain("py.typed");
    const use = `import sys
from importlib.metadata import version
from gatehouse_client import Gatehouse, __version__
assert version("gatehouse-client") == __version__
print(Gatehouse(sys.argv[1], sys.argv[2]).key()["key_id"].startswith("key_"))`;
    const env = { PYTHONPATH: join(cwd, "installed") };
    expect(await runToEnd(["-c", use, gatehouse.url, key], { cwd, program, env })).toMatchObject({
      exitCode: 0,
      stdout: "True\n",
    });
    // The one file beside a bot does the same.
    const bot = join(cwd, "bot");
    mkdirSync(bot);
    await Bun.write(join(bot, "gatehouse_client.py"), await (await get("/client/gatehouse_client.py")).bytes());
    const { stdout } = await runToEnd(["-c", use.replace(/^assert.*\n/m, ""), gatehouse.url, key], {
      cwd: bot,
      program,
    });
    expect(stdout).toBe("True\n");
  },
  PATIENCE_MS,
);
