// The Pythons of this machine that are new enough for the client, and those of them that have aiohttp.
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Need } from "../needs.ts";

const NEWEST = 20;
const PYENV = join(homedir(), ".pyenv/versions");
const NAMES = [
  "python3",
  // Debian's, which python3 may hide.
  "/usr/bin/python3",
  ...Array.from({ length: NEWEST - 8 }, (_, index) => `python3.${index + 9}`),
  ...(existsSync(PYENV) ? readdirSync(PYENV).map((version) => join(PYENV, version, "bin/python3")) : []),
];

const succeeds = (python: string, program: string) =>
  Bun.spawnSync([python, "-c", program], { stdin: "ignore", stdout: "ignore", stderr: "ignore" }).exitCode === 0;

/** Each version once. */
function listPythons(): readonly string[] {
  const known = new Map<string, string>();
  for (const name of NAMES) {
    const path = Bun.which(name);
    if (!path || !succeeds(path, "import sys; sys.exit(sys.version_info < (3, 9))")) continue;
    const { stdout } = Bun.spawnSync([path, "-c", "import sys; print(sys.version, sys.prefix)"]);
    known.set(stdout.toString(), known.get(stdout.toString()) ?? path);
  }
  return [...known.values()];
}

export const PYTHONS = listPythons();
export const ASYNC_PYTHONS = PYTHONS.filter((python) => succeeds(python, "import aiohttp"));

export const python: Need = () => (PYTHONS.length > 0 ? undefined : "python3 3.9 or newer is not installed");
export const aiohttp: Need = () => (ASYNC_PYTHONS.length > 0 ? undefined : "no python3 here has aiohttp");
export const pip: Need = () => (findPip() ? undefined : "no python3 here has pip");

export function findPip(): string | undefined {
  return PYTHONS.find((each) => succeeds(each, "import pip"));
}
