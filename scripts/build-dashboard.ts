// Bundles src/dashboard into dist/dashboard: every file compressed with gzip under a name with the hash of its content,
// and a manifest that lists the files. --quiet prints errors only; --watch builds again after each change.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type DashboardManifest, INDEX_NAME, MANIFEST_NAME } from "../src/http/web/dashboard.ts";

const ROOT = join(import.meta.dir, "..");
const SOURCE = join(ROOT, "src/dashboard");
export const DASHBOARD_FOLDER = join(ROOT, "dist/dashboard");
/** Everything that the built files depend on: sources, libraries, this script and what it imports. */
export const DASHBOARD_INPUTS: readonly string[] = [
  SOURCE,
  join(ROOT, "src/core"),
  join(ROOT, "packages/client/src"),
  join(ROOT, "src/http/web/dashboard.ts"),
  join(ROOT, "package-lock.json"),
  import.meta.path,
];
const TAGS_PLACE = "<!-- files -->";
const ASSETS = "/assets/";
/** The bundler joins smaller chunks where it can, because each chunk is a request of its own. */
const CHUNK_BYTES_MIN = 16_384;
/** In hexadecimal digits: 64 bits are enough to never meet the same hash twice. */
const HASH_LENGTH = 16;
/** A little more than an editor takes to save several files. */
const WATCH_DELAY_MS = 100;

/** In the bundler's form of a name, until nameByContent gives the final one. */
const JOINED_NAME = "shared-0.js";
const EXPORTS = /\bexport\{([^}]*)\}/g;
const REFERENCE = new RegExp(`${ASSETS}([\\w.-]+)`, "g");
const BUNDLER_NAME = /^(.+)-[^-]+\.(\w+)$/;

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

export type DashboardSizes = {
  /** Compressed bytes that the browser loads before the first view. */
  readonly first: number;
  /** Compressed bytes of all files. */
  readonly all: number;
};

