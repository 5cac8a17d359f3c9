// How long and how often everything is measured: in a full run, or in a `--quick` one, which proves little.

export type Settings = {
  readonly isQuick: boolean;
  /** False with --no-write: then the results are only printed. */
  readonly writes: boolean;
  /** The parts to run: all of them unless --only names some. */
  readonly parts: ReadonlySet<Part>;
  readonly rounds: number;
  readonly roundSeconds: number;
  /** How long unmeasured load runs after each start. */
  readonly startSeconds: number;
  /** How long unmeasured load runs before each case. */
  readonly warmSeconds: number;
  readonly growthRounds: number;
  readonly keyCounts: readonly number[];
  readonly serverCounts: readonly number[];
  readonly clientCounts: readonly number[];
  readonly clientSeconds: number;
  readonly starts: number;
  /** Commands that one caller sends, and that each larger number of callers sends together. */
  readonly commandsAlone: number;
  readonly commandsTogether: number;
};

export const PARTS = ["paths", "growth", "clients", "commands"] as const;
export type Part = (typeof PARTS)[number];

/** How many connections the load keeps busy at a time. */
export const CONNECTIONS = 64;
/** Keys that take turns in the measured reads: at 120 a minute each, enough for 40,000 requests a second. */
export const READ_KEYS = 20_000;
/** Keys for the measurement of refusals. The first try uses a quarter of them, and each repeat another quarter. */
export const REFUSAL_KEYS = 15_000;
export const INVALID_TOKENS = 5_000;

const SIZES = {
  keyCounts: [1, 1_000, 100_000],
  serverCounts: [1, 20, 200],
  clientCounts: [1, 10, 100, 1_000],
};
const FULL = {
  ...SIZES,
  rounds: 5,
  roundSeconds: 4,
  startSeconds: 5,
  warmSeconds: 1,
  growthRounds: 3,
  clientSeconds: 10,
  starts: 5,
  commandsAlone: 600,
  commandsTogether: 8_000,
};
const QUICK = {
  ...SIZES,
  rounds: 2,
  roundSeconds: 1,
  startSeconds: 2,
  warmSeconds: 1,
  growthRounds: 1,
  clientSeconds: 4,
  starts: 2,
  commandsAlone: 200,
  commandsTogether: 2_000,
};

export const USAGE = `npm run bench -- [--quick] [--no-write] [--only ${PARTS.join(",")}]`;

/** Throws with the usage when an argument is not known. */
export function parseSettings(args: readonly string[]): Settings {
  const rest = [...args];
  let isQuick = false;
  let writes = true;
  let parts: readonly Part[] = PARTS;
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--quick") isQuick = true;
    else if (arg === "--no-write") writes = false;
    else if (arg === "--only") parts = parseParts(rest.shift() ?? "");
    else throw new Error(`unknown argument ${arg}\n${USAGE}`);
  }
  // Writing a document with some of the parts would delete the others.
  return {
    ...(isQuick ? QUICK : FULL),
    isQuick,
    writes: writes && parts.length === PARTS.length,
    parts: new Set(parts),
  };
}

function parseParts(list: string): Part[] {
  return list.split(",").map((name) => {
    const part = PARTS.find((known) => known === name);
    if (!part) throw new Error(`unknown part "${name}"\n${USAGE}`);
    return part;
  });
}
