// The secrets of an instance: read from its data folder or generated, and the same on every instance of a store.
import { StartRefused } from "../core/errors.ts";
import { hashToken } from "../core/keys/token.ts";
import type { SettingStore } from "../core/ports/store.ts";
import { isSealedDatabase } from "../database/store/open-store-file.ts";
import { findMasterKeyProblem } from "./config.ts";
import type { DataFolder } from "./data-folder.ts";

export function obtainMasterKey(folder: DataFolder): string {
  const masterKey = folder.obtainSecret("master.key");
  const problem = findMasterKeyProblem(masterKey);
  if (problem === undefined) return masterKey;
  throw new StartRefused(
    `the content of master.key in ${folder.path} ${problem} — correct it, or delete the file to have one generated`,
  );
}

/** Never generates a secret for a database that is already encrypted: it could not be read with a new one. */
export function obtainStoreSecret(folder: DataFolder): string {
  const isLost = folder.findSecret("secret.key") === undefined && isSealedDatabase(folder.databasePath);
  if (!isLost) return folder.obtainSecret("secret.key");
  throw new StartRefused(
    `secret.key is missing in ${folder.path}, and without it the stored server keys cannot be read — ` +
      "put it back, or set GATEHOUSE_SECRET",
  );
}

/**
 * Stores the hash of the key, and returns the key if it is new. Called at the end of a start, so that the first start that
 * succeeds shows a generated key.
 */
export async function rememberMasterKey(settings: SettingStore, masterKey: string): Promise<string | undefined> {
  const hash = hashToken(masterKey);
  if ((await settings.find("master-key-hash")) === hash) return undefined;
  await settings.save("master-key-hash", hash);
  return masterKey;
}

/** Refuses to start when another instance has another master key: the key of the first instance is the valid one. */
export async function checkSharedMasterKey(settings: SettingStore, masterKey: string): Promise<void> {
  const hash = hashToken(masterKey);
  const current = await settings.find("master-key-hash");
  const expected = current ?? (await settings.saveIfAbsent("first-master-key-hash", hash));
  if (expected === hash) return;
  throw new StartRefused(
    "another instance on this Redis has another master key — set GATEHOUSE_MASTER_KEY to the same on all of them",
  );
}
