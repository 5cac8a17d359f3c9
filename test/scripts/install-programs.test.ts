// Installs the programs that the tests need, with and without a package manager: apt, id and service are fakes.
import { afterEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

type Machine = { readonly folder: string; readonly env: Record<string, string> };

/** A machine that has these programs and no others. */
function makeMachine(programs: Readonly<Record<string, string>>): Machine {
  const folder = mkdtempSync(join(tmpdir(), "gatehouse-machine-"));
  folders.push(folder);
  for (const name of ["sh", "env", "sed", "touch", "chmod", "true", "mkdir", "tee", "rm"])
    symlinkSync(Bun.which(name) ?? "", join(folder, name));
  const all = { id: "echo 0", service: `echo "service $*" >> ${folder}/done`, ...programs };
  for (const [name, text] of Object.entries(all)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text.replaceAll("FOLDER", folder)}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return { folder, env: { PATH: folder } };
}

/** Records its arguments; a package installs a program of the same name. */
const APT = `for last in "$@"; do :; done
  case "$*" in *' install '*) action=install ;; *) action=update ;; esac
  echo "$action $last" >> FOLDER/done
  if [ $action = install ]; then touch FOLDER/$last && chmod 755 FOLDER/$last; fi`;
/** As on a new machine: no package can be installed before the list of packages is updated. */
const APT_WITHOUT_LIST = `case "$*" in *update) touch FOLDER/list ;; esac
  if [ ! -f FOLDER/list ]; then echo "update first" >> FOLDER/done; exit 100; fi
  ${APT}`;

async function installOn({ folder, env }: Machine, lines: string) {
  const child = Bun.spawn(["sh", "-c", `set -eu; . scripts/install-programs.sh; ${lines}`], {
    cwd: ROOT,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const stderr = await child.stderr.text();
  const exitCode = await child.exited;
  const done = existsSync(join(folder, "done")) ? readFileSync(join(folder, "done"), "utf8").trim() : "";
  return { exitCode, stderr, done: done === "" ? [] : done.split("\n") };
}

describe("the programs that the tests need", () => {
  const line = "must_have 'redis-server valkey-server' redis-server redis-server";

  test("is left alone where one of its programs is there", async () => {
    const machine = makeMachine({ "apt-get": APT, "valkey-server": "" });
    expect(await installOn(machine, line)).toEqual({ exitCode: 0, stderr: "", done: [] });
  });

  test("is installed where it is missing, and its service is stopped", async () => {
    const { exitCode, done } = await installOn(makeMachine({ "apt-get": APT }), line);
    expect(exitCode).toBe(0);
    expect(done[0]).toBe("install redis-server");
    // With systemd its own program is used, which this machine does not have.
    if (!existsSync("/run/systemd/system")) expect(done.slice(1)).toEqual(["service redis-server stop"]);
  });

  test.each([
    ["without apt", {}],
    ["without the right to install", { "apt-get": APT, id: "echo 1000", sudo: "exit 1" }],
    ["without the package", { "apt-get": "exit 100" }],
  ])("stops the run with a clear sentence %s", async (_, programs) => {
    const { exitCode, stderr } = await installOn(makeMachine(programs as Record<string, string>), line);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("The tests need redis-server or valkey-server, which is not installed");
  });
});

describe("PostgreSQL, whose programs are outside of the path", () => {
  const line = (folder: string) =>
    `postgres_programs=${folder}/none; postgres_settings=${folder}/settings; must_have_postgres`;
  /** The package tells whether it was to create a cluster, and brings the server. */
  const APT_POSTGRES = `read -r setting < FOLDER/settings/gatehouse-tests.conf
    echo "$setting" >> FOLDER/done
    mkdir -p FOLDER/none/15/bin; touch FOLDER/none/15/bin/postgres; chmod 755 FOLDER/none/15/bin/postgres`;

  test("is installed without a cluster, and leaves no setting behind", async () => {
    const machine = makeMachine({ "apt-get": APT_POSTGRES });
    const { exitCode, done } = await installOn(machine, line(machine.folder));
    expect([exitCode, done[0]]).toEqual([0, "create_main_cluster = false"]);
    expect(readdirSync(join(machine.folder, "settings"))).toEqual([]);
    expect((await installOn(machine, line(machine.folder))).done).toEqual(done);
  });

  test.each([
    ["without apt", {}],
    ["without the package", { "apt-get": "exit 100" }],
  ])("stops the run with a clear sentence %s", async (_, programs) => {
    const machine = makeMachine(programs as Record<string, string>);
    const { exitCode, stderr } = await installOn(machine, line(machine.folder));
    expect(exitCode).toBe(1);
    expect(stderr).toContain("The tests need PostgreSQL 15 or newer");
  });
});

describe("what tests can do without", () => {
  test("is installed where it is missing, after a new list of packages if need be", async () => {
    const { exitCode, done } = await installOn(
      makeMachine({ "apt-get": APT_WITHOUT_LIST }),
      "want fish fish; want zsh zsh",
    );
    expect(exitCode).toBe(0);
    expect(done).toEqual(["update first", "update update", "install fish", "install zsh"]);
  });

  test("is installed in one go, and alone where one of the packages does not exist", async () => {
    const ask = "ask() { must_have redis-server redis-server redis-server; want caddy caddy caddy; want fish fish; }";
    const together = `case "$*" in *' redis-server caddy fish') touch FOLDER/redis-server FOLDER/caddy FOLDER/fish
      chmod 755 FOLDER/redis-server FOLDER/caddy FOLDER/fish; echo together >> FOLDER/done ;; *) ${APT} ;; esac`;
    const installed = await installOn(makeMachine({ "apt-get": together }), `${ask}; install_together ask; ask`);
    expect(installed.exitCode).toBe(0);
    expect(installed.done[0]).toBe("together");
    expect(installed.done.filter((line) => line.startsWith("install"))).toEqual([]);
    const withoutCaddy = `case "$*" in *caddy*) exit 100 ;; esac; ${APT}`;
    const { exitCode, done } = await installOn(
      makeMachine({ "apt-get": withoutCaddy }),
      `${ask}; install_together ask; ask`,
    );
    expect(exitCode).toBe(0);
    expect(done.filter((line) => !line.startsWith("service"))).toEqual([
      "update update",
      "install redis-server",
      "install fish",
    ]);
  });

  test.each([
    ["without apt", {}],
    ["without the right to install", { "apt-get": APT, id: "echo 1000", sudo: "exit 1" }],
    ["without the package", { "apt-get": "exit 100" }],
  ])("is done without %s", async (_, programs) => {
    const { exitCode } = await installOn(makeMachine(programs as Record<string, string>), "want caddy caddy caddy");
    expect(exitCode).toBe(0);
  });

  test("that is a module of Python is looked for in python3 and in the system's own, and installed where neither has it", async () => {
    const line = "system_python=old; want_python_module aiohttp python3-aiohttp";
    const has = { "apt-get": APT, python3: "exit 1", old: 'test "$2" = "import aiohttp"' };
    expect(await installOn(makeMachine(has), line)).toEqual({ exitCode: 0, stderr: "", done: [] });
    const { done } = await installOn(makeMachine({ ...has, old: "exit 1" }), line);
    expect(done).toEqual(["install python3-aiohttp"]);
    expect((await installOn(makeMachine({}), line)).exitCode).toBe(0);
  });

  test("is installed with sudo by other users than root", async () => {
    const sudo = 'shift; echo "sudo $1" >> FOLDER/done; exec "$@"';
    const { done } = await installOn(makeMachine({ "apt-get": APT, id: "echo 1000", sudo }), "want fish fish");
    expect(done).toEqual(["sudo true", "sudo env", "install fish"]);
  });
});
