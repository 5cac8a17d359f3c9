// Ids of servers and keys: a prefix for the kind, which the Redis directory relies on, and random characters.
import { randomBytes } from "node:crypto";
import { randomBase62 } from "../core/token.ts";

const LENGTH = 20;

export function newId(prefix: "srv_" | "key_"): string {
  return prefix + randomBase62(LENGTH, randomBytes);
}
