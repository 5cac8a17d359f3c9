// The keyed hash of identities. Its key is derived from the operator's secret and is not in the archive, so that whoever has
// the archive alone cannot tell whom a forgotten entry was about.
import { createHmac, hkdfSync } from "node:crypto";
import type { HashIdentity } from "../../core/events/reading.ts";

const HASH_BYTES = 16;

export function createIdentityHash(secret: string): HashIdentity {
  const key = new Uint8Array(hkdfSync("sha256", secret, "gatehouse", "identities.v1", 32));
  return (text) =>
    createHmac("sha256", key).update(text).digest().subarray(0, HASH_BYTES).toString("base64url");
}
