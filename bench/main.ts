// npm run bench: compares Gatehouse with the alternatives on this machine. Prints the results, and writes docs/benchmarks.md.
import { stopRedisServers } from "../test/redis-server.ts";
import { measureClients } from "./clients.ts";
import { measureCommands } from "./commands.ts";
import { saveReport } from "./document.ts";
import { measureGrowth } from "./growth.ts";
import { chooseCores, describeMachine, pinProcess } from "./machine.ts";
import { measurePaths } from "./paths.ts";
import { Progress } from "./progress.ts";
import { writeReport } from "./report.ts";
import { parseSettings, type Settings } from "./settings.ts";
import { openStage } from "./stage.ts";

const startedAt = performance.now();
const args = process.argv.slice(2);
const settings = readSettings();
const cores = chooseCores();
// The harness must not use the core of the server.
pinProcess(process.pid, cores.load);
const progress = new Progress();
const stage = await openStage();
try {
  const { parts } = settings;
  const paths = parts.has("paths") && (await measurePaths(stage, cores, settings, progress));
  const growth = parts.has("growth") && (await measureGrowth(stage, cores, settings, progress));
  const clients = parts.has("clients") && (await measureClients(stage, cores, settings, progress));
  const commands = parts.has("commands") && (await measureCommands(stage, cores, settings, progress));
  progress.end();
  const report = writeReport({
    machine: describeMachine(cores),
    command: ["npm run bench", ...(args.length > 0 ? ["--", ...args] : [])].join(" "),
    date: new Date().toISOString().slice(0, 10),
    settings,
    minutes: Math.ceil((performance.now() - startedAt) / 60_000),
    ...(paths && { paths }),
    ...(growth && { growth }),
    ...(clients && { clients }),
    ...(commands && { commands }),
  });
  console.log(`${report.markdown}\n\n${report.details}`);
  console.log(settings.writes ? `\nWritten to ${saveReport(report)}` : "\nNothing was written.");
} finally {
  await stage.close();
  await stopRedisServers();
}

function readSettings(): Settings {
  try {
    return parseSettings(args);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}
