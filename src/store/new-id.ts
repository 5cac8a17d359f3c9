// The ids of servers and keys. How one begins says what it is of, and Redis' directory relies on it; the rest cannot be guessed.
import { randomBytes } from "node:crypto";
import { randomBase62 } from "../core/token.ts";

const LENGTH = 20;

export function newId(prefix: "srv_" | "key_"): string {
  return prefix + randomBase62(LENGTH, randomBytes);
}
