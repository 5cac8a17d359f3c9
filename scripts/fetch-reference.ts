// npm run reference: fetches the program that shows the API reference, one file of an npm package, into dist/reference.
// It is served from there, and put into binaries from there. --quiet prints nothing when all is well; --within gives up
// after so many seconds.
import { mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { SCALAR, SCALAR_FILE } from "../src/http/reference/scalar-package.ts";
import {
  type Download,
  downloadWithNpm,
  hash,
  hasIntegrity,
  openPackage,
  type PinnedPackage,
} from "./npm-package.ts";

const FOLDER = join(import.meta.dir, "../dist/reference");
export const SCALAR_PATH = join(FOLDER, SCALAR_FILE);

/** A file of a package, with a hash of its own: what was fetched before can be checked without the package. */
export type PinnedFile = PinnedPackage & { readonly path: string; readonly fileIntegrity: string };

export type FetchOptions = {
  readonly pin?: PinnedFile;
  /** Where the file is to be. The package's own description, which names its licence, is put beside it. */
  readonly target?: string;
  readonly download?: Download;
};

/** Leaves exactly the pinned file at `target`, or what was there before. Throws with a sentence when it cannot be had. */
export async function fetchReference(options: FetchOptions = {}): Promise<void> {
  const { pin = SCALAR, target = SCALAR_PATH, download = downloadWithNpm() } = options;
  if (isFetched(target, pin.fileIntegrity)) return makeNewer(target);
  const opened = await openPackage(pin, download);
  const content = await opened.read(pin.path);
  if (!hasIntegrity(content, pin.fileIntegrity)) {
    throw new Error(
      `${pin.path} in ${pin.name}@${pin.version} has not the pinned hash, but ${hash(content)}`,
    );
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

/** ./gatehouse asks only whether the file is newer than the pin. */
function makeNewer(file: string): void {
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch {
    // In a folder that is read-only to us, every start checks the file again.
  }
}

/** Whole or not at all: several may be fetching at once. */
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
