// The goals of Gatehouse on one core, and what a run has measured. Ratios and memory only, so that a slow machine can meet them.
import { reader } from "./contenders/floor.ts";
import { fastify } from "./contenders/frameworks.ts";
import { gatehouseRedis, gatehouseSqlite } from "./contenders/gatehouse.ts";
import type { GrowthResults } from "./growth.ts";
import type { PathResults } from "./paths.ts";

export type Goal = {
  readonly name: string;
  readonly isAtLeast: boolean;
  readonly wanted: number;
  /** NaN when the run did not measure it. */
  readonly found: number;
};

export function isMet({ isAtLeast, wanted, found }: Goal): boolean {
  return isAtLeast ? found >= wanted : found <= wanted;
}

/** Prints a table of the goals, for the benchmarks that write no document. */
export function printGoals(goals: readonly Goal[]): void {
  console.table(
    goals.map((goal) => ({
      goal: goal.name,
      wanted: `${goal.isAtLeast ? "≥" : "≤"} ${goal.wanted}`,
      found: goal.found.toFixed(2),
      "": isMet(goal) ? "met" : "missed",
    })),
  );
}

export function listGoals(paths: PathResults, growth: GrowthResults): Goal[] {
  const find = (contenderId: string, caseId: string) =>
    paths.rows.find((row) => row.contenderId === contenderId && row.benchCase.id === caseId);
  const ratio = (contenderId: string, caseId: string) => find(contenderId, caseId)?.ratio ?? Number.NaN;
  const ours = (caseId: string) => ratio(gatehouseSqlite.id, caseId);
  const besideReader = (caseId: string) => ours(caseId) / ratio(reader.id, caseId);
  const rate = (caseId: string) => find(gatehouseSqlite.id, caseId)?.perSecond ?? Number.NaN;
  const p99 = (contenderId: string) => find(contenderId, "read-base")?.p99Ratio ?? Number.NaN;
  const [smallest, middle, largest] = growth.keys;
  const bytesPerKey = (what: "idleMb" | "loadedMb") =>
    middle && largest ? ((largest[what] - middle[what]) * 1e6) / (largest.size - middle.size) : Number.NaN;
  const atLeast = (name: string, wanted: number, found: number): Goal => {
    return { name, isAtLeast: true, wanted, found };
  };
  const atMost = (name: string, wanted: number, found: number): Goal => {
    return { name, isAtLeast: false, wanted, found };
  };
  return [
    atLeast("cached reads beside the floor that reads the key, base only", 0.85, besideReader("read-base")),
    atLeast("cached reads beside the floor that reads the key, nine sections", 0.85, besideReader("read-all")),
    atLeast("cached reads beside Fastify", 2, ours("read-base") / ratio(fastify.id, "read-base")),
    atLeast(
      "on PostgreSQL and Redis beside the embedded store",
      0.6,
      ratio(gatehouseRedis.id, "read-base") / ours("read-base"),
    ),
    atLeast("refusals beside answers, requests/s", 1, rate("refused") / rate("read-base")),
    atMost("p99 of cached reads beside that of the floor that reads", 1.5, p99(gatehouseSqlite.id) / p99(reader.id)),
    atLeast("requests/s with 100,000 keys beside one", 0.95, largest?.ratio ?? Number.NaN),
    atMost("idle memory, MB", 65, smallest?.idleMb ?? Number.NaN),
    atMost("bytes a key beyond the first thousand, after the start", 400, bytesPerKey("idleMb")),
    // Keys are loaded when they are first used, so the idle number alone would be too good.
    atMost("bytes a key beyond the first thousand, all in use", 400, bytesPerKey("loadedMb")),
  ];
}
