// npm run build: makes single-file binaries, which behave exactly like ./gatehouse. Without arguments it makes one for
// every platform; --target selects platforms, and "host" is this machine. The tests build with --bytecode. npm run deb adds
// --deb: a Debian package of each Linux binary.
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildClients, CLIENTS_FOLDER } from "./build-clients.ts";
import { buildDashboard, DASHBOARD_FOLDER } from "./build-dashboard.ts";
import { type DebianArchitecture, packDebian } from "./debian-package.ts";
import { fetchReference, SCALAR_PATH } from "./fetch-reference.ts";
import { obtainRuntime } from "./runtimes.ts";

const ROOT = join(import.meta.dir, "..");
const DIST = join(ROOT, "dist");
const MIB = 1024 * 1024;
const NAME_WIDTH = 14;

type Target = {
  readonly name: string;
  readonly bunTarget: Bun.Build.CompileTarget;
  readonly runtime: string;
  readonly platform: NodeJS.Platform;
  readonly architecture: NodeJS.Architecture;
};

const DEBIAN_ARCHITECTURES: Partial<Record<NodeJS.Architecture, DebianArchitecture>> = { x64: "amd64", arm64: "arm64" };

const TARGETS: readonly Target[] = [
  target("linux-x64", "bun-linux-x64", "bun-linux-x64", "linux", "x64"),
  target("linux-arm64", "bun-linux-arm64", "bun-linux-aarch64", "linux", "arm64"),
  target("macos-arm64", "bun-darwin-arm64", "bun-darwin-aarch64", "darwin", "arm64"),
  target("macos-x64", "bun-darwin-x64", "bun-darwin-x64", "darwin", "x64"),
  target("windows-x64", "bun-windows-x64", "bun-windows-x64", "win32", "x64"),
];

const USAGE = `usage: npm run build -- [--target <name>]... [--outdir <folder>] [--bytecode] [--deb]
  targets: ${TARGETS.map(({ name }) => name).join(", ")}, and host for this machine
  without --target it makes all of them
  --bytecode makes a larger binary of the same code, which starts faster
  --deb also makes a Debian package of each Linux binary, with dpkg-deb`;

function target(
  name: string,
  bunTarget: Bun.Build.CompileTarget,
  runtime: string,
  platform: NodeJS.Platform,
  architecture: NodeJS.Architecture,
): Target {
  return { name, bunTarget, runtime, platform, architecture };
}

function isThisMachine({ platform, architecture }: Target): boolean {
  return platform === process.platform && architecture === process.arch;
}

function parseTargets(names: readonly string[]): readonly Target[] {
  if (names.length === 0) return TARGETS;
  return names.map((name) => {
    const found = TARGETS.find((each) => (name === "host" ? isThisMachine(each) : each.name === name));
    if (!found) throw new TypeError(`there is no target "${name}"`);
    return found;
  });
}

/** Puts the pages' files into the binary: src/instance/embedded-files.ts becomes a list of them. */
const embedFiles: Bun.BunPlugin = {
  name: "embed-files",
  setup(build) {
    build.onLoad({ filter: /[\\/]instance[\\/]embedded-files\.ts$/ }, () => {
      const folders = [DASHBOARD_FOLDER, CLIENTS_FOLDER];
      const built = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
      const files = [...built, SCALAR_PATH];
      const imports = files.map((file, index) => {
        return `import file${index} from ${JSON.stringify(file)} with { type: "file" };`;
      });
      const entries = files.map((file, index) => {
        return `[${JSON.stringify(relative(DIST, file).replaceAll("\\", "/"))}, file${index}]`;
      });
      const list = `export const EMBEDDED_FILES = new Map([${entries.join(", ")}]);`;
      return { contents: `${imports.join("\n")}\n${list}\n`, loader: "ts" };
    });
  },
};

