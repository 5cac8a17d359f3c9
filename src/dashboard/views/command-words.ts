// The usual commands of the game: completing what is being typed, and which of them one should think about twice.
// The game knows more; whatever is typed may be sent.
import type { PlayerRef } from "../player-ref.ts";

type Argument = "players" | readonly string[];

/** Each with what its first words after the name may be. */
const WORDS = {
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

export type CommandWord = keyof typeof WORDS;
export const COMMAND_WORDS = Object.keys(WORDS) as CommandWord[];

const EVERYBODY: ReadonlySet<string> = new Set(["all", "others"]);
const SUGGESTIONS_MAX = 8;
/** Of these, one victim is enough to ask. */
const GRAVE: ReadonlySet<string> = new Set([
  "ban",
  "shutdown",
  "admin",
  "unadmin",
  "mod",
  "unmod",
  "helper",
  "unhelper",
]);
/** These are asked about when they are for everybody. */
const GRAVE_FOR_ALL: ReadonlySet<string> = new Set([
  ...["kick", "kill", "jail", "wanted", "respawn", "load", "refresh", "tp", "teleport", "bring"],
]);

export type Suggestion = {
  /** The whole line, were it taken. */
  readonly line: string;
  readonly label: string;
  /** For a command its name, for a player the id. */
  readonly word: CommandWord | undefined;
  readonly note: string | undefined;
};

/** What the line could go on with, best first. */
export function suggest(line: string, players: readonly PlayerRef[]): Suggestion[] {
  const words = line.trimStart().split(/\s+/);
  const [first = "", ...rest] = words;
  if (!first.startsWith(":")) return [];
  if (rest.length === 0) return suggestWords(first.slice(1).toLowerCase());
  const name = first.slice(1).toLowerCase();
  const argument = (WORDS as Record<string, readonly Argument[]>)[name]?.[rest.length - 1];
  const typed = rest.at(-1) ?? "";
  const before = line.slice(0, line.length - typed.length);
  if (argument === "players") return suggestPlayers(before, typed, players);
  if (argument === undefined) return [];
  return argument
    .filter((choice) => choice.startsWith(typed.toLowerCase()) && choice !== typed.toLowerCase())
    .map((choice) => ({ line: `${before}${choice}`, label: choice, word: undefined, note: undefined }));
}

function suggestWords(typed: string): Suggestion[] {
  return COMMAND_WORDS.filter((word) => word.startsWith(typed))
    .slice(0, typed === "" ? COMMAND_WORDS.length : SUGGESTIONS_MAX)
    .map((word) => ({ line: `:${word} `, label: `:${word}`, word, note: undefined }));
}

/** Targets may be a list with commas; the last of them is being typed. */
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
      return { line: `${kept}${targetOf(player)} `, label: player.name, word: undefined, note: player.id };
    });
  const groups = begun === "" ? [] : [...EVERYBODY].filter((word) => word.startsWith(begun));
  return [
    ...found,
    ...groups.map((word) => ({ line: `${kept}${word} `, label: word, word: undefined, note: undefined })),
  ];
}

/** A name that could not stand as one word in a command, or would mean everybody, is replaced by the id. */
function targetOf({ name, id }: PlayerRef): string {
  return (/^\w+$/.test(name) && !isEverybody(name)) || id === undefined ? name : id;
}

function isEverybody(target: string): boolean {
  return EVERYBODY.has(target.toLowerCase());
}

/** Why to ask before this is sent; undefined when there is no reason to. */
export function findDanger(line: string): "grave" | "everybody" | undefined {
  const [first = "", targets = ""] = line.trim().toLowerCase().split(/\s+/);
  const name = first.replace(/^:/, "");
  const isForAll = targets.split(",").some(isEverybody);
  if (isForAll && (GRAVE.has(name) || GRAVE_FOR_ALL.has(name))) return "everybody";
  return GRAVE.has(name) ? "grave" : undefined;
}
