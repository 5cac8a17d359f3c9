// The kinds of commands that a staff report counts one by one.

export const COMMAND_KINDS = ["kick", "ban", "jail", "message", "teleport"] as const;
export type CommandKind = (typeof COMMAND_KINDS)[number];
export type KindCounts = Readonly<Record<CommandKind, number>>;

export const NO_KINDS: KindCounts = { kick: 0, ban: 0, jail: 0, message: 0, teleport: 0 };

const KINDS: ReadonlyMap<string, CommandKind> = new Map([
  ["kick", "kick"],
  ["ban", "ban"],
  ["jail", "jail"],
  ...["h", "hint", "m", "message", "pm", "privatemessage"].map((name) => [name, "message"] as const),
  ...["tp", "teleport", "bring", "to"].map((name) => [name, "teleport"] as const),
]);
/** No name of a kind is longer. */
const BEGINNING_LENGTH = 40;

/** Null for every other command. `text` is what the game shows, which need not be a text. */
export function findCommandKind(text: unknown): CommandKind | null {
  if (typeof text !== "string") return null;
  const [, name = ""] = /^\s*[:;]?\s*(\w+)(?:\s|$)/.exec(text.slice(0, BEGINNING_LENGTH)) ?? [];
  return KINDS.get(name.toLowerCase()) ?? null;
}
