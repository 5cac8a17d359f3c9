// The Bun runtimes of the platforms that binaries are made for. Runtimes of other platforms are npm packages, and must
// have the integrity hash in package-lock.json.
import { createHash, timingSafeEqual } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import lock from "../package-lock.json" with { type: "json" };

const ROOT = join(import.meta.dir, "..");
const CACHE = join(ROOT, "node_modules/.cache/gatehouse-runtimes");

type LockedPackage = { readonly version: string; readonly integrity?: string };

/** The path of the runtime in the npm package `name`. Throws with a sentence when it cannot be downloaded. */
export async function obtainRuntime(name: string, executable: string): Promise<string> {
  const packages: Readonly<Record<string, LockedPackage>> = lock.packages;
  const locked = packages[`node_modules/${name}`];
  if (!locked?.integrity) throw new Error(`package-lock.json does not name ${name}`);
  const cached = join(CACHE, `${name.replace("/", "-")}-${locked.version}`, executable);
  if (existsSync(cached)) return cached;

  mkdirSync(CACHE, { recursive: true });
  const draft = mkdtempSync(join(CACHE, "draft-"));
  try {
    const archive = await download(`${name}@${locked.version}`, draft);
    checkIntegrity(archive, locked.integrity, name);
    const content = (await new Bun.Archive(archive).files()).get(`package/bin/${executable}`);
    if (!content) throw new Error(`${name} has no ${executable} in it`);
    const file = join(draft, executable);
    await Bun.write(file, content);
    chmodSync(file, 0o755);
    mkdirSync(dirname(cached), { recursive: true });
    renameSync(file, cached);
    return cached;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

async function download(specifier: string, folder: string): Promise<Uint8Array<ArrayBuffer>> {
  const npm = Bun.which("npm");
  if (!npm) throw new Error("npm is not installed");
  const child = Bun.spawn([npm, "pack", specifier, "--pack-destination", folder, "--loglevel=error"], {
    cwd: ROOT,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const errors = await child.stderr.text();
  if ((await child.exited) !== 0) {
    throw new Error(`${specifier} could not be downloaded (${findCode(errors)})`);
  }
  const archive = readdirSync(folder).find((file) => file.endsWith(".tgz"));
  if (archive === undefined) throw new Error(`${specifier} could not be downloaded`);
  return Bun.file(join(folder, archive)).bytes();
}

function findCode(errors: string): string {
  return /\bcode (\w+)/.exec(errors)?.[1] ?? "npm gave no reason";
}

function checkIntegrity(archive: Uint8Array, integrity: string, name: string): void {
  const [algorithm = "", expected = ""] = integrity.split("-", 2);
  const actual = createHash(algorithm).update(archive).digest();
  const wanted = Buffer.from(expected, "base64");
  if (actual.length !== wanted.length || !timingSafeEqual(actual, wanted)) {
    throw new Error(`${name} is not the package that package-lock.json names`);
  }
}
