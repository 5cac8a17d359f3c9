// Starts the floor: bare Bun.serve with a port for each case, because it does not read requests. And a variant that reads them.
import { join } from "node:path";
import { CASES } from "../cases.ts";
import { startProgram } from "../processes.ts";
import type { Contender } from "./contender.ts";

export const floor = createFloor("floor", "floor (bare Bun.serve)");
export const reader = createFloor("reader", "floor that reads and sets headers");

function createFloor(id: string, name: string): Contender {
  return {
    id,
    name,
    checksNoKeys: true,
    findObstacle: () => undefined,
    async start(_stage, cores, answersPath) {
      const script = join(import.meta.dir, "floor.mjs");
      const command = [process.execPath, "--no-env-file", script, answersPath, id];
      const program = await startProgram({ command, core: cores.server, addresses: CASES.length });
      return {
        ...program,
        urlOf: (benchCase) => (program.urls[CASES.indexOf(benchCase)] ?? "") + benchCase.path,
      };
    },
  };
}
