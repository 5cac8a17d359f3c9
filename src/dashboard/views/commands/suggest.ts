// How a line could go on: every command that the key may send, every player on the server, and the words for everybody.
import { mayRun } from "../../../core/commands/command.ts";
import { findArguments, KNOWN_COMMANDS, type KnownCommand } from "./known-commands.ts";
import { type Candidate, EVERYBODY_WORDS, isSamePlayer, resolveTarget, writeTarget } from "./targets.ts";

export type Suggestion = {
  /** The whole line after accepting the suggestion. */
  readonly line: string;
  readonly label: string;
} & (
  | { readonly kind: "command"; readonly command: KnownCommand | undefined }
  | { readonly kind: "player"; readonly player: Candidate }
  | { readonly kind: "everybody"; readonly count: number }
  | { readonly kind: "choice" }
);

/** All of them, best first. `allowed` are the names of the commands that the key may send, or "*". */
export function suggest(
  line: string,
  players: readonly Candidate[],
  allowed: readonly string[],
): readonly Suggestion[] {
  const [first = "", ...rest] = line.trimStart().split(/\s+/u);
  if (rest.length === 0) return suggestCommands(first, allowed);
  const argument = findArguments(first.replace(/^:/, ""))?.[rest.length - 1];
  const typed = rest.at(-1) ?? "";
  const before = line.slice(0, line.length - typed.length);
  if (argument === undefined || argument === "banned") return [];
  if (typeof argument === "string") return suggestPlayers(before, typed, players);
  const begun = typed.toLowerCase();
  return argument
    .filter((choice) => choice.startsWith(begun) && choice !== begun)
    .map((choice) => ({ kind: "choice", line: `${before}${choice}`, label: choice }));
}

/** Also for a name that was begun without its colon. */
function suggestCommands(typed: string, allowed: readonly string[]): Suggestion[] {
  if (typed === "") return [];
  const begun = typed.replace(/^:/, "").toLowerCase();
  const known = KNOWN_COMMANDS.filter((command) => mayRun(allowed, `:${command}`));
  const others = allowed
    .map((name) => name.replace(/^:/, "").toLowerCase())
    .filter((name) => /^\w+$/.test(name) && !KNOWN_COMMANDS.some((command) => command === name));
  return [
    ...known.map((command) => ({ name: command as string, command })),
    ...others.map((name) => ({ name, command: undefined })),
  ]
    .filter(({ name }) => name.startsWith(begun))
    .map(({ name, command }) => ({ kind: "command", line: `:${name} `, label: `:${name}`, command }));
}

/** Targets can be a list with commas; the last one is being typed. */
function suggestPlayers(before: string, typed: string, players: readonly Candidate[]): Suggestion[] {
  const comma = typed.lastIndexOf(",") + 1;
  const begun = typed.slice(comma).toLowerCase();
  const kept = before + typed.slice(0, comma);
  const listed = typed.slice(0, comma).split(",");
  const isListed = (player: Candidate) =>
    listed.some((word) => {
      const target = resolveTarget(word, players);
      return target.kind === "one" && isSamePlayer(target.players[0], player);
    });
  const found = players
    .map((player) => ({ player, rank: rankPlayer(player, begun) }))
    .filter(({ player, rank }) => rank !== undefined && !(comma > 0 && isListed(player)))
    .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0) || compareNames(a.player, b.player))
    .flatMap(({ player }): Suggestion[] => {
      const target = writeTarget(player, players);
      if (target === undefined) return [];
      return [{ kind: "player", line: `${kept}${target} `, label: player.name, player }];
    });
  const groups = begun === "" ? [] : EVERYBODY_WORDS.filter((word) => word.startsWith(begun));
  return [
    ...found,
    ...groups.map(
      (word): Suggestion => ({ kind: "everybody", line: `${kept}${word} `, label: word, count: players.length }),
    ),
  ];
}

/** Names that begin with the text come first, then those that hold it, then ids that begin with it. */
function rankPlayer({ name, id }: Candidate, begun: string): number | undefined {
  const lower = name.toLowerCase();
  if (lower.startsWith(begun)) return 0;
  if (lower.includes(begun)) return 1;
  return id?.startsWith(begun) ? 2 : undefined;
}

function compareNames(a: Candidate, b: Candidate): number {
  const [first, second] = [a.name.toLowerCase(), b.name.toLowerCase()];
  return first < second ? -1 : first > second ? 1 : 0;
}
