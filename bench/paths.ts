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

type Entrant = { readonly contender: Contender; readonly running: Running; readonly idleMb: number };
type Rounds = Map<string, Measured[]>;

export async function measurePaths(
  stage: Stage,
  cores: Cores,
  settings: Settings,
  progress: Progress,
): Promise<PathResults> {
  const present = ROSTER.filter((contender) => contender.findObstacle() === undefined);
  progress.part("starting", present.length);
  const entrants: Entrant[] = [];
  try {
    const answersPath = join(stage.folder, "answers.json");
    const invalidToken = readFileSync(stage.invalidPath, "utf8").split("\n", 1)[0] ?? "";
    const tokens = tokensForCheck(stage, invalidToken);
    let ours: Awaited<ReturnType<typeof collectAnswers>> = [];
    for (const contender of present) {
      progress.step(`${contender.name}: start, then the same answers as Gatehouse's`);
      const running = await contender.start(stage, cores, answersPath);
      entrants.push({ contender, running, idleMb: readResidentMb(running.pid) });
      if (contender.judgesNobody) continue;
      const theirs = await collectAnswers(running.urlOf, tokens);
      if (contender === OURS) {
        ours = theirs;
        writeFileSync(answersPath, toFloorFile(ours));
      }
      compareAnswers(contender, theirs, ours);
    }
    const rows: PathRow[] = [];
    progress.part("paths", CASES.length * entrants.length * settings.rounds);
    for (const asked of CASES) {
      rows.push(...toRows(asked, await measureCase(asked, entrants, stage, cores, settings, progress)));
    }
    return {
      rows,
      contenders: entrants.map(({ contender, running, idleMb }) => ({
        contender,
        idleMb,
        loadedMb: readResidentMb(running.pid),
      })),
      leftOut: ROSTER.flatMap((contender) => {
        const reason = contender.findObstacle();
        return reason === undefined ? [] : [{ name: contender.name, reason }];
      }),
      bodyBytes: Object.fromEntries(CASES.map(({ id }, i) => [id, ours[i]?.body.length ?? 0])),
    };
  } finally {
    for (const { running } of entrants) await running.stop();
  }
}

async function measureCase(
  asked: Case,
  entrants: readonly Entrant[],
  stage: Stage,
  cores: Cores,
  settings: Settings,
  progress: Progress,
): Promise<Rounds> {
  const rounds: Rounds = new Map(entrants.map(({ contender }) => [contender.id, []]));
  const refusals = new Map(
    entrants.map(({ contender, running }) => [
      contender.id,
      new RefusalLoad(running.urlOf(asked), running.pid, stage, cores, settings),
    ]),
  );
  for (let round = 0; round < settings.rounds; round++) {
    for (const { contender, running } of entrants) {
      const refusal = asked.tokens === "used up" && !contender.judgesNobody && refusals.get(contender.id);
      const result = refusal
        ? await refusal.measure()
        : await measurePlain(asked, running, stage, cores, settings);
      checkStatuses(asked, contender, result);
      rounds.get(contender.id)?.push(result);
      progress.step(`${asked.title}: ${contender.name}, ${Math.round(result.perSecond)}/s`);
    }
  }
  return rounds;
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
