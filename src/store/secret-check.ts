// A known text, sealed with the operator's secret and kept in the settings: tells whether a secret is the right one.
import type { Sealer } from "./sealer.ts";

export const SECRET_CHECK = "secret-check";

/** `kept` is the setting's value. */
export function isRightSecret(kept: string, sealer: Sealer): boolean {
  try {
    sealer.open(Buffer.from(kept, "base64"), SECRET_CHECK);
    return true;
  } catch {
    return false;
  }
}

export function sealSecretCheck(sealer: Sealer): string {
  return Buffer.from(sealer.seal(SECRET_CHECK, SECRET_CHECK)).toString("base64");
}
