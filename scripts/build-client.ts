// npm run build:client: makes packages/client/dist, which is what npm publishes: one file of JavaScript, and its types.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..");
export const CLIENT_FOLDER = join(ROOT, "packages/client");
const DIST = join(CLIENT_FOLDER, "dist");
const TSC = join(ROOT, "node_modules/.bin/tsc");

/** Import paths in declarations: people have the compiled files. */
const TS_IMPORT = /(from "\.\/[\w-]+)\.ts"/g;

/** Returns the size of the JavaScript, compressed, in bytes. */
export async function buildClient(): Promise<number> {
  rmSync(DIST, { recursive: true, force: true });
  mkdirSync(DIST, { recursive: true });
  await Promise.all([writeDeclarations(), bundleClient(DIST)]);
  return Bun.gzipSync(readFileSync(join(DIST, "index.js"))).length;
}

/** Writes index.js, without types. */
export async function bundleClient(folder: string): Promise<void> {
  const built = await Bun.build({
    entrypoints: [join(CLIENT_FOLDER, "src/index.ts")],
    outdir: folder,
    format: "esm",
    target: "browser",
    // Names stay, so that stack traces can be read.
    minify: { syntax: true, whitespace: false, identifiers: false },
  });
  if (!built.success) throw new AggregateError(built.logs, "the client cannot be bundled");
}

async function writeDeclarations(): Promise<void> {
  const options = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--outDir", DIST];
  const tsc = Bun.spawn([TSC, "-p", CLIENT_FOLDER, ...options], { stdout: "inherit", stderr: "inherit" });
  if ((await tsc.exited) !== 0) throw new Error("the types of the client cannot be written");
  for (const name of readdirSync(DIST).filter((name) => name.endsWith(".d.ts"))) {
    const path = join(DIST, name);
    writeFileSync(path, readFileSync(path, "utf8").replace(TS_IMPORT, '$1.js"'));
  }
}

if (import.meta.main) {
  const bytes = await buildClient();
  console.log(`packages/client/dist/index.js has ${bytes} bytes, compressed`);
}
