// The commands for one player: which there are, which of them a key may send, and their text. Pure.
import { COMMAND_CHARACTERS_MAX, mayRun, parseCommand } from "../../../core/commands/command.ts";
import { isRefusal } from "../../../core/errors.ts";
import type { KnownCommand } from "../commands/known-commands.ts";
import type { Target } from "./player-target.ts";

export type PlayerCommand = {
  readonly name: Extract<KnownCommand, keyof typeof COMMANDS>;
  /** Whether a text follows the player. */
  readonly text: "required" | "optional" | "none";
  /** Whether it also makes sense for a player who is not on the server. */
  readonly isForAbsent: boolean;
  /** Whether the player loses something by it. */
  readonly isGrave: boolean;
};

type Traits = readonly ("text" | "reason" | "absent" | "grave")[];

/**
 * Only `pm` and `kick` take a text: what the game does with words after other commands is not known, and it could take them for
 * more players.
 */
const COMMANDS = {
  pm: ["text"],
  kick: ["reason", "grave"],
  jail: ["grave"],
  unjail: [],
  wanted: ["grave"],
  unwanted: [],
  heal: [],
  refresh: [],
  respawn: [],
  load: [],
  kill: ["grave"],
  ban: ["absent", "grave"],
  unban: ["absent"],
} as const satisfies Partial<Record<KnownCommand, Traits>>;

const ALL = Object.entries<Traits>(COMMANDS).map(
  ([name, traits]): PlayerCommand => ({
    name: name as PlayerCommand["name"],
    text: traits.includes("text") ? "required" : traits.includes("reason") ? "optional" : "none",
    isForAbsent: traits.includes("absent"),
    isGrave: traits.includes("grave"),
  }),
);

export type Presence = "here" | "away" | "unknown";

/** In the order of use. `allowed` are the rights of the key. Nobody who is on the server is banned. */
export function listPlayerCommands(
  allowed: readonly string[],
  presence: Presence,
  team: string | undefined,
): readonly PlayerCommand[] {
  const isJailed = team === "Jail";
  return ALL.filter(({ name, isForAbsent }) => {
    if (presence === "away" && !isForAbsent) return false;
    if (presence === "here" && (name === "unban" || name === (isJailed ? "jail" : "unjail"))) return false;
    return mayRun(allowed, `:${name}`);
  });
}

export type CommandDraft =
  | { readonly kind: "ready"; readonly text: string }
  /** `noText`: the text is still to be written. */
  | { readonly kind: "unready"; readonly because: "noTarget" | "noText" | "tooLong" | "unsendable" };

/** `words` is what the user has typed. */
export function writePlayerCommand({ name, text }: PlayerCommand, target: Target, words: string): CommandDraft {
  if (target.kind === "none") return { kind: "unready", because: "noTarget" };
  const typed = text === "none" ? "" : words.trim();
  if (text === "required" && typed === "") return { kind: "unready", because: "noText" };
  const line = [`:${name}`, target.text, typed].filter((part) => part !== "").join(" ");
  if (Array.from(line).length > COMMAND_CHARACTERS_MAX) return { kind: "unready", because: "tooLong" };
  const parsed = parseCommand({ command: line });
  return isRefusal(parsed) ? { kind: "unready", because: "unsendable" } : { kind: "ready", text: parsed.text };
}
