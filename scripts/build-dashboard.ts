// Bundles src/dashboard into dist/dashboard: every file compressed with gzip under a name with its hash, and a manifest of the
// files. --quiet prints nothing unless the build fails; --watch builds again after each change.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { constants, gzipSync } from "node:zlib";
import { type DashboardManifest, INDEX_NAME, MANIFEST_NAME } from "../src/http/dashboard.ts";

const ROOT = join(import.meta.dir, "..");
const SOURCE = join(ROOT, "src/dashboard");
export const DASHBOARD_FOLDER = join(ROOT, "dist/dashboard");
const FILES_OF_PAGE = "<!-- files -->";
const ASSETS = "/assets/";
/** Smaller chunks are merged where possible, because each chunk costs a request. */
const CHUNK_BYTES_MIN = 16_384;
/** A little more than an editor needs to save several files. */
const SETTLE_MS = 100;

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

export type DashboardSizes = {
  /** Compressed bytes that the browser loads before the first view, and of all files. */
  readonly first: number;
  readonly all: number;
};

/** Replaces the folder only after a complete build. Throws when the sources cannot be bundled. */
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
    publicPath: ASSETS,
    minChunkSize: CHUNK_BYTES_MIN,
    // Late files import only files that the page has already loaded.
    modulePreload: false,
    metafile: true,
  });
  const files: Record<string, { type: string; etag: string }> = {};
  const draft = `${folder}.draft-${process.pid}`;
  const sizes = { first: 0, all: 0 };
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const add = (name: string, text: Uint8Array<ArrayBuffer> | string, isFirst: boolean) => {
    const packed = gzipSync(text, { level: constants.Z_BEST_COMPRESSION });
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
    if (type === undefined) throw new TypeError(`the media type of ${name} is not known`);
    const etag = `"${new Bun.CryptoHasher("sha256").update(packed).digest("hex").slice(0, 24)}"`;
    files[name] = { type, etag };
    writeFileSync(join(draft, `${name}.gz`), packed);
    sizes.all += packed.length;
    if (isFirst) sizes.first += packed.length;
  };
  try {
    const entry = built.outputs.find(({ kind }) => kind === "entry-point");
    if (!entry) throw new TypeError("the bundler made no entry file");
    const entryName = basename(entry.path);
    const firstNames = listFirstNames(built);
    for (const output of built.outputs) {
      const name = basename(output.path);
      const isFirst = firstNames.has(name);
      if (!name.endsWith(".js")) {
        add(name, new Uint8Array(await output.arrayBuffer()), isFirst);
        continue;
      }
      const text = callImportLate(await output.text(), listImports(built, output.path, "dynamic-import"));
      add(name, output === entry ? text + importAll(firstNames, entryName) : text, isFirst);
    }
    const tags = Array.from(firstNames, (name) => tagOf(name, entryName)).sort();
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

/** When another process has put its build of the same sources in place at the same time, that one is kept. */
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

/**
 * The files that are loaded before the first view: the entry, the styles, and every chunk that another file imports
 * statically, even a late file. The static imports of a late file then never fail. They must not: importLate can give
 * another URL to the late file, but not to the chunks that it imports.
 */
function listFirstNames(built: Bun.BuildOutput): Set<string> {
  const names = new Set<string>();
  for (const { kind, path } of built.outputs) {
    if (kind === "entry-point" || path.endsWith(".css")) names.add(basename(path));
    if (!path.endsWith(".js")) continue;
    for (const name of listImports(built, path, "import-statement")) names.add(name);
  }
  return names;
}

function listImports(
  { metafile }: Bun.BuildOutput,
  path: string,
  kind: "import-statement" | "dynamic-import",
): string[] {
  const output = metafile?.outputs[path];
  if (!output) throw new TypeError(`the bundler does not say what ${path} imports`);
  return output.imports.filter((each) => each.kind === kind).map((each) => basename(each.path));
}

/** Replaces `import("/assets/…")` of these files by importLate, which can load a file again after a failure. */
function callImportLate(text: string, names: readonly string[]): string {
  return names.reduce((before, name) => {
    const after = before.replaceAll(`import("${ASSETS}${name}")`, `importLate("${ASSETS}${name}")`);
    if (after === before) throw new TypeError(`the import() of ${name} was not found`);
    return after;
  }, text);
}

/** The browser evaluates these files before the entry: the page starts with all of them or not at all. */
function importAll(names: ReadonlySet<string>, entryName: string): string {
  const scripts = [...names].filter((name) => name.endsWith(".js") && name !== entryName);
  return scripts.map((name) => `\nimport "${ASSETS}${name}";`).join("");
}

function tagOf(name: string, entryName: string): string {
  if (name.endsWith(".css")) return `<link rel="stylesheet" href="${ASSETS}${name}">`;
  if (name !== entryName) return `<link rel="modulepreload" href="${ASSETS}${name}">`;
  return `<script type="module" src="${ASSETS}${name}"></script>`;
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
