// What every long run has in common: its options, its progress, its last line and its exit code.
// 0: every promise held; 1: at least one did not, or the run broke off; 2: wrong options; 130: it was stopped and says nothing.
import { parseArgs } from "node:util";
import { cleanUp } from "../temporary.ts";

const PROBLEMS_SHOWN = 20;
/** In a log, progress is printed at most this often. */
const LOG_EVERY_MS = 10_000;
const BAR_WIDTH = 30;
const BROKEN = 1;
const WRONG_OPTIONS = 2;
const STOPPED = 130;

export type NumberOption = {
  readonly kind: "number";
  readonly about: string;
  readonly usual: number;
  readonly min: number;
  readonly max: number;
  /** Whether it may have decimals; whole numbers only by default. */
  readonly isFraction?: boolean;
};
export type FlagOption = { readonly kind: "flag"; readonly about: string };
export type Options = Readonly<Record<string, NumberOption | FlagOption>>;
export type Values<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends FlagOption ? boolean : number;
};

export type Tools = {
  /** Chosen at random unless --seed is given; the same seed makes the same choices. */
  readonly seed: number;
  /** Aborted when the run is stopped: it then ends soon, with any verdict. */
  readonly stopped: AbortSignal;
  /** Tells how far it is, from 0 to 1. */
  progress(done: number, text: string): void;
};

export type Verdict = {
  /** What was done, in one line for people. */
  readonly summary: string;
  /** The same in numbers, for --json. */
  readonly figures: Readonly<Record<string, number>>;
  /** One sentence for each broken promise; empty when all held. */
  readonly problems: readonly string[];
};

export type LongRun<O extends Options> = {
  readonly name: string;
  readonly about: string;
  readonly options: O;
  run(values: Values<O>, tools: Tools): Promise<Verdict>;
};

/** Runs it with the arguments of this process, and ends the process. */
export async function main<O extends Options>(longRun: LongRun<O>): Promise<never> {
  const { name } = longRun;
  const asked = readOptions(longRun, process.argv.slice(2));
  if ("help" in asked) {
    console.log(asked.help);
    process.exit(0);
  }
  if ("complaint" in asked) {
    console.error(`${name}: ${asked.complaint}\nSee npm run ${name} -- --help`);
    process.exit(WRONG_OPTIONS);
  }
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      // The second time, nothing is waited for.
      if (stopping.signal.aborted) process.exit(STOPPED);
      stopping.abort();
    });
  }
  const { values, seed, isJson } = asked;
  const startedAt = performance.now();
  const meter = new ProgressLine(name);
  let verdict: Verdict | undefined;
  try {
    verdict = await longRun.run(values, { seed, stopped: stopping.signal, progress: meter.show });
  } catch (error) {
    if (!stopping.signal.aborted) console.error(`\n${name}: could not go on (seed ${seed}):`, error);
  } finally {
    meter.end();
    await cleanUp();
  }
  if (stopping.signal.aborted) {
    console.error(`${name}: stopped, so it says nothing`);
    process.exit(STOPPED);
  }
  if (!verdict) process.exit(BROKEN);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.log(isJson ? toJson(name, seed, seconds, verdict) : toText(name, seed, seconds, verdict));
  process.exit(verdict.problems.length === 0 ? 0 : BROKEN);
}

type Asked<O extends Options> =
  | { readonly help: string }
  | { readonly complaint: string }
  | { readonly values: Values<O>; readonly seed: number; readonly isJson: boolean };

