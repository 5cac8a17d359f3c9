// The comparison: every contender under the same load in every case, turn about, and the medians of the rounds.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CASES, type Case } from "./cases.ts";
import type { Contender, Running } from "./contenders/contender.ts";
import { type Measured, measureLoad, putLoad } from "./load.ts";
import type { Cores } from "./machine.ts";
import { readResidentMb } from "./processes.ts";
import type { Progress } from "./progress.ts";
import { RefusalLoad } from "./refusal-load.ts";
import { FLOOR, OURS, ROSTER } from "./roster.ts";
import { ask, collectAnswers, compareAnswers, toFloorFile, tokensForCheck } from "./same-answers.ts";
import { CONNECTIONS, INVALID_TOKENS, READ_KEYS, type Settings } from "./settings.ts";
import type { Stage } from "./stage.ts";
import { median, spread } from "./statistics.ts";

export type PathRow = {
  readonly asked: Case;
  readonly contenderId: string;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMicros: number;
  /** Medians of what each round was beside the floor's round. */
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

/** What every round has found, by contender; the rounds of all of them are in the same order. */
type Rounds = Map<string, Measured[]>;
type Weights = Map<string, { readonly idleMb: number; readonly loadedMb: number }[]>;

/**
 * Everybody is started anew for every round, because no two starts of the same program are equally fast, and is alone with
 * its core: who has answered a hundred thousand requests may have something left to write.
 */
export async function measurePaths(
  stage: Stage,
  cores: Cores,
  settings: Settings,
  progress: Progress,
): Promise<PathResults> {
  const present = ROSTER.filter((contender) => contender.findObstacle() === undefined);
  const found = new Map(CASES.map((asked): [Case, Rounds] => [asked, new Map()]));
  const weights: Weights = new Map();
  const check = createCheck(stage);
  progress.part("paths", present.length * (CASES.length + 1) * settings.rounds);
  for (let round = 0; round < settings.rounds; round++) {
    for (const contender of present) {
      const running = await contender.start(stage, cores, check.answersPath);
      try {
        const idleMb = readResidentMb(running.pid);
        await check.compare(contender, running);
        progress.step(`${contender.name} started`);
        await warmUp(running, stage, cores, settings);
        for (const [asked, rounds] of found) {
          const result = await measureCase(asked, contender, running, stage, cores, settings);
          add(rounds, contender.id, result);
          progress.step(`${asked.title}: ${contender.name}, ${Math.round(result.perSecond)}/s`);
        }
        add(weights, contender.id, { idleMb, loadedMb: readResidentMb(running.pid) });
      } finally {
        await running.stop();
      }
    }
  }
  return {
    rows: [...found].flatMap(([asked, rounds]) => toRows(asked, rounds)),
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

/** Gatehouse comes first: everybody must answer as it did, and the floor sends its very answers. */
function createCheck(stage: Stage) {
  const answersPath = join(stage.folder, "answers.json");
  const invalidToken = readFileSync(stage.invalidPath, "utf8").split("\n", 1)[0] ?? "";
  const tokens = tokensForCheck(stage, invalidToken);
  let ours: Awaited<ReturnType<typeof collectAnswers>> = [];
  return {
    answersPath,
    async compare(contender: Contender, running: Running): Promise<void> {
      if (contender.judgesNobody) return;
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

/** Until a compiler has seen what is asked most, and nobody's first second is measured. */
async function warmUp(running: Running, stage: Stage, cores: Cores, settings: Settings): Promise<void> {
  const [reading] = CASES;
  if (!reading) return;
  const keys = { tokensPath: stage.tokensPath, first: 0, count: READ_KEYS, connections: CONNECTIONS };
  await putLoad({ ...keys, url: running.urlOf(reading), seconds: settings.startSeconds }, cores.load);
}

async function measureCase(
  asked: Case,
  contender: Contender,
  running: Running,
  stage: Stage,
  cores: Cores,
  settings: Settings,
): Promise<Measured> {
  const isUsedUp = asked.tokens === "used up" && !contender.judgesNobody;
  const result = isUsedUp
    ? await new RefusalLoad(running.urlOf(asked), running.pid, stage, cores, settings).measure()
    : await measurePlain(asked, running, stage, cores, settings);
  checkStatuses(asked, contender, result);
  return result;
}

function add<T>(lists: Map<string, T[]>, name: string, item: T): void {
  const list = lists.get(name);
  if (list) list.push(item);
  else lists.set(name, [item]);
}

async function measurePlain(
  asked: Case,
  running: Running,
  stage: Stage,
  cores: Cores,
  settings: Settings,
): Promise<Measured> {
  const url = running.urlOf(asked);
  const token = stage.tokens[READ_KEYS - 1] ?? "";
  const etag = asked.hasEtag ? (await ask(url, token)).headers.etag : undefined;
  const tokens =
    asked.tokens === "invalid"
      ? { tokensPath: stage.invalidPath, count: INVALID_TOKENS }
      : { tokensPath: stage.tokensPath, count: READ_KEYS };
  const load = { url, etag, ...tokens, first: 0, connections: CONNECTIONS };
  await putLoad({ ...load, seconds: settings.warmSeconds }, cores.load);
  return measureLoad({ ...load, seconds: settings.roundSeconds }, cores.load, running.pid);
}

/** Nobody may be refused where an answer is due, nor the other way round. */
function checkStatuses(asked: Case, contender: Contender, result: Measured): void {
  const due = asked.status >= 400 ? result.requests : 0;
  if (Math.abs(result.refused - due) <= result.requests * 0.001) return;
  const what = `${result.refused} of ${result.requests} answers were errors`;
  throw new Error(`${contender.name}, ${asked.title}: ${what}, ${due} were due`);
}

function toRows(asked: Case, rounds: Rounds): PathRow[] {
  const floors = rounds.get(FLOOR.id) ?? [];
  return [...rounds].map(([contenderId, results]) => {
    const beside = (what: "perSecond" | "p99Ms" | "cpuMicros") => {
      return median(results.map((result, i) => result[what] / (floors[i]?.[what] ?? Number.NaN)));
    };
    return {
      asked,
      contenderId,
      perSecond: median(results.map(({ perSecond }) => perSecond)),
      p50Ms: median(results.map(({ p50Ms }) => p50Ms)),
      p99Ms: median(results.map(({ p99Ms }) => p99Ms)),
      cpuMicros: median(results.map(({ cpuMicros }) => cpuMicros)),
      ratio: beside("perSecond"),
      p99Ratio: beside("p99Ms"),
      cpuRatio: beside("cpuMicros"),
      spread: spread(results.map(({ perSecond }) => perSecond)),
    };
  });
}
