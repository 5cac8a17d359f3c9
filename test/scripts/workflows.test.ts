// GitHub's workflow files are valid YAML, and the scripts that they call exist.
import { describe, expect, test } from "bun:test";
import { accessSync, constants, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { SCALAR } from "../../src/http/web/scalar-package.ts";

const ROOT = join(import.meta.dir, "../..");
const FOLDER = join(ROOT, ".github/workflows");

type Step = { readonly uses?: string; readonly run?: string };
type Workflow = {
  readonly on: object;
  readonly jobs: Readonly<Record<string, { readonly permissions?: object; readonly steps: readonly Step[] }>>;
};

function readYaml(path: string): unknown {
  return Bun.YAML.parse(readFileSync(join(ROOT, path), "utf8"));
}

function listSteps(name: string): Step[] {
  const { jobs } = readYaml(`.github/workflows/${name}`) as Workflow;
  return Object.values(jobs).flatMap(({ steps }) => [...steps]);
}

function listCommands(name: string): string[] {
  return listSteps(name).flatMap(({ run }) => run?.trim().split("\n") ?? []);
}

describe.each(readdirSync(FOLDER))("%s", (name) => {
  test("uses only GitHub's own actions, each pinned to a commit whose version is beside it", () => {
    const used = readFileSync(join(FOLDER, name), "utf8").match(/(?<=uses: ).*/g) ?? [];
    expect(used).toHaveLength(listSteps(name).filter(({ uses }) => uses).length);
    for (const each of used) expect(each).toMatch(/^actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("runs .ci/run, and calls only existing npm scripts", () => {
    const commands = listCommands(name);
    expect(commands).toContain(".ci/run");
    accessSync(join(ROOT, ".ci/run"), constants.X_OK);
    for (const [, script = ""] of commands.join("\n").matchAll(/npm run (?:--silent )?([\w:-]+)/g)) {
      expect(Object.keys(manifest.scripts)).toContain(script);
    }
  });
});

test("a release has a binary for every platform that can be built for", async () => {
  const wrong = [join(ROOT, "scripts/build.ts"), "--target", "none-such"];
  const child = Bun.spawn([process.execPath, ...wrong], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const known = /targets: (.*), and host/.exec(await child.stderr.text())?.[1]?.split(", ") ?? [];
  const build = listCommands("release.yml").find((command) => command.startsWith("npm run build")) ?? "";
  const built = Array.from(build.matchAll(/--target (\S+)/g), ([, target = ""]) => target);
  expect(known.length).toBeGreaterThan(3);
  expect(built.toSorted()).toEqual(known.toSorted());
});

test("a release has the Debian packages, a list of components, and checksums and provenance of every file", () => {
  const { release } = (readYaml(".github/workflows/release.yml") as Workflow).jobs;
  const steps = release?.steps ?? [];
  const indexOf = (words: string) => steps.findIndex((step) => JSON.stringify(step).includes(words));
  const inOrder = [
    "--deb",
    "gatehouse_*.deb",
    "npm run --silent sbom",
    "sha256sum * >",
    "subject-checksums",
    "release/*",
  ];
  const indexes = inOrder.map(indexOf);
  expect(indexes).not.toContain(-1);
  expect(indexes).toEqual(indexes.toSorted((a, b) => a - b));
});

test("the list of components names what is shipped, and nothing that only development needs", async () => {
  const child = Bun.spawn([process.execPath, "--no-env-file", join(ROOT, "scripts/sbom.ts")], { stdout: "pipe" });
  const { metadata, components } = (await child.stdout.json()) as {
    readonly metadata: { readonly component: { readonly name: string } };
    readonly components: readonly {
      readonly name: string;
      readonly version: string;
      readonly hashes: readonly object[];
    }[];
  };
  expect(await child.exited).toBe(0);
  expect(metadata.component).toMatchObject({ name: "gatehouse", version: manifest.version, type: "application" });
  const names = components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([...Object.keys(manifest.dependencies), SCALAR.name]));
  expect(names.filter((name) => name in manifest.devDependencies || name.startsWith("@typescript/"))).toEqual([]);
  expect(components.filter(({ hashes }) => hashes.length === 0)).toEqual([]);
});

test("a release publishes both clients with their provenance, without the right to change the repository", () => {
  const { clients } = (readYaml(".github/workflows/release.yml") as Workflow).jobs;
  expect(clients?.permissions).toEqual({ contents: "read", "id-token": "write", attestations: "write" });
  const commands = clients?.steps.flatMap(({ run }) => run ?? []) ?? [];
  const [built, npm, pypi] = ["npm run build:client", "npm publish --provenance", "uv publish"].map((begin) =>
    commands.findIndex((command) => command.includes(begin)),
  );
  expect([npm, pypi]).toEqual([Number(built) + 1, Number(built) + 2]);
  expect(Number(built)).toBeGreaterThan(0);
});

test("the forms for issues have a name, a description and something to fill in", () => {
  const names = readdirSync(join(ROOT, ".github/ISSUE_TEMPLATE")).filter((name) => name !== "config.yml");
  expect(names).toEqual(expect.arrayContaining(["bug.yml", "idea.yml"]));
  for (const name of names) {
    const form = readYaml(`.github/ISSUE_TEMPLATE/${name}`) as {
      body: { type: string; attributes: object }[];
    };
    expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String) });
    expect(form.body.map(({ type }) => type)).toContain("textarea");
    for (const { attributes } of form.body) expect(attributes).toBeObject();
  }
  expect(readYaml(".github/ISSUE_TEMPLATE/config.yml")).toBeObject();
});
