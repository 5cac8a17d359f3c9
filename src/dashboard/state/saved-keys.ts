// The keys that are kept until the tab is closed: one a line, in the item that a single key has alone.
import { deleteSavedCredential, findSavedCredential, saveCredential } from "./session.ts";

/** No key has it: a header holds visible characters only. */
const SEPARATOR = "\n";

export function listSavedKeys(): readonly string[] {
  return findSavedCredential()?.split(SEPARATOR) ?? [];
}

export function saveKeys(keys: readonly string[]): void {
  if (keys.length === 0) deleteSavedCredential();
  else saveCredential(keys.join(SEPARATOR));
}
