// npm run torture -- --cycles N: kills the service N times while it delivers commands, and reports every broken guarantee.
// The exit code is 1 if there is one.
import { parseArgs } from "node:util";
import { cleanUp } from "../test/process/run-gatehouse.ts";
import { runTorture } from "../test/process/torture.ts";

const BAR_WIDTH = 40;
const PROBLEMS_SHOWN = 20;

const { values } = parseArgs({
  options: { cycles: { type: "string", default: "1000" }, seed: { type: "string" } },
});
const cycles = parseCount("--cycles", values.cycles);
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : parseCount("--seed", values.seed);

function parseCount(name: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  console.error(`torture: ${name} takes a positive whole number, not "${text}"`);
  process.exit(2);
}

function showProgress({ cycle, accepted }: { cycle: number; accepted: number }): void {
  const text = `${cycle} of ${cycles} kills, ${accepted} commands accepted`;
  if (process.stdout.isTTY) {
    const done = Math.round((cycle / cycles) * BAR_WIDTH);
    process.stdout.write(`\r[${"#".repeat(done)}${".".repeat(BAR_WIDTH - done)}] ${text}`);
    if (cycle === cycles) process.stdout.write("\n");
  } else if (cycle === cycles || cycle % Math.ceil(cycles / 10) === 0) {
    console.log(text);
  }
}

console.log(`Killing gatehouse ${cycles} times (seed ${seed})`);
try {
  const { problems, ...counts } = await runTorture({ cycles, seed, onCycle: showProgress });
  const ends = Object.entries(counts.statuses).map(([status, count]) => `${count} ${status}`);
  console.log(
    `${counts.accepted} accepted (${counts.repeated} submissions repeated), ${counts.delivered} delivered: ${ends.join(", ")}`,
  );
  for (const problem of problems.slice(0, PROBLEMS_SHOWN)) console.log(`BROKEN: ${problem}`);
  console.log(
    problems.length === 0
      ? "none lost, none twice, order kept"
      : `${problems.length} promises broken; repeat with --seed ${seed}`,
  );
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await cleanUp();
}
