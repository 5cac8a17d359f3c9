// Bundles what `./gatehouse serve` runs into dist/server: a start then reads a few files instead of 700, and compiles no
// TypeScript. ./gatehouse makes it anew when something of it has changed.
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { DAY_MS } from "../src/core/durations.ts";

const ROOT = join(import.meta.dir, "..");
/** Two folders below the checkout, like src/instance, from where built files are looked for. */
const FOLDER = join(ROOT, "dist/server");
const ENTRIES = ["archive-worker", "reading-worker", "main"];
/** A process that runs loads some files late, so those of an earlier build stay for a time. */
const KEPT_MS = 7 * DAY_MS;

/** The threads' entries have another name in the bundle. */
const nameThreads: Bun.BunPlugin = {
  name: "name-threads",
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/]threads\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      return { contents: text.replaceAll('-worker.ts"', '-worker.js"'), loader: "ts" };
    });
  },
};

/** What `./gatehouse serve` runs. */
export const BUNDLED_MAIN = join(FOLDER, "main.js");

export async function buildServer(): Promise<void> {
  // A file that is saved while the bundle is made is newer than it.
  const beganAt = new Date();
  const { outputs } = await Bun.build({
    entrypoints: ENTRIES.map((name) => join(ROOT, `src/${name}.ts`)),
    target: "bun",
    format: "esm",
    splitting: true,
    // Names stay, for the stacks of errors in the log.
    minify: { whitespace: true, syntax: true },
    plugins: [nameThreads],
    define: { "process.env.NODE_ENV": '"production"' },
  });
  mkdirSync(FOLDER, { recursive: true });
  const rank = ({ kind, path }: Bun.BuildArtifact) => (kind === "entry-point" ? 1 + ENTRIES.indexOf(nameOf(path)) : 0);
  // The entries come last, when all that they import is there.
  for (const output of outputs.toSorted((one, other) => rank(one) - rank(other))) {
    const file = join(FOLDER, basename(output.path));
    const draft = `${file}.draft-${process.pid}`;
    writeFileSync(draft, await output.text());
    utimesSync(draft, beganAt, beganAt);
    renameSync(draft, file);
  }
  for (const name of readdirSync(FOLDER)) {
    const file = join(FOLDER, name);
    const modifiedAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? beganAt.getTime();
    if (modifiedAt < beganAt.getTime() - KEPT_MS) rmSync(file, { force: true });
  }
}

function nameOf(path: string): string {
  return basename(path, ".js");
}

if (import.meta.main) await buildServer();
