// Starts the contenders that use a framework and its rate limiter: Hono on Bun, Fastify on Node.
import { join } from "node:path";
import { startProgram } from "../processes.ts";
import type { Contender } from "./contender.ts";

export const hono = createFramework("hono", "Hono + hono-rate-limiter (Bun)", [process.execPath, "--no-env-file"]);
export const fastify = createFramework("fastify", "Fastify + @fastify/rate-limit (Node)", ["node"]);

function createFramework(id: string, name: string, runtime: readonly string[]): Contender {
  return {
    id,
    name,
    findObstacle: () => (Bun.which(runtime[0] ?? "") ? undefined : `${runtime[0]} is not installed`),
    async start(stage, cores) {
      const command = [...runtime, join(import.meta.dir, `${id}.mjs`), stage.folder];
      const program = await startProgram({ command, core: cores.server });
      return { ...program, urlOf: ({ path }) => program.urls[0] + path };
    },
  };
}
