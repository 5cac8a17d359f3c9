// npm run reference: fetches the program that shows the API reference, one file of an npm package, into dist/reference.
// Gatehouse serves the file from there, and the build puts it into binaries. --quiet prints only errors; --within gives
// up after that many seconds.
import { mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { SCALAR, SCALAR_FILE } from "../src/http/web/scalar-package.ts";
import { type Download, downloadWithNpm, hash, hasIntegrity, openPackage, type PinnedPackage } from "./npm-package.ts";

const FOLDER = join(import.meta.dir, "../dist/reference");
export const SCALAR_PATH = join(FOLDER, SCALAR_FILE);

/** A file of a package with its own hash, so that a fetched file can be checked without the package. */
export type PinnedFile = PinnedPackage & { readonly path: string; readonly fileIntegrity: string };

export type FetchOptions = {
  readonly pin?: PinnedFile;
  /** The path to write the file to. The package.json, which names the licence, is written beside it. */
  readonly target?: string;
  readonly download?: Download;
};

/** Writes the pinned file to `target`. When that fails, it throws with a sentence and leaves `target` unchanged. */
export async function fetchReference(options: FetchOptions = {}): Promise<void> {
  const { pin = SCALAR, target = SCALAR_PATH, download = downloadWithNpm() } = options;
  if (isFetched(target, pin.fileIntegrity)) return makeNewer(target);
  const opened = await openPackage(pin, download);
  const content = await opened.read(pin.path);
  if (!hasIntegrity(content, pin.fileIntegrity)) {
    throw new Error(`${pin.path} in ${pin.name}@${pin.version} has not the pinned hash, but ${hash(content)}`);
  }
  mkdirSync(dirname(target), { recursive: true });
  replaceFile(`${target}.package.json`, await opened.read("package.json"));
  replaceFile(target, content);
}

function isFetched(target: string, integrity: string): boolean {
  try {
    return hasIntegrity(readFileSync(target), integrity);
  } catch {
    return false;
  }
}

/** ./gatehouse only checks whether the file is newer than src/http/web/scalar-package.ts. */
function makeNewer(file: string): void {
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch {
    // In a folder that is read-only to us, every start checks the file again.
  }
}

/** Atomic, because several processes may fetch at the same time. */
function replaceFile(file: string, content: Uint8Array): void {
  const draft = `${file}.draft-${process.pid}`;
  try {
    writeFileSync(draft, content);
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { quiet: { type: "boolean" }, within: { type: "string" } } });
  try {
    await fetchReference(
      values.within === undefined ? {} : { download: downloadWithNpm(Number(values.within) * 1000) },
    );
    if (!values.quiet) process.stdout.write(`reference     ${SCALAR.name} ${SCALAR.version}\n`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(
      `gatehouse: the API reference at /docs is missing: ${reason}; "npm run reference" tries again\n`,
    );
    process.exit(1);
  }
}
