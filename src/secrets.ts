// The secrets of an instance: read from its data folder or generated. All instances of a store must have the same ones.
import { findMasterKeyProblem } from "./config.ts";
import { StartRefused } from "./core/errors.ts";
import type { SettingStore } from "./core/ports/settings.ts";
import { hashToken } from "./core/token.ts";
import type { DataFolder } from "./data-folder.ts";
import { isSealedDatabase } from "./store/sqlite/open-database.ts";

export function obtainMasterKey(folder: DataFolder): string {
  const masterKey = folder.obtainSecret("master.key");
  const problem = findMasterKeyProblem(masterKey);
  if (problem === undefined) return masterKey;
  throw new StartRefused(
    `the key in ${folder.path}/master.key ${problem} — correct it, or delete the file so that a new one is generated`,
  );
}

/** Does not generate a secret for a database that was encrypted with another: that one is lost, and the start is refused. */
export function obtainStoreSecret(folder: DataFolder): string {
  const isLost = folder.findSecret("secret.key") === undefined && isSealedDatabase(folder.databasePath);
  if (!isLost) return folder.obtainSecret("secret.key");
  throw new StartRefused(
    `secret.key is missing in ${folder.path}, and without it the stored server keys cannot be read — ` +
      "put it back, or set GATEHOUSE_SECRET",
  );
}

/** Saves the key's hash. Returns the key if it is new. Called last in a start, so that the first successful one shows it. */
export async function recordMasterKey(
  settings: SettingStore,
  masterKey: string,
): Promise<string | undefined> {
  const hash = hashToken(masterKey);
  if ((await settings.find("master-key-hash")) === hash) return undefined;
  await settings.save("master-key-hash", hash);
  return masterKey;
}

/** Refuses the start when another instance has generated another master key before. */
export async function agreeOnMasterKey(settings: SettingStore, masterKey: string): Promise<void> {
  const hash = hashToken(masterKey);
  const recorded = await settings.find("master-key-hash");
  const agreed = recorded ?? (await settings.saveIfAbsent("first-master-key-hash", hash));
  if (agreed === hash) return;
  throw new StartRefused(
    "another instance on this Redis has another master key — set GATEHOUSE_MASTER_KEY to the same on all of them",
  );
}
