// Reads a typed line as the game would: the name of the command, the players that it names, and the rest. A missing colon and
// spaces after commas are mended.
import { findArguments, type TargetKind } from "./known-commands.ts";

/** The targets of one argument, as they were typed. */
export type TargetWords = { readonly kind: TargetKind; readonly words: readonly string[] };

export type ParsedLine = {
  /** The name of the command without its colon, as it was typed. */
  readonly name: string;
  /** Whether the colon was missing, doubled, or another character stood in its place. */
  readonly isMended: boolean;
  /** Whether this page knows what the command takes. */
  readonly isKnown: boolean;
  /** One for each argument that names players and that the line has. */
  readonly targets: readonly TargetWords[];
  /** Whether the command takes players and the line names none. */
  readonly lacksTarget: boolean;
  /** What follows the targets. */
  readonly rest: string;
};

/** What people type in place of the colon, also with a space after it. */
const LEAD = /^[:：;/!.\\]*\s*/u;

/**
 * Undefined when the line is no command: it has no colon, and its first word is no known command. `isTarget` says whether
 * a word after a comma and a space is meant as a target.
 */
export function parseLine(line: string, isTarget: (word: string) => boolean): ParsedLine | undefined {
  const text = line.trim();
  const lead = LEAD.exec(text)?.[0] ?? "";
  const { word: name, after } = takeWord(text.slice(lead.length));
  const takes = findArguments(name);
  const isMended = lead !== ":";
  if (name === "" || (isMended && takes === undefined)) return undefined;
  const targets: TargetWords[] = [];
  let rest = after;
  for (const kind of takes ?? []) {
    if (typeof kind === "object" || rest === "") break;
    const list = takeTargets(rest, isTarget);
    targets.push({ kind, words: list.words });
    rest = list.after;
  }
  const takesTargets = typeof takes?.[0] === "string";
  const lacksTarget = takesTargets && !targets[0]?.words.length;
  return { name, isMended, isKnown: takes !== undefined, targets, lacksTarget, rest };
}

/** The line that is sent, with these targets in place of the typed ones. */
export function writeLine({ name, rest }: ParsedLine, targets: readonly (readonly string[])[]): string {
  return [`:${name}`, ...targets.map((words) => words.join(",")), rest].filter((part) => part !== "").join(" ");
}

function takeWord(text: string): { word: string; after: string } {
  const [, word = "", after = ""] = /^(\S*)\s*(.*)$/su.exec(text) ?? [];
  return { word, after };
}

/** The game reads a list up to the first space, so a space after a comma would turn a target into text. */
function takeTargets(text: string, isTarget: (word: string) => boolean): { words: string[]; after: string } {
  let { word: list, after } = takeWord(text);
  for (;;) {
    const next = takeWord(after);
    const isOpen = list.endsWith(",") || next.word.startsWith(",");
    const [first = ""] = splitList(next.word);
    if (!isOpen || (first !== "" && !isTarget(first)) || next.word === "") break;
    list += next.word;
    after = next.after;
  }
  return { words: splitList(list), after };
}

function splitList(list: string): string[] {
  return list.split(",").filter((word) => word !== "");
}
