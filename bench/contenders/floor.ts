// Starts the floor: bare Bun.serve, a port for each case, because it looks at no request.
import { join } from "node:path";
import { CASES } from "../cases.ts";
import { startProgram } from "../processes.ts";
import type { Contender } from "./contender.ts";

export const floor: Contender = {
  id: "floor",
  name: "floor (bare Bun.serve)",
  findObstacle: () => undefined,
  async start(_stage, cores, answersPath) {
    const command = [process.execPath, "--no-env-file", join(import.meta.dir, "floor.mjs"), answersPath];
    const program = await startProgram({ command, core: cores.server, addresses: CASES.length });
    return { ...program, urlOf: (asked) => (program.urls[CASES.indexOf(asked)] ?? "") + asked.path };
  },
};
