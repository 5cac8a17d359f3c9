// The comparison: every contender under the same load in every case, in turns, with the medians of the rounds.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CASES, type Case } from "./cases.ts";
import type { Contender, Running } from "./contenders/contender.ts";
import { type Measured, measureLoad, putLoad } from "./load.ts";
import type { Cores } from "./machine.ts";
import { readResidentMb } from "./process-usage.ts";
import type { Progress } from "./progress.ts";
import { RefusalLoad } from "./refusal-load.ts";
import { FLOOR, OURS, ROSTER } from "./roster.ts";
import { call, collectAnswers, compareAnswers, toFloorFile, tokensForCheck } from "./same-answers.ts";
import { CONNECTIONS, INVALID_TOKENS, READ_KEYS, type Settings } from "./settings.ts";
import type { Stage } from "./stage.ts";
import { median, spread } from "./statistics.ts";

export type PathRow = {
  readonly benchCase: Case;
  readonly contenderId: string;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMicros: number;
  /** Medians of the ratios to the floor in the same round. */
  readonly ratio: number;
  readonly p99Ratio: number;
  readonly cpuRatio: number;
  /** Largest round over smallest: near 1 on a quiet machine. */
  readonly spread: number;
};

export type ContenderRow = {
  readonly contender: Contender;
  readonly idleMb: number;
  readonly loadedMb: number;
};

export type PathResults = {
  readonly rows: readonly PathRow[];
  readonly contenders: readonly ContenderRow[];
  readonly leftOut: readonly { readonly name: string; readonly reason: string }[];
  readonly bodyBytes: Readonly<Record<string, number>>;
};

/** The results of each contender, in the order of the rounds. */
type Rounds = Map<string, Measured[]>;
type Weights = Map<string, { readonly idleMb: number; readonly loadedMb: number }[]>;

/**
 * Every contender is started again for every round, because two starts of the same program are not equally fast. Only one
 * runs at a time, because a contender may still be writing after its load has ended.
 */
export async function measurePaths(
  stage: Stage,
  cores: Cores,
  settings: Settings,
  progress: Progress,
): Promise<PathResults> {
  const present = ROSTER.filter((contender) => contender.findObstacle() === undefined);
  const found = new Map(CASES.map((benchCase): [Case, Rounds] => [benchCase, new Map()]));
  const weights: Weights = new Map();
  const check = createAnswerCheck(stage);
  progress.part("paths", present.length * (CASES.length + 1) * settings.rounds);
  for (let round = 0; round < settings.rounds; round++) {
    for (const contender of present) {
      const running = await contender.start(stage, cores, check.answersPath);
      try {
        const idleMb = readResidentMb(running.pid);
        await check.compare(contender, running);
        progress.step(`${contender.name} started`);
        await warmUp(running, stage, cores, settings);
        for (const [benchCase, rounds] of found) {
          const result = await measureCase(benchCase, contender, running, stage, cores, settings);
          add(rounds, contender.id, result);
          progress.step(`${benchCase.title}: ${contender.name}, ${Math.round(result.perSecond)}/s`);
        }
        add(weights, contender.id, { idleMb, loadedMb: readResidentMb(running.pid) });
      } finally {
        await running.stop();
      }
    }
  }
  return {
    rows: [...found].flatMap(([benchCase, rounds]) => toRows(benchCase, rounds)),
    contenders: present.map((contender) => {
      const weighed = weights.get(contender.id) ?? [];
      return {
        contender,
        idleMb: median(weighed.map(({ idleMb }) => idleMb)),
        loadedMb: median(weighed.map(({ loadedMb }) => loadedMb)),
      };
    }),
    leftOut: ROSTER.flatMap((contender) => {
      const reason = contender.findObstacle();
      return reason === undefined ? [] : [{ name: contender.name, reason }];
    }),
    bodyBytes: check.bodyBytes(),
  };
}

