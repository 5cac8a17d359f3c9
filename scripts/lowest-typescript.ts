// The lowest TypeScript that the types of packages/client support. It is no dependency of ours, because its command has
// the same name as that of the TypeScript we use; it is downloaded as an npm package, with a pinned hash.
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPackage } from "./npm-package.ts";

const CACHE = join(import.meta.dir, "../node_modules/.cache/gatehouse-typescript");

export const LOWEST_TYPESCRIPT = {
  name: "typescript",
  version: "5.0.4",
  integrity: "sha512-cW9T5W9xY37cc+jfEnaUvX91foxtHkza3Nw3wkoF4sSlKn0MONdkdEndig/qPBWXNkmplh3NzayQzCiHM4/hqw==",
};

/** Returns the path of the compiler, for Node. Throws with a sentence when it cannot be downloaded. */
export async function obtainLowestTypescript(): Promise<string> {
  const kept = join(CACHE, LOWEST_TYPESCRIPT.version);
  if (!existsSync(kept)) await unpack(kept);
  return join(kept, "tsc.js");
}

async function unpack(kept: string): Promise<void> {
  const opened = await openPackage(LOWEST_TYPESCRIPT);
  const files = new Map(await opened.readAll("lib/lib*.d.ts"));
  files.set("lib/tsc.js", await opened.read("lib/tsc.js"));
  mkdirSync(CACHE, { recursive: true });
  const draft = mkdtempSync(join(CACHE, "draft-"));
  try {
    for (const [path, content] of files) writeFileSync(join(draft, path.slice("lib/".length)), content);
    // In one step, so that an interrupted download leaves nothing behind.
    renameSync(draft, kept);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
