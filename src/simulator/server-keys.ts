// Checks server keys and global keys by their text alone: every well-formed server key is valid and has its own town.

const SERVER_KEY = /^([A-Za-z0-9]+)-([A-Za-z0-9]+)$/;
const KEY_LENGTH_MAX = 256;

const CODE_OF_FIRST_PART: ReadonlyMap<string, number> = new Map([
  ["invalid", 2002],
  ["banned", 2004],
  ["offline", 3002],
]);

/** The server's id: the part of the key after the hyphen. Empty for a malformed key. */
export function serverIdOf(serverKey: string): string {
  return match(serverKey)?.[2] ?? "";
}

/** The error code for a call with these keys; undefined when both are valid. */
export function judgeKeys(serverKey: string, globalKey: string): number | undefined {
  if (serverKey === "") return 2000;
  const parts = match(serverKey);
  if (!parts) return 2001;
  if (globalKey === "invalid") return 2003;
  return CODE_OF_FIRST_PART.get(parts[1] ?? "");
}

function match(serverKey: string): RegExpExecArray | null {
  return serverKey.length <= KEY_LENGTH_MAX ? SERVER_KEY.exec(serverKey) : null;
}
