// The initials of a name, for the small pictures of players and servers. Pure.

/** Where a new word begins inside of a name without spaces: "FrostyOtter", "Frosty_Otter", "Unit 7". */
const WORD = /\p{Lu}\p{M}*\p{Ll}*|[\p{L}\p{M}]+|\p{N}+/gu;
const FIRST = /[\p{L}\p{N}]/u;

/** One or two characters, in capital letters; "?" for a name without letters and digits. */
export function writeInitials(name: string): string {
  // Names come from the game, so only their beginning is looked at.
  const words = name.slice(0, 200).match(WORD) ?? [];
  const letters = words.flatMap((word) => FIRST.exec(word)?.[0] ?? []);
  const [first = "?", second = ""] = letters;
  return (first + (/\p{N}/u.test(second) ? "" : second)).toUpperCase();
}
