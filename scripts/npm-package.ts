// Reads files of npm packages that are not installed. The npm client downloads the package from its configured
// registry, and only an archive with the pinned hash is opened.
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..");

export type PinnedPackage = {
  readonly name: string;
  readonly version: string;
  /** The hash of the archive, as in package-lock.json. */
  readonly integrity: string;
};

/** Returns the archive of `name@version`. Throws with a sentence when it cannot be downloaded. */
export type Download = (specifier: string) => Promise<Uint8Array<ArrayBuffer>>;

export type OpenedPackage = {
  /** The contents of a file; `path` is relative to the package. Throws with a sentence when there is none. */
  read(path: string): Promise<Uint8Array<ArrayBuffer>>;
  /** Every file whose path matches the pattern, by its path. */
  readAll(pattern: string): Promise<ReadonlyMap<string, Uint8Array<ArrayBuffer>>>;
};

/** Throws with a sentence when the package cannot be downloaded, or does not have the pinned hash. */
export async function openPackage(
  { name, version, integrity }: PinnedPackage,
  download: Download = downloadWithNpm(),
): Promise<OpenedPackage> {
  const archive = await download(`${name}@${version}`);
  if (!hasIntegrity(archive, integrity)) {
    throw new Error(`what was downloaded as ${name}@${version} has another hash than the pinned one`);
  }
  return {
    async read(path) {
      const entry = `package/${path}`;
      const file = (await new Bun.Archive(archive).files(entry)).get(entry);
      if (!file) throw new Error(`${name}@${version} has no ${path} in it`);
      return file.bytes();
    },
    async readAll(pattern) {
      const files = await new Bun.Archive(archive).files(`package/${pattern}`);
      const read = Array.from(files, async ([entry, file]) => {
        return [entry.slice("package/".length), await file.bytes()] as const;
      });
      return new Map(await Promise.all(read));
    },
  };
}

/** `integrity` is a hash as npm writes it: the algorithm, a hyphen, base64. */
export function hasIntegrity(bytes: Uint8Array, integrity: string): boolean {
  return hash(bytes, integrity.split("-", 1)[0]) === integrity;
}

export function hash(bytes: Uint8Array, algorithm = "sha512"): string {
  return `${algorithm}-${createHash(algorithm).update(bytes).digest("base64")}`;
}

/** For callers with a time limit, because npm's default is to retry for minutes. */
const FEW_RETRIES = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000"];

/** Without `withinMs`, npm decides how long to try. */
export function downloadWithNpm(withinMs?: number): Download {
  return async (specifier) => {
    const npm = Bun.which("npm");
    if (!npm) throw new Error("npm is not installed");
    const folder = mkdtempSync(join(tmpdir(), "gatehouse-npm-"));
    try {
      const command = [npm, "pack", specifier, "--pack-destination", folder, "--prefer-offline"];
      const options = withinMs === undefined ? [] : FEW_RETRIES;
      const child = Bun.spawn([...command, ...options, "--loglevel=error"], {
        cwd: ROOT,
        stdin: "ignore",
        stdout: "ignore",
        stderr: "pipe",
        ...(withinMs !== undefined && { timeout: withinMs }),
      });
      const complaint = await child.stderr.text();
      if ((await child.exited) !== 0) {
        const reason = child.signalCode === null ? findCode(complaint) : `not within ${withinMs} ms`;
        throw new Error(`${specifier} could not be downloaded (${reason})`);
      }
      const archive = readdirSync(folder).find((file) => file.endsWith(".tgz"));
      if (archive === undefined) throw new Error(`${specifier} could not be downloaded`);
      return await Bun.file(join(folder, archive)).bytes();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

function findCode(complaint: string): string {
  return /\bcode (\w+)/.exec(complaint)?.[1] ?? "npm gave no reason";
}
