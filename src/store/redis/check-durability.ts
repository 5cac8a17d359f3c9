// Checks whether Redis keeps everything: each write is on disk before its reply, and nothing is evicted.
import type { RedisLink } from "./redis-link.ts";

const REQUIRED = [
  { name: "appendonly", value: "yes", risk: "a restart of Redis loses everything since its last snapshot" },
  {
    name: "appendfsync",
    value: "always",
    risk: "a crash of its machine can lose commands that were accepted",
  },
  { name: "maxmemory-policy", value: "noeviction", risk: "Redis may throw away keys, blocks and commands" },
] as const;

/** One sentence for each wrong setting; empty when all are right. */
export async function listDurabilityProblems(link: RedisLink): Promise<string[]> {
  const problems: string[] = [];
  for (const { name, value, risk } of REQUIRED) {
    try {
      const replies = (await link.sendToAll("CONFIG", "GET", name)) as string[][];
      const wrong = new Set(replies.map(([, setting]) => setting ?? "unset"));
      wrong.delete(value);
      for (const found of wrong) problems.push(`Redis has ${name} ${found} instead of ${value}: ${risk}.`);
    } catch {
      problems.push(`Redis does not tell its ${name}; it should be ${value}, else ${risk}.`);
    }
  }
  return problems;
}