/** Returns the path of the binary, which appears only when it is complete. */
async function build(each: Target, outdir: string, bytecode: boolean): Promise<string> {
  const suffix = each.platform === "win32" ? ".exe" : "";
  const runtime = isThisMachine(each) ? process.execPath : await obtainRuntime(`@oven/${each.runtime}`, `bun${suffix}`);
  const draft = join(outdir, `.draft-${process.pid}-${each.name}${suffix}`);
  try {
    await Bun.build({
      entrypoints: ["main", "archive-worker", "reading-worker"].map((name) => join(ROOT, `src/${name}.ts`)),
      minify: true,
      ...(bytecode && { bytecode, format: "esm" }),
      plugins: [embedFiles],
      define: { "process.env.NODE_ENV": '"production"' },
      compile: {
        target: each.bunTarget,
        executablePath: runtime,
        outfile: draft,
        // As in ./gatehouse: our own code reads .env, and headers may have 64 KiB.
        autoloadDotenv: false,
        autoloadBunfig: false,
        execArgv: ["--max-http-header-size=65536"],
      },
    });
    const file = join(outdir, `gatehouse-${each.name}${suffix}`);
    renameSync(draft, file);
    return file;
  } finally {
    rmSync(draft, { force: true });
  }
}

function giveShortName(file: string, outdir: string): void {
  const short = join(outdir, process.platform === "win32" ? "gatehouse.exe" : "gatehouse");
  // A running binary can be removed, but not overwritten.
  rmSync(short, { force: true });
  copyFileSync(file, short);
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of Bun.file(file).stream()) hash.update(chunk);
  return hash.digest("hex");
}

async function main(): Promise<number> {
  let targets: readonly Target[];
  let outdir: string;
  let buildsAll: boolean;
  let bytecode: boolean;
  let packs: boolean;
  try {
    const { values } = parseArgs({
      options: {
        target: { type: "string", multiple: true },
        outdir: { type: "string" },
        bytecode: { type: "boolean", default: false },
        deb: { type: "boolean", default: false },
      },
    });
    bytecode = values.bytecode;
    packs = values.deb;
    buildsAll = values.target === undefined;
    targets = parseTargets(values.target ?? []);
    outdir = values.outdir === undefined ? DIST : resolve(values.outdir);
  } catch (error) {
    process.stderr.write(`build: ${error instanceof Error ? error.message : error}\n${USAGE}\n`);
    return 2;
  }

  mkdirSync(outdir, { recursive: true });
  try {
    await buildDashboard();
    await buildClients();
  } catch (error) {
    process.stderr.write(`build: the dashboard or the clients could not be built: ${Bun.inspect(error)}\n`);
    return 1;
  }
  try {
    await fetchReference();
  } catch (error) {
    process.stderr.write(`build: the API reference is missing: ${error instanceof Error ? error.message : error}\n`);
    return 1;
  }
  const sums: string[] = [];
  let failures = 0;
  const make = async (name: string, run: () => Promise<string>) => {
    process.stdout.write(name.padEnd(NAME_WIDTH));
    const startedAt = performance.now();
    try {
      const file = await run();
      sums.push(`${await hashFile(file)}  ${basename(file)}`);
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
      const size = Math.round(statSync(file).size / MIB);
      process.stdout.write(`${relative(process.cwd(), file)}  ${size} MiB  ${seconds} s\n`);
      return file;
    } catch (error) {
      failures++;
      process.stdout.write(`not made: ${error instanceof Error ? error.message : error}\n`);
      return undefined;
    }
  };
  for (const each of targets) {
    const file = await make(each.name, () => build(each, outdir, bytecode));
    if (file === undefined) continue;
    if (isThisMachine(each)) giveShortName(file, outdir);
    const architecture = each.platform === "linux" ? DEBIAN_ARCHITECTURES[each.architecture] : undefined;
    if (packs && architecture) await make(`deb ${architecture}`, async () => packDebian(file, architecture, outdir));
  }
  writeFileSync(join(outdir, "SHA256SUMS"), sums.map((line) => `${line}\n`).join(""));
  // Without --target, a platform that cannot be built here is no failure as long as another one was built.
  return failures === 0 || (buildsAll && sums.length > 0) ? 0 : 1;
}

process.exit(await main());
