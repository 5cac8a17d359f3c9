// A known text, sealed and stored in the settings, to check later that the secret is still the same.
import type { Sealer } from "./sealer.ts";

export const SECRET_CHECK = "secret-check";

/** `stored` is the setting's value. */
export function isRightSecret(stored: string, sealer: Sealer): boolean {
  try {
    sealer.open(Buffer.from(stored, "base64"), SECRET_CHECK);
    return true;
  } catch {
    return false;
  }
}

export function sealSecretCheck(sealer: Sealer): string {
  return Buffer.from(sealer.seal(SECRET_CHECK, SECRET_CHECK)).toString("base64");
}
