// Describes the machine, chooses the program that makes the load, and assigns its cores to the server, the load and Redis.
import { readFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";

/** BENCH_LOAD=autocannon uses autocannon even where wrk is installed. */
export const USES_WRK = Bun.which("wrk") !== null && process.env.BENCH_LOAD !== "autocannon";

export type Cores = {
  /** Undefined where processes cannot be pinned, or there is only one core. */
  readonly server: number | undefined;
  readonly load: number | undefined;
  /** The third core if there is one, otherwise the core of the load. */
  readonly redis: number | undefined;
};

export function chooseCores(): Cores {
  const allowed = listAllowedCores();
  const [server, load, third] = allowed;
  if (!Bun.which("taskset") || load === undefined) return { server: undefined, load: undefined, redis: undefined };
  return { server, load, redis: third ?? load };
}

/** The start of a command line that pins a program to this core. */
export function pinTo(core: number | undefined): string[] {
  return core === undefined ? [] : ["taskset", "-c", String(core)];
}

export function pinProcess(pid: number, core: number | undefined): void {
  if (core !== undefined) Bun.spawnSync(["taskset", "-a", "-cp", String(core), String(pid)]);
}

export function describeMachine(cores: Cores): [what: string, value: string][] {
  const model = findCpuModel();
  const pinned =
    cores.server === undefined
      ? "not pinned"
      : `server on ${cores.server}, load on ${cores.load}, Redis on ${cores.redis}`;
  return [
    ["processor", `${model}, ${cpus().length} cores (${process.arch})`],
    ["cores used", pinned],
    ["memory", `${(totalmem() / 2 ** 30).toFixed(1)} GiB`],
    ["kernel", `${process.platform} ${release().split("-")[0]}`],
    ["Bun", Bun.version],
    ["Node", run("node", "--version") || "not installed"],
    ["Redis", /v=(\S+)/.exec(run("redis-server", "--version"))?.[1] ?? "not installed"],
    ["nginx", /nginx\/(\S+)/.exec(run("nginx", "-v"))?.[1] ?? "not installed"],
    ["load", USES_WRK ? `wrk ${/^wrk (\S+)/.exec(run("wrk", "-v"))?.[1] ?? ""}` : "autocannon"],
  ];
}

/** The cores that this process may use; a container often has fewer than the machine. */
function listAllowedCores(): number[] {
  try {
    const list = /Cpus_allowed_list:\s+(\S+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "";
    return list.split(",").flatMap((range) => {
      const [first = 0, last = first] = range.split("-").map(Number);
      return Array.from({ length: last - first + 1 }, (_, i) => first + i);
    });
  } catch {
    return [];
  }
}

/** On ARM only lscpu knows the model. */
function findCpuModel(): string {
  const model = cpus()[0]?.model.trim() ?? "";
  if (model !== "" && model !== "unknown") return model;
  return /Model name:\s+(.+)/.exec(run("lscpu"))?.[1] ?? "unknown processor";
}

/** The output of the program, from both streams; empty when it is not installed. */
function run(...command: string[]): string {
  if (!Bun.which(command[0] ?? "")) return "";
  const { stdout, stderr } = Bun.spawnSync(command, { stdout: "pipe", stderr: "pipe" });
  return `${stdout}${stderr}`.trim();
}
