// The keys that are kept until the tab is closed: one a line, in the item that a single key has alone. The device of this browser
// is one of them, and the only one in a new tab.
import { isDeviceNoted, SAVED_DEVICE } from "./device.ts";
import { deleteSavedCredential, findSavedCredential, saveCredential } from "./session.ts";

/** No key has it: a header holds visible characters only. */
const SEPARATOR = "\n";

export function listSavedKeys(): readonly string[] {
  const saved = findSavedCredential()?.split(SEPARATOR);
  if (isDeviceNoted()) return saved ?? [SAVED_DEVICE];
  // Another tab may have signed the device out.
  return saved?.filter((key) => key !== SAVED_DEVICE) ?? [];
}

export function saveKeys(keys: readonly string[]): void {
  if (keys.length === 0) deleteSavedCredential();
  else saveCredential(keys.join(SEPARATOR));
}