/** Gatehouse comes first: the others must answer like it, and the floor sends its recorded answers. */
function createAnswerCheck(stage: Stage) {
  const answersPath = join(stage.folder, "answers.json");
  const invalidToken = readFileSync(stage.invalidPath, "utf8").split("\n", 1)[0] ?? "";
  const tokens = tokensForCheck(stage, invalidToken);
  let ours: Awaited<ReturnType<typeof collectAnswers>> = [];
  return {
    answersPath,
    async compare(contender: Contender, running: Running): Promise<void> {
      if (contender.checksNoKeys) return;
      const theirs = await collectAnswers(running.urlOf, tokens);
      if (contender === OURS) {
        ours = theirs;
        writeFileSync(answersPath, toFloorFile(ours));
      }
      compareAnswers(contender, theirs, ours);
    },
    bodyBytes: () => Object.fromEntries(CASES.map(({ id }, i) => [id, ours[i]?.body.length ?? 0])),
  };
}

/** Lets the JIT compiler optimise the hot path before anything is measured. */
async function warmUp(running: Running, stage: Stage, cores: Cores, settings: Settings): Promise<void> {
  const [reading] = CASES;
  if (!reading) return;
  const keys = { tokensPath: stage.tokensPath, first: 0, count: READ_KEYS, connections: CONNECTIONS };
  await putLoad({ ...keys, url: running.urlOf(reading), seconds: settings.startSeconds }, cores.load);
}

async function measureCase(
  benchCase: Case,
  contender: Contender,
  running: Running,
  stage: Stage,
  cores: Cores,
  settings: Settings,
): Promise<Measured> {
  const isUsedUp = benchCase.tokens === "used up" && !contender.checksNoKeys;
  const result = isUsedUp
    ? await new RefusalLoad(running.urlOf(benchCase), running.pid, stage, cores, settings).measure()
    : await measurePlain(benchCase, running, stage, cores, settings);
  checkStatuses(benchCase, contender, result);
  return result;
}

function add<T>(lists: Map<string, T[]>, name: string, item: T): void {
  const list = lists.get(name);
  if (list) list.push(item);
  else lists.set(name, [item]);
}

async function measurePlain(
  benchCase: Case,
  running: Running,
  stage: Stage,
  cores: Cores,
  settings: Settings,
): Promise<Measured> {
  const url = running.urlOf(benchCase);
  const token = stage.tokens[READ_KEYS - 1] ?? "";
  const etag = benchCase.hasEtag ? (await call(url, token)).headers.etag : undefined;
  const tokens =
    benchCase.tokens === "invalid"
      ? { tokensPath: stage.invalidPath, count: INVALID_TOKENS }
      : { tokensPath: stage.tokensPath, count: READ_KEYS };
  const load = { url, etag, ...tokens, first: 0, connections: CONNECTIONS };
  await putLoad({ ...load, seconds: settings.warmSeconds }, cores.load);
  return measureLoad({ ...load, seconds: settings.roundSeconds }, cores.load, running.pid);
}

/** Throws when more than a thousandth of the answers have an unexpected status. */
function checkStatuses(benchCase: Case, contender: Contender, result: Measured): void {
  const expected = benchCase.status >= 400 ? result.requests : 0;
  if (Math.abs(result.refused - expected) <= result.requests * 0.001) return;
  const what = `${result.refused} of ${result.requests} answers were errors`;
  throw new Error(`${contender.name}, ${benchCase.title}: ${what}, ${expected} were expected`);
}

function toRows(benchCase: Case, rounds: Rounds): PathRow[] {
  const floors = rounds.get(FLOOR.id) ?? [];
  return [...rounds].map(([contenderId, results]) => {
    const ratioToFloor = (what: "perSecond" | "p99Ms" | "cpuMicros") => {
      return median(results.map((result, i) => result[what] / (floors[i]?.[what] ?? Number.NaN)));
    };
    return {
      benchCase,
      contenderId,
      perSecond: median(results.map(({ perSecond }) => perSecond)),
      p50Ms: median(results.map(({ p50Ms }) => p50Ms)),
      p99Ms: median(results.map(({ p99Ms }) => p99Ms)),
      cpuMicros: median(results.map(({ cpuMicros }) => cpuMicros)),
      ratio: ratioToFloor("perSecond"),
      p99Ratio: ratioToFloor("p99Ms"),
      cpuRatio: ratioToFloor("cpuMicros"),
      spread: spread(results.map(({ perSecond }) => perSecond)),
    };
  });
}
