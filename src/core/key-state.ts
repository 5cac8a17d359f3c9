// The state of a key in one word, for people.
import type { KeyResource } from "./wire/key.ts";

export type KeyState = "active" | "suspended" | "expired" | "revoked";

/** Of several states, the one that is hardest to undo. */
export function judgeKeyState(
  key: Pick<KeyResource, "revoked_at" | "expires_at" | "suspended">,
  now: number,
): KeyState {
  if (key.revoked_at !== null) return "revoked";
  if (key.expires_at !== null && key.expires_at <= now) return "expired";
  return key.suspended ? "suspended" : "active";
}
