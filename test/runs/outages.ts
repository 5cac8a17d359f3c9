// npm run outages: disks, Redis and PostgreSQL that are full, frozen or killed, again and again, under real instances at work.
import { mounting } from "../needs.ts";
import { stopPostgresServers } from "../postgres-server.ts";
import { stopRedisServers } from "../redis-server.ts";
import { cleanUp } from "../temporary.ts";
import { main, type Tools, type Verdict } from "./long-run.ts";
import { runDiskOutages } from "./outage-disk.ts";
import { runPostgresOutages } from "./outage-postgres.ts";
import { runRedisOutages } from "./outage-redis.ts";
import type { OutageReport } from "./outage-stage.ts";

const RUNS = { disk: runDiskOutages, redis: runRedisOutages, postgres: runPostgresOutages };
type Kind = keyof typeof RUNS;
const KINDS = Object.keys(RUNS) as Kind[];

await main({
  name: "outages",
  about: "fills the disk, and fills, freezes and kills Redis and PostgreSQL, under instances that must need no restart",
  options: {
    count: { kind: "number", about: "how many outages of each kind", usual: 4, min: 1, max: 1_000 },
    disk: { kind: "flag", about: "only the disk, and what else is named" },
    redis: { kind: "flag", about: "only Redis, and what else is named" },
    postgres: { kind: "flag", about: "only PostgreSQL, and what else is named" },
  },
  async run({ count, ...flags }, tools) {
    const named = KINDS.filter((kind) => flags[kind]);
    return runAll(named.length === 0 ? KINDS : named, count, tools);
  },
});

async function runAll(kinds: readonly Kind[], count: number, tools: Tools): Promise<Verdict> {
  const { seed, stopped, progress } = tools;
  const summaries: string[] = [];
  const figures: Record<string, number> = {};
  const problems: string[] = [];
  const cannotMount = mounting();
  for (const [place, kind] of kinds.entries()) {
    if (cannotMount !== undefined && kind !== "redis") {
      problems.push(`${kind}: a full disk needs the right to mount a file system, but ${cannotMount}`);
      if (kind === "disk") continue;
    }
    const onOutage = (done: number, total: number, name: string) =>
      progress((place + done / total) / kinds.length, `${kind}: ${done} of ${total} outages, now ${name}`);
    const { problems: found, ...numbers } = await RUNS[kind]({ count, seed, stopped, onOutage });
    problems.push(...found.map((problem) => `${kind}: ${problem}`));
    for (const [name, value] of Object.entries(numbers)) figures[nameFigure(kind, name)] = value;
    summaries.push(summarize(kind, numbers));
    await cleanUp();
    await stopRedisServers();
    await stopPostgresServers();
  }
  return { summary: summaries.join("; "), figures, problems };
}

/** "diskAccepted". */
function nameFigure(kind: Kind, name: string): string {
  return `${kind}${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

function summarize(kind: Kind, numbers: Omit<OutageReport, "problems">): string {
  const { outages, accepted, delivered, unknown, events, gaps, webhookEvents } = numbers;
  return `${kind}: ${outages} outages, ${accepted} commands accepted, ${delivered} delivered, ${unknown} unknown, ${events} events, ${gaps} gaps, ${webhookEvents} delivered to the webhook`;
}
