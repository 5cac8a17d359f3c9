// The secrets an instance starts with: found in its folder or made up, and the same on every instance of a store.
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
    `what is in master.key in ${folder.path} ${problem} — correct it, or delete the file and have one made`,
  );
}

/** Making up a new secret for a database that has one would only hide that the old one is lost. */
export function obtainStoreSecret(folder: DataFolder): string {
  const isLost = folder.findSecret("secret.key") === undefined && isSealedDatabase(folder.databasePath);
  if (!isLost) return folder.obtainSecret("secret.key");
  throw new StartRefused(
    `secret.key is missing in ${folder.path}, and without it the stored server keys cannot be read — ` +
      "put it back, or set GATEHOUSE_SECRET",
  );
}

/** The key, if the store has not seen it before. Noted last: a made-up key is shown by the first start that succeeds. */
export async function noteMasterKey(settings: SettingStore, masterKey: string): Promise<string | undefined> {
  const hash = hashToken(masterKey);
  if ((await settings.find("master-key-hash")) === hash) return undefined;
  await settings.save("master-key-hash", hash);
  return masterKey;
}

/** Instances that each make up a master key would each have their own; the first one's counts. */
export async function agreeOnMasterKey(settings: SettingStore, masterKey: string): Promise<void> {
  const hash = hashToken(masterKey);
  const noted = await settings.find("master-key-hash");
  const kept = noted ?? (await settings.saveIfAbsent("first-master-key-hash", hash));
  if (kept === hash) return;
  throw new StartRefused(
    "another instance on this Redis has another master key — set GATEHOUSE_MASTER_KEY to the same on all of them",
  );
}
