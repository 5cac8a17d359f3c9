// npm run build:client: makes what is published of both clients. packages/client/dist is what npm publishes; dist/clients has the
// archives that Gatehouse serves at /client/, and --served makes only these. The same sources always give the same bytes, without a
// network.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { constants, crc32, deflateRawSync, gzipSync } from "node:zlib";
import { type ClientsManifest, MANIFEST_NAME } from "../src/http/web/clients.ts";
import { putInPlace } from "./build-dashboard.ts";

const ROOT = join(import.meta.dir, "..");
export const CLIENT_FOLDER = join(ROOT, "packages/client");
export const PYTHON_FOLDER = join(ROOT, "packages/python");
export const CLIENTS_FOLDER = join(ROOT, "dist/clients");
const DIST = join(CLIENT_FOLDER, "dist");
/** Sources that are nothing but types are declarations as they are. */
export const TYPE_SOURCES = ["wire-types", "game-event"];

/** Import paths in declarations: people have the compiled files. */
const TS_IMPORT = /(from "\.\/[\w-]+)\.ts"/g;

/** Times in archives: what npm writes, in seconds, and the first day that zip knows. */
const TAR_SECONDS = 499_162_500;
const ZIP_DAY = (1 << 5) | 1;
const TAR_BLOCK = 512;
const GZIP_SYSTEM_AT = 9;
const GZIP_SYSTEM_UNKNOWN = 255;

type PythonProject = {
  readonly project: {
    readonly name: string;
    readonly version: string;
    readonly description: string;
    readonly "requires-python": string;
    readonly "optional-dependencies": Readonly<Record<string, readonly string[]>>;
  };
};

/** Paths in an archive, with their contents. */
type Entries = readonly (readonly [path: string, content: Uint8Array])[];

/** Makes the folder: one file of JavaScript, and its types. Returns the size of the JavaScript, compressed, in bytes. */
export async function buildClient(folder = DIST): Promise<number> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await bundleClient(folder);
  for (const [name, text] of listDeclarations()) writeFileSync(join(folder, name), text);
  return Bun.gzipSync(readFileSync(join(folder, "index.js"))).length;
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

/** packages/client/types is written by npm run types:client, because a start from a checkout has no TypeScript. */
function listDeclarations(): ReadonlyMap<string, string> {
  const folder = join(CLIENT_FOLDER, "types");
  const written = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")] as const);
  const sources = TYPE_SOURCES.map((name) => {
    return [`${name}.d.ts`, readFileSync(join(CLIENT_FOLDER, `src/${name}.ts`), "utf8")] as const;
  });
  return new Map([...written, ...sources].map(([name, text]) => [name, text.replace(TS_IMPORT, '$1.js"')]));
}

/** Makes the archives, and replaces the folder only when all are made. */
export async function buildClients(folder = CLIENTS_FOLDER): Promise<void> {
  const draft = `${folder}.draft-${process.pid}`;
  // Not packages/client/dist, which another process may be packing.
  const dist = `${draft}/dist`;
  await buildClient(dist);
  const module = readFileSync(join(PYTHON_FOLDER, "gatehouse_client/__init__.py"));
  const wheel = makeWheel(module);
  const files: readonly (readonly [name: string, type: string, content: Uint8Array])[] = [
    ["gatehouse-client.tgz", "application/gzip", makeNpmArchive(dist)],
    ["gatehouse_client.py", "text/x-python; charset=utf-8", module],
    [wheel.name, "application/zip", wheel.content],
  ];
  rmSync(dist, { recursive: true });
  const manifest: ClientsManifest = {
    wheel: wheel.name,
    files: Object.fromEntries(
      files.map(([name, type, content]) => [name, { type, etag: `"${hash(content, "hex").slice(0, 24)}"` }]),
    ),
  };
  for (const [name, , content] of files) writeFileSync(join(draft, name), content);
  writeFileSync(join(draft, MANIFEST_NAME), JSON.stringify(manifest, null, 1));
  putInPlace(draft, folder);
}

/** What `npm pack` would put into the package. */
function makeNpmArchive(dist: string): Uint8Array {
  const own = ["LICENSE", "README.md", "package.json"].map((name) => [name, join(CLIENT_FOLDER, name)] as const);
  const built = readdirSync(dist).map((name) => [`dist/${name}`, join(dist, name)] as const);
  const paths = [...own, ...built].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const entries = paths.map(([name, path]) => [`package/${name}`, readFileSync(path)] as const);
  const packed = gzipSync(makeTar(entries), { level: constants.Z_BEST_COMPRESSION });
  packed[GZIP_SYSTEM_AT] = GZIP_SYSTEM_UNKNOWN;
  return packed;
}

/** A tar archive as POSIX has it (ustar). */
function makeTar(entries: Entries): Uint8Array {
  const blocks = entries.flatMap(([path, content]) => {
    const header = Buffer.alloc(TAR_BLOCK);
    const put = (text: string, at: number) => header.write(text, at, "latin1");
    const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
    put(path, 0);
    put(octal(0o644, 7), 100);
    put(octal(0, 7), 108);
    put(octal(0, 7), 116);
    put(octal(content.length, 11), 124);
    put(octal(TAR_SECONDS, 11), 136);
    // The sum counts itself as blanks.
    put(" ".repeat(8), 148);
    put("0", 156);
    put("ustar\u000000", 257);
    put(
      `${octal(
        header.reduce((sum, byte) => sum + byte, 0),
        6,
      )} `,
      148,
    );
    return [header, content, Buffer.alloc((TAR_BLOCK - (content.length % TAR_BLOCK)) % TAR_BLOCK)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * TAR_BLOCK)]);
}

function makeWheel(module: Uint8Array): { readonly name: string; readonly content: Uint8Array } {
  const pyproject = Bun.TOML.parse(readFileSync(join(PYTHON_FOLDER, "pyproject.toml"), "utf8")) as PythonProject;
  const { name, version, description, ...rest } = pyproject.project;
  const id = `${name.replaceAll("-", "_")}-${version}`;
  const extras = Object.entries(rest["optional-dependencies"]).flatMap(([extra, needs]) => [
    `Provides-Extra: ${extra}`,
    ...needs.map((need) => `Requires-Dist: ${need}; extra == "${extra}"`),
  ]);
  const metadata = [
    "Metadata-Version: 2.1",
    `Name: ${name}`,
    `Version: ${version}`,
    `Summary: ${description}`,
    "License: MIT",
    `Requires-Python: ${rest["requires-python"]}`,
    ...extras,
    "Description-Content-Type: text/markdown",
    "",
    readFileSync(join(PYTHON_FOLDER, "README.md"), "utf8"),
  ].join("\n");
  const about = ["Wheel-Version: 1.0", "Generator: gatehouse", "Root-Is-Purelib: true", "Tag: py3-none-any", ""].join(
    "\n",
  );
  const entries: Entries = [
    ["gatehouse_client/__init__.py", module],
    ["gatehouse_client/py.typed", new Uint8Array()],
    [`${id}.dist-info/LICENSE`, readFileSync(join(CLIENT_FOLDER, "LICENSE"))],
    [`${id}.dist-info/METADATA`, Buffer.from(metadata)],
    [`${id}.dist-info/WHEEL`, Buffer.from(about)],
  ];
  const record = `${id}.dist-info/RECORD`;
  const lines = entries.map(([path, content]) => `${path},sha256=${hash(content, "base64url")},${content.length}\n`);
  const all: Entries = [...entries, [record, Buffer.from(`${lines.join("")}${record},,\n`)]];
  return { name: `${id}-py3-none-any.whl`, content: makeZip(all) };
}

function makeZip(entries: Entries): Uint8Array {
  const files: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let at = 0;
  for (const [path, content] of entries) {
    const packed = deflateRawSync(content, { level: constants.Z_BEST_COMPRESSION });
    // Version needed, flags, method, time, day, checksum, sizes, length of the name, length of what is extra.
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(8, 4);
    shared.writeUInt16LE(ZIP_DAY, 8);
    shared.writeUInt32LE(crc32(content), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(content.length, 18);
    shared.writeUInt16LE(path.length, 22);
    const name = Buffer.from(path, "latin1");
    const file = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), shared, name, packed]);
    // Made by Unix; then comment, disk and attributes: an ordinary file, readable for all.
    const madeBy = Buffer.from([20, 3]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((0o100644 << 16) >>> 0, 6);
    rest.writeUInt32LE(at, 10);
    directory.push(Buffer.from("PK\x01\x02", "latin1"), madeBy, shared, rest, name);
    files.push(file);
    at += file.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...files, list, end]);
}

function hash(content: Uint8Array, encoding: "hex" | "base64url"): string {
  return createHash("sha256").update(content).digest(encoding);
}

if (import.meta.main) {
  await buildClients();
  if (!process.argv.includes("--served")) {
    console.log(`packages/client/dist/index.js has ${await buildClient()} bytes, compressed`);
    for (const name of readdirSync(CLIENTS_FOLDER)) console.log(`dist/clients/${name}`);
  }
}
