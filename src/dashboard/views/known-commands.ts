// The common commands of the game: suggestions for the command line, and which commands need a confirmation. The game has
// more commands, and the user can send any text.
import type { PlayerRef } from "../player-ref.ts";

type Argument = "players" | readonly string[];

/** Each command with what its arguments may be. */
const ARGUMENTS = {
  h: [],
  m: [],
  pm: ["players"],
  kick: ["players"],
  ban: ["players"],
  unban: [],
  wanted: ["players"],
  unwanted: ["players"],
  jail: ["players"],
  unjail: ["players"],
  tp: ["players", "players"],
  bring: ["players"],
  respawn: ["players"],
  heal: ["players"],
  load: ["players"],
  refresh: ["players"],
  kill: ["players"],
  weather: [["clear", "rain", "thunderstorm", "fog", "snow"]],
  time: [["6", "12", "18", "0"]],
  priority: [["300", "600", "0"]],
  peacetimer: [["300", "600", "0"]],
  startfire: [["house", "brush", "nearhouse"]],
  stopfire: [],
  mod: ["players"],
  unmod: ["players"],
  admin: ["players"],
  unadmin: ["players"],
  helper: ["players"],
  unhelper: ["players"],
  shutdown: [],
} as const satisfies Record<string, readonly Argument[]>;

export type KnownCommand = keyof typeof ARGUMENTS;
export const KNOWN_COMMANDS = Object.keys(ARGUMENTS) as KnownCommand[];

const EVERYBODY: ReadonlySet<string> = new Set(["all", "others"]);
const SUGGESTIONS_MAX = 8;
/** These need a confirmation for any target. */
const HARD_TO_UNDO: ReadonlySet<string> = new Set([
  "ban",
  "shutdown",
  "admin",
  "unadmin",
  "mod",
  "unmod",
  "helper",
  "unhelper",
]);
/** These need a confirmation when they are for everybody. */
const DANGEROUS_FOR_ALL: ReadonlySet<string> = new Set([
  ...["kick", "kill", "jail", "wanted", "respawn", "load", "refresh", "tp", "teleport", "bring"],
]);

export type Suggestion = {
  /** The whole line after accepting the suggestion. */
  readonly line: string;
  readonly label: string;
  /** The name of the command, when a command is suggested. */
  readonly command: KnownCommand | undefined;
  /** The id of the player, when a player is suggested. */
  readonly playerId: string | undefined;
};

/** How the line could continue, best suggestion first. */
export function suggest(line: string, players: readonly PlayerRef[]): Suggestion[] {
  const words = line.trimStart().split(/\s+/);
  const [first = "", ...rest] = words;
  if (!first.startsWith(":")) return [];
  if (rest.length === 0) return suggestCommands(first.slice(1).toLowerCase());
  const name = first.slice(1).toLowerCase();
  const argument = (ARGUMENTS as Record<string, readonly Argument[]>)[name]?.[rest.length - 1];
  const typed = rest.at(-1) ?? "";
  const before = line.slice(0, line.length - typed.length);
  if (argument === "players") return suggestPlayers(before, typed, players);
  if (argument === undefined) return [];
  return argument
    .filter((choice) => choice.startsWith(typed.toLowerCase()) && choice !== typed.toLowerCase())
    .map((choice) => ({
      line: `${before}${choice}`,
      label: choice,
      command: undefined,
      playerId: undefined,
    }));
}

function suggestCommands(typed: string): Suggestion[] {
  return KNOWN_COMMANDS.filter((command) => command.startsWith(typed))
    .slice(0, typed === "" ? KNOWN_COMMANDS.length : SUGGESTIONS_MAX)
    .map((command) => ({ line: `:${command} `, label: `:${command}`, command, playerId: undefined }));
}

/** Targets can be a list with commas; the last one is being typed. */
function suggestPlayers(before: string, typed: string, players: readonly PlayerRef[]): Suggestion[] {
  const comma = typed.lastIndexOf(",") + 1;
  const begun = typed.slice(comma).toLowerCase();
  const kept = before + typed.slice(0, comma);
  const starts = players.filter(({ name }) => name.toLowerCase().startsWith(begun));
  const holds = players.filter((player) => {
    return !starts.includes(player) && begun !== "" && player.name.toLowerCase().includes(begun);
  });
  const found = [...starts, ...holds]
    .filter(({ name, id }) => id !== undefined || !isEverybody(name))
    .slice(0, SUGGESTIONS_MAX)
    .map((player) => {
      return {
        line: `${kept}${targetOf(player)} `,
        label: player.name,
        command: undefined,
        playerId: player.id,
      };
    });
  const groups = begun === "" ? [] : [...EVERYBODY].filter((word) => word.startsWith(begun));
  return [
    ...found,
    ...groups.map((word) => ({
      line: `${kept}${word} `,
      label: word,
      command: undefined,
      playerId: undefined,
    })),
  ];
}

/** The id instead of the name when the name is not one word, or is a word for everybody. */
function targetOf({ name, id }: PlayerRef): string {
  return (/^\w+$/.test(name) && !isEverybody(name)) || id === undefined ? name : id;
}

function isEverybody(target: string): boolean {
  return EVERYBODY.has(target.toLowerCase());
}

/** Why a command needs a confirmation before it is sent; undefined when it needs none. */
export function findDanger(line: string): "hardToUndo" | "everybody" | undefined {
  const [first = "", targets = ""] = line.trim().toLowerCase().split(/\s+/);
  const name = first.replace(/^:/, "");
  const isForAll = targets.split(",").some(isEverybody);
  if (isForAll && (HARD_TO_UNDO.has(name) || DANGEROUS_FOR_ALL.has(name))) return "everybody";
  return HARD_TO_UNDO.has(name) ? "hardToUndo" : undefined;
}
