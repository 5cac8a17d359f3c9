// Starts the floor: bare Bun.serve, a port for each case, because it judges no request. And the same with a look at each.
import { join } from "node:path";
import { CASES } from "../cases.ts";
import { startProgram } from "../processes.ts";
import type { Contender } from "./contender.ts";

export const floor = bareContender("floor", "floor (bare Bun.serve)");
export const reader = bareContender("reader", "floor that reads and sets headers");

function bareContender(id: string, name: string): Contender {
  return {
    id,
    name,
    judgesNobody: true,
    findObstacle: () => undefined,
    async start(_stage, cores, answersPath) {
      const script = join(import.meta.dir, "floor.mjs");
      const command = [process.execPath, "--no-env-file", script, answersPath, id];
      const program = await startProgram({ command, core: cores.server, addresses: CASES.length });
      return { ...program, urlOf: (asked) => (program.urls[CASES.indexOf(asked)] ?? "") + asked.path };
    },
  };
}
