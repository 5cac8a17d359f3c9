// The data folder and its files: owned by our user, writable, and not accessible to other users.
import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { SECRET_MIN_CHARACTERS } from "../instance/config.ts";
import { type Finding, reportAs } from "./finding.ts";

const { fail, ok, skip, warn } = reportAs("data folder");
const KEY_FILES: ReadonlySet<string> = new Set(["secret.key", "master.key", "demo.key"]);
const FILES = ["gatehouse.db", "gatehouse.db-wal", "gatehouse.db-shm", "gatehouse.db.lock", ...KEY_FILES];
const ROOT = 0;

export type FileFacts = { readonly name: string; readonly mode: number; readonly owner: number };

export type FolderFacts = {
  readonly path: string;
  /** Undefined where files have no owners, as on Windows. */
  readonly userId: number | undefined;
  readonly mode: number;
  readonly owner: number;
  readonly isWritable: boolean;
  readonly files: readonly FileFacts[];
  /** Undefined when there is none, or it cannot be read. */
  readonly masterKeyCharacters: number | undefined;
};

/** Undefined when the folder does not exist yet. */
export function inspectDataFolder(path: string): FolderFacts | undefined {
  if (!existsSync(path)) return undefined;
  const { mode, uid } = statSync(path);
  return {
    path,
    userId: process.getuid?.(),
    mode: mode & 0o777,
    owner: uid,
    isWritable: isAllowed(path, constants.W_OK | constants.X_OK),
    files: FILES.map((name) => inspectFile(path, name)).filter((file) => file !== undefined),
    masterKeyCharacters: findSecret(path, "master.key")?.length,
  };
}

function inspectFile(folder: string, name: string): FileFacts | undefined {
  const found = statSync(join(folder, name), { throwIfNoEntry: false });
  return found && { name, mode: found.mode & 0o777, owner: found.uid };
}

/** The content of a key file; undefined when it is absent, empty or not readable for us. */
export function findSecret(folder: string, name: string): string | undefined {
  const file = join(folder, name);
  if (!existsSync(file) || !isAllowed(file, constants.R_OK)) return undefined;
  return readFileSync(file, "utf8").trim() || undefined;
}

function isAllowed(path: string, access: number): boolean {
  try {
    accessSync(path, access);
    return true;
  } catch {
    return false;
  }
}

export function judgeDataFolder(facts: FolderFacts | undefined, path: string): Finding[] {
  if (!facts) return skip(`${path} does not exist yet; the first start creates it.`);
  const findings = [
    ...judgeOwners(facts),
    ...judgeFolderMode(facts),
    ...facts.files.flatMap((file) => judgeFileMode(facts, file)),
    ...judgeMasterKey(facts),
  ];
  return findings.length > 0 ? findings : ok(`${path} is writable, and not accessible to other users.`);
}

function judgeOwners({ path, userId, owner, isWritable, files }: FolderFacts): Finding[] {
  if (userId === undefined) return [];
  // Root may check the folder of another user; then the files must belong to the folder's owner.
  const expected = userId === ROOT ? owner : userId;
  const findings: Finding[] = [];
  if (owner !== expected) {
    findings.push(
      ...fail(
        `${path} belongs to user ${owner}, and this is user ${userId}.`,
        `Run the command as the user that Gatehouse runs as, or give that user the folder: chown -R ${userId} ${quote(path)}`,
      ),
    );
  } else if (!isWritable) {
    findings.push(...fail(`${path} cannot be written to.`, `Allow it: chmod u+rwx ${quote(path)}`));
  }
  for (const file of files.filter((file) => file.owner !== owner)) {
    findings.push(
      ...fail(
        `${file.name} belongs to user ${file.owner}, and its folder to user ${owner}.`,
        `Give it to the folder's owner: chown ${owner} ${quote(join(path, file.name))}`,
      ),
    );
  }
  return findings;
}

function judgeFolderMode({ path, userId, mode }: FolderFacts): Finding[] {
  if (userId === undefined || (mode & 0o077) === 0) return [];
  const remedy = `Restrict it: chmod 700 ${quote(path)}`;
  if ((mode & 0o022) !== 0) {
    return fail(`Other users can replace files in ${path} (mode ${octal(mode)}).`, remedy);
  }
  return warn(`Other users can list the files in ${path} (mode ${octal(mode)}).`, remedy);
}

function judgeFileMode({ path, userId }: FolderFacts, { name, mode }: FileFacts): Finding[] {
  if (userId === undefined) return [];
  const remedy = `Restrict it to its owner: chmod 600 ${quote(join(path, name))}`;
  const isOpen = (mode & 0o077) !== 0;
  if (KEY_FILES.has(name)) {
    const problem = isOpen ? "is open to other users" : "is not readable for its owner";
    return mode === 0o600 || mode === 0o400 ? [] : fail(`${name} ${problem} (mode ${octal(mode)}).`, remedy);
  }
  if ((mode & 0o600) !== 0o600) {
    return fail(`${name} cannot be read and written by its owner (mode ${octal(mode)}).`, remedy);
  }
  return isOpen ? warn(`${name} is open to other users (mode ${octal(mode)}).`, remedy) : [];
}

function judgeMasterKey({ masterKeyCharacters }: FolderFacts): Finding[] {
  if (masterKeyCharacters === undefined || masterKeyCharacters >= SECRET_MIN_CHARACTERS) return [];
  return fail(
    `master.key has fewer than ${SECRET_MIN_CHARACTERS} characters.`,
    "Put a longer one there, or delete the file: the next start creates one.",
  );
}

function octal(mode: number): string {
  return `0${mode.toString(8).padStart(3, "0")}`;
}

/** Quotes the path, so that the remedy can be copied into a shell. */
function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
