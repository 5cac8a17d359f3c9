// The Bun runtimes for the binaries of other platforms. They are downloaded as npm packages and used only if their hash
// is the one in package-lock.json.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import lock from "../package-lock.json" with { type: "json" };
import { openPackage } from "./npm-package.ts";

const ROOT = join(import.meta.dir, "..");
const CACHE = join(ROOT, "node_modules/.cache/gatehouse-runtimes");

type LockedPackage = { readonly version: string; readonly integrity?: string };

/** Returns the path of the runtime from the npm package `name`. Throws with a sentence when it cannot be downloaded. */
export async function obtainRuntime(name: string, executable: string): Promise<string> {
  const packages: Readonly<Record<string, LockedPackage>> = lock.packages;
  const { version = "", integrity } = packages[`node_modules/${name}`] ?? {};
  if (integrity === undefined) throw new Error(`package-lock.json does not name ${name}`);
  const kept = join(CACHE, `${name.replace("/", "-")}-${version}`, executable);
  if (existsSync(kept)) return kept;

  const opened = await openPackage({ name, version, integrity });
  const content = await opened.read(`bin/${executable}`);
  mkdirSync(CACHE, { recursive: true });
  const draft = mkdtempSync(join(CACHE, "draft-"));
  try {
    const file = join(draft, executable);
    writeFileSync(file, content);
    chmodSync(file, 0o755);
    mkdirSync(dirname(kept), { recursive: true });
    renameSync(file, kept);
    return kept;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