/** Replaces the folder only when the build succeeds. Throws when the sources cannot be bundled. */
export async function buildDashboard(folder = DASHBOARD_FOLDER): Promise<DashboardSizes> {
  const built = await Bun.build({
    entrypoints: [join(SOURCE, "main.tsx")],
    target: "browser",
    format: "esm",
    splitting: true,
    minify: true,
    sourcemap: "none",
    define: { "process.env.NODE_ENV": '"production"' },
    // These names tell the files apart until nameByContent gives the final ones.
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    publicPath: ASSETS,
    minChunkSize: CHUNK_BYTES_MIN,
    // A lazy file imports only files that the page has already loaded.
    modulePreload: false,
    metafile: true,
  });
  const entry = built.outputs.find(({ kind }) => kind === "entry-point");
  if (!entry) throw new TypeError("the bundler made no entry");
  const entryName = basename(entry.path);
  const outputs = leaveOutCopiedStyles(built);
  const chunks = new Map<string, string>();
  for (const output of outputs) {
    const name = basename(output.path);
    const text = await output.text();
    const isScript = name.endsWith(".js");
    chunks.set(name, isScript ? callImportLazy(text, listImports(built, output.path, "dynamic-import")) : text);
  }
  const { texts, firstNames } = await joinChunks(chunks, listFirstNames(built, outputs), entryName);
  texts.set(entryName, texts.get(entryName) + importAll(firstNames, entryName));

  const files: Record<string, { type: string; etag: string }> = {};
  const draft = `${folder}.draft-${process.pid}`;
  const sizes = { first: 0, all: 0 };
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const write = (name: string, text: string, isFirst: boolean) => {
    // Three in a hundred smaller than what zlib makes at its best.
    const packed = Bun.gzipSync(text, { library: "libdeflate", level: 12 });
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
    if (type === undefined) throw new TypeError(`there is no content type for ${name}`);
    files[name] = { type, etag: `"${hash(packed).slice(0, 24)}"` };
    writeFileSync(join(draft, `${name}.gz`), packed);
    sizes.all += packed.length;
    if (isFirst) sizes.first += packed.length;
  };
  try {
    const tags: string[] = [];
    for (const [bundlerName, { name, text }] of nameByContent(texts)) {
      const isFirst = firstNames.has(bundlerName);
      write(name, text, isFirst);
      if (isFirst) tags.push(tagOf(name, bundlerName === entryName));
    }
    const page = readFileSync(join(SOURCE, "index.html"), "utf8");
    write(INDEX_NAME, page.replace(TAGS_PLACE, tags.sort().join("\n    ")), true);
    const manifest: DashboardManifest = { files };
    writeFileSync(join(draft, MANIFEST_NAME), JSON.stringify(manifest, null, 1));
    putInPlace(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return sizes;
}

export type NamedFile = { readonly name: string; readonly text: string };

/**
 * Names each file by the hash of its final content. Browsers keep these files for a year, so a name must never stand for
 * two contents; the bundler's own hash does not see what this script changes afterwards. The keys are the bundler's names.
 * The files that a file refers to are named first, because their names are part of its content. Throws when files refer to
 * each other in a circle, or when two files would get the same name.
 */
export function nameByContent(texts: ReadonlyMap<string, string>): ReadonlyMap<string, NamedFile> {
  const named = new Map<string, NamedFile>();
  const taken = new Set<string>();
  const open = new Set<string>();
  function nameFile(bundlerName: string, text: string): NamedFile {
    const known = named.get(bundlerName);
    if (known) return known;
    if (open.has(bundlerName)) throw new TypeError(`${bundlerName} refers to itself in a circle`);
    open.add(bundlerName);
    const finalText = text.replaceAll(REFERENCE, (reference, target: string) => {
      const targetText = texts.get(target);
      return targetText === undefined ? reference : ASSETS + nameFile(target, targetText).name;
    });
    const [, stem, extension] = BUNDLER_NAME.exec(bundlerName) ?? [];
    if (stem === undefined) throw new TypeError(`${bundlerName} is not a name of the bundler`);
    const name = `${stem}-${hash(finalText).slice(0, HASH_LENGTH)}.${extension}`;
    if (taken.has(name)) throw new TypeError(`two files have the content of ${name}`);
    taken.add(name);
    named.set(bundlerName, { name, text: finalText });
    return { name, text: finalText };
  }
  for (const [bundlerName, text] of texts) nameFile(bundlerName, text);
  return named;
}

/**
 * Joins the first chunks into one file, because dozens of small ones are slower to load and larger when compressed. The
 * bundler makes one for each set of views that share code. A chunk that leads to a lazy file stays as it is: the lazy files
 * import the joined one, and files that refer to each other in a circle cannot be named by their content.
 */
async function joinChunks(
  chunks: ReadonlyMap<string, string>,
  firstNames: ReadonlySet<string>,
  entryName: string,
): Promise<{ texts: Map<string, string>; firstNames: Set<string> }> {
  const leadsToLazy = (name: string): boolean =>
    name.endsWith(".js") && (!firstNames.has(name) || referencesOf(chunks.get(name) ?? "").some(leadsToLazy));
  const joined = [...firstNames].filter((name) => name.endsWith(".js") && name !== entryName && !leadsToLazy(name));
  const files = Object.fromEntries(joined.map((name) => [ASSETS + name, chunks.get(name) ?? ""]));
  throwIfExportedTwice(Object.values(files));
  const all = `${ASSETS}all.js`;
  const built = await Bun.build({
    entrypoints: [all],
    files: { ...files, [all]: joined.map((name) => `export * from "${ASSETS}${name}";`).join("") },
    target: "browser",
    format: "esm",
    minify: true,
  });
  const text = await built.outputs[0]?.text();
  if (text === undefined) throw new TypeError("the bundler did not join the chunks");
  const texts = new Map([[JOINED_NAME, text]]);
  for (const [name, chunk] of chunks) {
    if (joined.includes(name)) continue;
    texts.set(
      name,
      chunk.replaceAll(REFERENCE, (reference, target: string) =>
        joined.includes(target) ? ASSETS + JOINED_NAME : reference,
      ),
    );
  }
  const left = [...firstNames].filter((name) => !joined.includes(name));
  return { texts, firstNames: new Set([JOINED_NAME, ...left]) };
}

function referencesOf(text: string): string[] {
  return Array.from(text.matchAll(REFERENCE), ([, name = ""]) => name);
}

/** The bundler gives each export a name of its own in all chunks. Joined under one name, two would both be lost. */
function throwIfExportedTwice(texts: readonly string[]): void {
  const lists = texts.flatMap((text) => Array.from(text.matchAll(EXPORTS), ([, list = ""]) => list));
  const names = lists.flatMap((list) => list.split(",")).filter((name) => name !== "");
  if (new Set(names).size !== names.length) throw new TypeError("two chunks export the same name");
}

/** The styles of a lazy file are also in those of the entry, which the page has from its start. */
function leaveOutCopiedStyles(built: Bun.BuildOutput): Bun.BuildArtifact[] {
  const entryStyles = built.outputs.find(
    ({ path }) => path.endsWith(".css") && inputsOf(built, path).some((input) => input.endsWith("/page.css")),
  );
  if (!entryStyles) throw new TypeError("the bundler made no styles of the entry");
  const known = new Set(inputsOf(built, entryStyles.path));
  return built.outputs.filter(
    (output) =>
      output === entryStyles ||
      !output.path.endsWith(".css") ||
      !inputsOf(built, output.path).every((input) => known.has(input)),
  );
}

function inputsOf({ metafile }: Bun.BuildOutput, path: string): string[] {
  return Object.keys(metafile?.outputs[path]?.inputs ?? {});
}

/** When another process puts its build of the same sources in place at the same time, that one is kept. */
export function putInPlace(draft: string, folder: string): void {
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
 * statically, even a lazy file. The static imports of a lazy file then never fail. They must not: importLazy can give
 * another URL to the lazy file, but not to the chunks that it imports.
 */
function listFirstNames(built: Bun.BuildOutput, outputs: readonly Bun.BuildArtifact[]): Set<string> {
  const names = new Set<string>();
  for (const { kind, path } of outputs) {
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
  if (!output) throw new TypeError(`the metafile has no imports of ${path}`);
  return output.imports.filter((each) => each.kind === kind).map((each) => basename(each.path));
}

/** Replaces `import("/assets/…")` of these files by importLazy, which can load a file again after a failure. */
function callImportLazy(text: string, names: readonly string[]): string {
  return names.reduce((before, name) => {
    const after = before.replaceAll(`import("${ASSETS}${name}")`, `importLazy("${ASSETS}${name}")`);
    if (after === before) throw new TypeError(`the import() of ${name} was not found`);
    return after;
  }, text);
}

/** The browser evaluates these files before the entry: the page starts with all of them or not at all. */
function importAll(names: ReadonlySet<string>, entryName: string): string {
  const scripts = [...names].filter((name) => name.endsWith(".js") && name !== entryName);
  return scripts.map((name) => `\nimport "${ASSETS}${name}";`).join("");
}

function tagOf(name: string, isEntry: boolean): string {
  if (name.endsWith(".css")) return `<link rel="stylesheet" href="${ASSETS}${name}">`;
  if (!isEntry) return `<link rel="modulepreload" href="${ASSETS}${name}">`;
  return `<script type="module" src="${ASSETS}${name}"></script>`;
}

function hash(content: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(content).digest("hex");
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
    timer = setTimeout(() => void run(), WATCH_DELAY_MS);
  });
}