export function readOptions<O extends Options>(
  longRun: Pick<LongRun<O>, "name" | "about" | "options">,
  args: readonly string[],
): Asked<O> {
  const all: Options = { ...longRun.options, ...COMMON };
  let given: Record<string, unknown>;
  try {
    const options = Object.fromEntries(
      Object.entries(all).map(([name, { kind }]) => [
        name,
        { type: kind === "flag" ? ("boolean" as const) : ("string" as const) },
      ]),
    );
    given = parseArgs({ args: [...args], options }).values;
  } catch (error) {
    return { complaint: error instanceof Error ? error.message : String(error) };
  }
  if (given.help === true) return { help: writeHelp(longRun) };
  const values: Record<string, number | boolean> = {};
  for (const [name, option] of Object.entries(all)) {
    if (option.kind === "flag") {
      values[name] = given[name] === true;
      continue;
    }
    const text = given[name] ?? String(option.usual);
    const number = Number(text);
    const isNumber = option.isFraction ? Number.isFinite(number) : Number.isSafeInteger(number);
    if (text === "" || !isNumber || number < option.min || number > option.max) {
      const kind = option.isFraction ? "number" : "whole number";
      return { complaint: `--${name} takes a ${kind} from ${option.min} to ${option.max}, not "${text}"` };
    }
    values[name] = number;
  }
  const { seed, json, help: _, ...own } = values;
  return { values: own as Values<O>, seed: Number(seed), isJson: json === true };
}

const SEED_MAX = 2 ** 31 - 1;
const COMMON = {
  seed: {
    kind: "number",
    about: "repeat the choices of an earlier run",
    usual: 1 + (Date.now() % SEED_MAX),
    min: 1,
    max: SEED_MAX,
  },
  json: { kind: "flag", about: "print the result as JSON, for programs" },
  help: { kind: "flag", about: "print this" },
} satisfies Options;

function writeHelp({ name, about, options }: Pick<LongRun<Options>, "name" | "about" | "options">): string {
  const rows = Object.entries({ ...options, ...COMMON }).map(([option, given]) => {
    if (given.kind === "flag") return [`--${option}`, given.about];
    const usual = option === "seed" ? "" : ` (${given.usual.toLocaleString("en")} by default)`;
    return [`--${option} N`, given.about + usual];
  });
  const width = Math.max(...rows.map(([option = ""]) => option.length));
  const lines = rows.map(([option = "", text]) => `  ${option.padEnd(width)}  ${text}`);
  return `npm run ${name} -- [options]: ${about}\n\n${lines.join("\n")}\n\nExits with 0 when every promise held, 1 when one did not or the run broke off, 2 for wrong options, 130 when it was stopped.`;
}

function toText(name: string, seed: number, seconds: number, { summary, problems }: Verdict): string {
  const shown = problems.slice(0, PROBLEMS_SHOWN).map((problem) => `BROKEN: ${problem}\n`);
  const end =
    problems.length === 0
      ? "every promise held"
      : `${problems.length} broken; repeat with npm run ${name} -- --seed ${seed}`;
  return `${shown.join("")}${name}: ${summary}, in ${seconds} s: ${end}`;
}

function toJson(run: string, seed: number, seconds: number, { figures, problems }: Verdict): string {
  return JSON.stringify({ run, ok: problems.length === 0, seed, seconds, figures, problems });
}

/** One line that is rewritten on a terminal, or a line from time to time in a log. */
class ProgressLine {
  readonly #name: string;
  readonly #out = process.stderr;
  readonly #startedAt = performance.now();
  #printedAt = Number.NEGATIVE_INFINITY;

  constructor(name: string) {
    this.#name = name;
  }

  readonly show = (done: number, text: string): void => {
    const now = performance.now();
    if (!this.#out.isTTY && now - this.#printedAt < LOG_EVERY_MS && done < 1) return;
    this.#printedAt = now;
    const seconds = Math.round((now - this.#startedAt) / 1000);
    const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    const share = Math.min(1, Math.max(0, done));
    if (!this.#out.isTTY) {
      this.#out.write(`${clock}  ${this.#name}  ${Math.floor(share * 100)} %  ${text}\n`);
      return;
    }
    const filled = Math.round(share * BAR_WIDTH);
    const bar = "█".repeat(filled) + "░".repeat(BAR_WIDTH - filled);
    this.#out.write(`\r\x1b[2K${`${clock}  ${bar}  ${text}`.slice(0, this.#out.columns - 1)}`);
  };

  end(): void {
    if (this.#out.isTTY) this.#out.write("\r\x1b[2K");
  }
}
