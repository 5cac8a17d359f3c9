// The keyed hash of identities. Its key is derived from the operator's secret and is not in the archive, so that whoever has
// the archive alone cannot tell whom a forgotten entry was about.
import { createHmac, hkdfSync } from "node:crypto";
import type { HashIdentity } from "../../core/events/reading.ts";

const HASH_BYTES = 16;
/** Entries of log lists come again with every reading, so their hashes are kept: at most twice this many. */
const CACHED_MAX = 50_000;

export function createIdentityHash(secret: string): HashIdentity {
  const key = new Uint8Array(hkdfSync("sha256", secret, "gatehouse", "identities.v1", 32));
  let recent = new Map<string, string>();
  let older = new Map<string, string>();
  return (text) => {
    const cached = recent.get(text);
    if (cached !== undefined) return cached;
    const hash = older.get(text) ?? hashText(key, text);
    if (recent.size >= CACHED_MAX) [older, recent] = [recent, new Map()];
    recent.set(text, hash);
    return hash;
  };
}

function hashText(key: Uint8Array, text: string): string {
  const digest = createHmac("sha256", key).update(text).digest();
  return digest.subarray(0, HASH_BYTES).toString("base64url");
}
