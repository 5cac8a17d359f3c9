// Judges a typed line before it is sent: refused, ready, or to be confirmed, and by which exact words each player is named.
import { mayRun, parseCommand } from "../../../core/commands/command.ts";
import { isRefusal } from "../../../core/errors.ts";
import { isHardToUndo } from "./known-commands.ts";
import { type ParsedLine, parseLine, writeLine } from "./parse-line.ts";
import { type Candidate, keyOfPlayer, listMeant, resolveTarget, type Target, writeTarget } from "./targets.ts";

/** The players on the server, as far as this key can know them. */
export type Roster = {
  /** Undefined when they cannot be read. */
  readonly players: readonly Candidate[] | undefined;
  /** Whether players may have joined or left since they were read. */
  readonly isStale: boolean;
  /** Whether players are named by their ids, which stay right when somebody joins. */
  readonly isById?: boolean;
};

/** Why a command must be confirmed, apart from its targets. */
export type Concern = "colon" | "unknownCommand" | "noTarget" | "hardToUndo" | "unchecked" | "stale";

export type Plan = {
  readonly line: ParsedLine;
  /** One list for each argument that names players. */
  readonly targets: readonly (readonly Target[])[];
  readonly concerns: readonly Concern[];
  readonly players: readonly Candidate[] | undefined;
  readonly isById: boolean;
};

/**
 * `noCommand`: the text does not begin with a colon or a known command. `forbidden`: the key may not send it. A line that is
 * ready has no plan when it is sent as it was typed, without being read.
 */
export type Judgement =
  | { readonly kind: "refused"; readonly reason: "noCommand" | "forbidden" }
  | { readonly kind: "ready"; readonly text: string; readonly plan: Plan | undefined }
  | { readonly kind: "ask"; readonly plan: Plan };

/** The players chosen for each target that means several, by `choiceKey`; each player by `keyOfPlayer`. */
export type Choices = ReadonlyMap<string, ReadonlySet<string>>;

export type WrittenPlan = {
  readonly text: string;
  /** For each argument, everybody whom the game takes for it; undefined when the players cannot be read. */
  readonly meant: readonly (readonly Candidate[] | undefined)[];
};

const NO_CHOICES: Choices = new Map();

/** `allowed` are the names of the commands that the key may send, or "*". */
export function judgeLine(line: string, allowed: readonly string[], roster: Roster): Judgement {
  const { players } = roster;
  const isTarget = (word: string) => players !== undefined && listMeant([word], players).length > 0;
  const parsed = parseLine(line, isTarget);
  if (!parsed) {
    // An operator can allow names that do not begin with a colon.
    const [first = ""] = line.trim().split(/\s/u, 1);
    if (allowed.includes("*") || !mayRun(allowed, first)) return { kind: "refused", reason: "noCommand" };
    return { kind: "ready", text: line.trim(), plan: undefined };
  }
  if (!mayRun(allowed, `:${parsed.name}`)) return { kind: "refused", reason: "forbidden" };
  const targets = parsed.targets.map(({ kind, words }) => words.map((word) => resolveTarget(word, players, kind)));
  const plan: Plan = {
    line: parsed,
    targets,
    concerns: listConcerns(parsed, roster),
    players,
    isById: roster.isById ?? false,
  };
  const written = plan.concerns.length > 0 || !targets.flat().every(isCertain) ? undefined : writePlan(plan);
  const isForMany = written?.meant.some((meant) => (meant?.length ?? 0) > 1);
  return written && !isForMany ? { kind: "ready", text: written.text, plan } : { kind: "ask", plan };
}

/** Undefined while a target that means several players has no choice. */
export function writePlan(plan: Plan, choices: Choices = NO_CHOICES): WrittenPlan | undefined {
  const words: string[][] = [];
  for (const [index, targets] of plan.targets.entries()) {
    const written: string[] = [];
    for (const [position, target] of targets.entries()) {
      const chosen = choices.get(choiceKey(index, position));
      if (target.kind === "several" && !chosen?.size) return undefined;
      written.push(...writeWords(target, chosen, plan));
    }
    words.push([...new Set(written)]);
  }
  const text = writeLine(plan.line, words);
  const meant = words.map((list, index) => {
    const isAbsent = plan.line.targets[index]?.kind === "banned";
    return isAbsent ? [] : plan.players && listMeant(list, plan.players);
  });
  return { text, meant };
}

/** Names a target for `Choices`: the argument, and its position in the list. */
export function choiceKey(index: number, position: number): string {
  return `${index} ${position}`;
}

/** Whether two written plans mean the same players, so that one that was confirmed stands for the other. */
export function meansTheSame(a: WrittenPlan, b: WrittenPlan): boolean {
  return a.text === b.text && describeMeant(a) === describeMeant(b);
}

/** Whether Gatehouse takes the text; the names in place of the typed words can make it too long. */
export function isSendable(text: string): boolean {
  return !isRefusal(parseCommand({ command: text }));
}

function describeMeant({ meant }: WrittenPlan): string {
  return JSON.stringify(meant.map((players) => players?.map(keyOfPlayer).sort() ?? null));
}

function isCertain({ kind }: Target): boolean {
  return kind === "one" || kind === "absent";
}

function listConcerns(line: ParsedLine, { players, isStale }: Roster): Concern[] {
  const hasTargets = line.targets.some(({ kind, words }) => kind !== "banned" && words.length > 0);
  const concerns: Concern[] = [];
  if (line.isMended) concerns.push("colon");
  if (!line.isKnown && line.rest !== "") concerns.push("unknownCommand");
  if (line.lacksTarget) concerns.push("noTarget");
  if (isHardToUndo(line.name)) concerns.push("hardToUndo");
  if (hasTargets && !players) concerns.push("unchecked");
  if (hasTargets && players && isStale) concerns.push("stale");
  return concerns;
}

function writeWords(
  target: Target,
  chosen: ReadonlySet<string> | undefined,
  { players = [], isById }: Pick<Plan, "players" | "isById">,
): string[] {
  if (target.kind !== "one" && target.kind !== "part" && target.kind !== "several") return [target.word];
  const wanted =
    target.kind === "several" ? target.players.filter((player) => chosen?.has(keyOfPlayer(player))) : target.players;
  // A player whom no word names alone is named as typed; everybody whom that means is shown.
  return wanted.map((player) => {
    const id = isById ? writeTarget({ ...player, name: "" }, players) : undefined;
    return id ?? writeTarget(player, players) ?? target.word;
  });
}
