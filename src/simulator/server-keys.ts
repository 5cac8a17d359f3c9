// What a server key or a global key is worth, judged by its text alone: any well-formed key is a town of its own.

const SERVER_KEY = /^([A-Za-z0-9]+)-([A-Za-z0-9]+)$/;
const KEY_LENGTH_MAX = 256;

const CODE_OF_FIRST_PART: ReadonlyMap<string, number> = new Map([
  ["invalid", 2002],
  ["banned", 2004],
  ["offline", 3002],
]);

/** The server's stable id: what follows the hyphen, or nothing for a key that is not well-formed. */
export function serverIdOf(serverKey: string): string {
  return match(serverKey)?.[2] ?? "";
}

/** The code with which a call is refused, or undefined when both keys are good. */
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
