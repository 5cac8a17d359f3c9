// For the gatehouse command: exits 0 when node_modules has every package that package-lock.json asks for, in its version. A file that
// is only newer, as after a fresh clone beside copied packages, needs no installation.
import { readFileSync } from "node:fs";
import { join } from "node:path";

type Package = { readonly version?: string; readonly dev?: boolean; readonly optional?: boolean };
type Lock = { readonly packages: Readonly<Record<string, Package>> };

const ROOT = join(import.meta.dir, "..");

export function isInstalled(asked: Lock, installed: Lock): boolean {
  return Object.entries(asked.packages).every(([path, { version, dev, optional }]) => {
    const found = installed.packages[path];
    return path === "" || (found ? found.version === version : dev === true || optional === true);
  });
}

if (import.meta.main) {
  const [asked, installed] = ["package-lock.json", "node_modules/.package-lock.json"].map((path): Lock => {
    return JSON.parse(readFileSync(join(ROOT, path), "utf8"));
  });
  process.exitCode = asked && installed && isInstalled(asked, installed) ? 0 : 1;
}
