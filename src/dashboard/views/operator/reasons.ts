// Recognises the admin API's English reasons for refusing a field, to show them in the user's language. An unknown reason is
// shown in English.
import type { operatorEn } from "../../locales/operator-en.ts";

export type ReasonName = keyof typeof operatorEn.operatorReasons;

const REASONS: readonly (readonly [RegExp, ReasonName])[] = [
  [/^must be a (?:name|label) of 1 to 100 characters, without control characters$/, "text"],
  [/^must be a server key of the game API: /, "serverKey"],
  [/^must be 1 to 64 letters, digits, _ or -, or null$/, "community"],
  [/^belongs to another server already$/, "nameTaken"],
  [/^has a slug that belongs to another server already$/, "slugTaken"],
  [/^must be null, or an object with slug /, "slug"],
  [/^must be a list of at most 100 command names /, "commands"],
  [/^has a name twice; case makes no difference$/, "commandTwice"],
  [/^must be a list of at most 100 addresses or ranges /, "addresses"],
  [/^has neither an address nor a range like 10\.0\.0\.0\/8 in place (?<place>\d+)$/, "address"],
  [/^must be a time to come in epoch milliseconds, or null$/, "expiry"],
  [/^there is no such server$/, "noServer"],
  [/^must be a whole number of seconds from 0 to 2592000 \(30 days\)$/, "grace"],
  [/^must be true or false$/, "yesOrNo"],
  [/^is required$/, "required"],
  [/^is revoked, and stays so$/, "revoked"],
  [/^no longer waits$/, "waitsNoMore"],
];

export type KnownReason = { readonly name: ReasonName; readonly place: string };

export function recogniseReason(reason: string): KnownReason | undefined {
  for (const [shape, name] of REASONS) {
    const match = shape.exec(reason);
    if (match) return { name, place: match.groups?.place ?? "" };
  }
  return undefined;
}
