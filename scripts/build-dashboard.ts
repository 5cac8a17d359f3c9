// Bundles src/dashboard into dist/dashboard: every file packed with gzip under a name with its hash, and a manifest that
// says which files there are. --quiet prints nothing when all is well; --watch builds again after each change.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { constants, gzipSync } from "node:zlib";
import { type DashboardManifest, INDEX_NAME, MANIFEST_NAME } from "../src/http/dashboard.ts";

const ROOT = join(import.meta.dir, "..");
const SOURCE = join(ROOT, "src/dashboard");
export const DASHBOARD_FOLDER = join(ROOT, "dist/dashboard");
const FILES_OF_PAGE = "<!-- files -->";
/** A little more than an editor takes to save several files. */
const SETTLE_MS = 100;

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

export type DashboardSizes = {
  /** What the browser loads before the first view, and everything, in bytes as they go over the wire. */
  readonly first: number;
  readonly all: number;
};

/** Makes the folder whole or leaves the one that is there. Throws when the sources cannot be bundled. */
export async function buildDashboard(folder = DASHBOARD_FOLDER): Promise<DashboardSizes> {
  const built = await Bun.build({
    entrypoints: [join(SOURCE, "main.tsx")],
    target: "browser",
    format: "esm",
    splitting: true,
    minify: true,
    sourcemap: "none",
    define: { "process.env.NODE_ENV": '"production"' },
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    publicPath: "/assets/",
  });
  const files: Record<string, { type: string; etag: string }> = {};
  const draft = `${folder}.draft-${process.pid}`;
  const sizes = { first: 0, all: 0 };
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const add = (name: string, text: Uint8Array<ArrayBuffer> | string, isFirst: boolean) => {
    const packed = gzipSync(text, { level: constants.Z_BEST_COMPRESSION });
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
    if (type === undefined) throw new TypeError(`nobody has said how to serve ${name}`);
    const etag = `"${new Bun.CryptoHasher("sha256").update(packed).digest("hex").slice(0, 24)}"`;
    files[name] = { type, etag };
    writeFileSync(join(draft, `${name}.gz`), packed);
    sizes.all += packed.length;
    if (isFirst) sizes.first += packed.length;
  };
  try {
    const entry = built.outputs.find(({ kind }) => kind === "entry-point");
    if (!entry) throw new TypeError("the bundler made no entry");
    const main = await entry.text();
    const firstNames = new Set([basename(entry.path)]);
    for (const output of built.outputs) {
      if (output.path.endsWith(".css")) firstNames.add(basename(output.path));
    }
    await followImports(main, built.outputs, firstNames);
    for (const output of built.outputs) {
      const name = basename(output.path);
      add(name, new Uint8Array(await output.arrayBuffer()), firstNames.has(name));
    }
    const tags = Array.from(firstNames, (name) => tagOf(name, basename(entry.path))).sort();
    const page = readFileSync(join(SOURCE, "index.html"), "utf8");
    add(INDEX_NAME, page.replace(FILES_OF_PAGE, tags.join("\n    ")), true);
    const manifest: DashboardManifest = { files };
    writeFileSync(join(draft, MANIFEST_NAME), JSON.stringify(manifest, null, 1));
    putInPlace(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return sizes;
}

/** Several may be building at once, of the same sources: then one of them is enough. */
function putInPlace(draft: string, folder: string): void {
  const old = `${folder}.old-${process.pid}`;
  try {
    if (existsSync(folder)) renameSync(folder, old);
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(join(folder, MANIFEST_NAME))) throw error;
  } finally {
    rmSync(old, { recursive: true, force: true });
  }
}

/** Adds the chunks that `text` imports at once, and those that they import: the browser can ask for all of them together. */
async function followImports(
  text: string,
  outputs: readonly Bun.BuildArtifact[],
  names: Set<string>,
): Promise<void> {
  for (const output of outputs) {
    const name = basename(output.path);
    if (names.has(name) || !new RegExp(`(?:from|import)\\s*"[^"]*${RegExp.escape(name)}"`).test(text))
      continue;
    names.add(name);
    await followImports(await output.text(), outputs, names);
  }
}

function tagOf(name: string, entryName: string): string {
  if (name.endsWith(".css")) return `<link rel="stylesheet" href="/assets/${name}">`;
  if (name !== entryName) return `<link rel="modulepreload" href="/assets/${name}">`;
  return `<script type="module" src="/assets/${name}"></script>`;
}

function describeSizes({ first, all }: DashboardSizes): string {
  const kib = (bytes: number) => `${(bytes / 1024).toFixed(0)} KiB`;
  return `dashboard     ${kib(first)} before the first view, ${kib(all)} in all (gzip)`;
}

if (import.meta.main) {
  const isQuiet = process.argv.includes("--quiet");
  const run = async () => {
    try {
      const sizes = await buildDashboard();
      if (!isQuiet) process.stdout.write(`${describeSizes(sizes)}\n`);
      return 0;
    } catch (error) {
      process.stderr.write(`the dashboard could not be built: ${Bun.inspect(error)}\n`);
      return 1;
    }
  };
  const exitCode = await run();
  if (!process.argv.includes("--watch")) process.exit(exitCode);
  let timer: Timer | undefined;
  watch(SOURCE, { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(() => void run(), SETTLE_MS);
  });
}
