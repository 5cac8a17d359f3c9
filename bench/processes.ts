// Starts programs, waits until they listen, weighs them, and ends them: nothing that was started here outlives the harness.
import { readFileSync } from "node:fs";
import { pinTo } from "./machine.ts";

const START_DEADLINE_MS = 30_000;
const END_DEADLINE_MS = 15_000;
/** Where it can be had, the kernel ends our children even when we are killed. */
const WITH_PARENT = Bun.which("setpriv") ? ["setpriv", "--pdeathsig", "KILL"] : [];
const LISTENING = /(?<=listening on )http:\/\/127\.0\.0\.1:\d+/g;

const running = new Set<Bun.Subprocess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));

export type Program = {
  readonly pid: number;
  /** The addresses that it said it listens on. */
  readonly urls: readonly string[];
  /** From the start to the line that says so. */
  readonly startMs: number;
  stop(): Promise<void>;
};

export type ProgramOptions = {
  readonly command: readonly string[];
  readonly core: number | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** It is ready when it has said "listening on" so many addresses. */
  readonly addresses?: number;
  /** Where to knock instead, for a program that says nothing. */
  readonly silentUrl?: string;
};

export async function startProgram(options: ProgramOptions): Promise<Program> {
  const { command, core, env = {}, addresses = 1, silentUrl } = options;
  const startedAt = performance.now();
  const child = Bun.spawn([...WITH_PARENT, ...pinTo(core), ...command], {
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "/", NODE_ENV: "production", ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  running.add(child);
  void child.exited.then(() => running.delete(child));
  const complaints = new Response(child.stderr).text();
  const deadline = setTimeout(() => child.kill("SIGKILL"), START_DEADLINE_MS);
  const urls = silentUrl ? await knock(silentUrl, child) : await readAddresses(child.stdout, addresses);
  clearTimeout(deadline);
  if (urls.length < addresses) {
    child.kill("SIGKILL");
    throw new Error(`${command.join(" ")} did not start: ${(await complaints).trim()}`);
  }
  return {
    pid: child.pid,
    urls,
    startMs: performance.now() - startedAt,
    stop: () => endChild(child),
  };
}

/** Runs a program to its end and gives back what it printed. */
export async function runProgram(command: readonly string[], core: number | undefined): Promise<string> {
  const child = Bun.spawn([...WITH_PARENT, ...pinTo(core), ...command], { stdout: "pipe", stderr: "pipe" });
  running.add(child);
  const [said, complaints, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  running.delete(child);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${complaints.trim()}`);
  return said;
}

/** Resident memory, in megabytes. */
export function readResidentMb(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return (Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024) / 1e6;
  } catch {
    return Number.NaN;
  }
}

/** Linux counts processor time in hundredths of a second, whatever the kernel's own clock. */
const TICKS_PER_SECOND = 100;

/** The processor time that all threads of a process have used so far, in microseconds. */
export function readCpuMicros(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is a name in brackets, which may hold anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return ((Number(fields[11]) + Number(fields[12])) * 1e6) / TICKS_PER_SECOND;
  } catch {
    return Number.NaN;
  }
}

async function readAddresses(stream: ReadableStream<Uint8Array>, wanted: number): Promise<string[]> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  let said = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (value) said += decoder.decode(value, { stream: true });
    const urls = said.slice(0, said.lastIndexOf("\n") + 1).match(LISTENING) ?? [];
    if (done || urls.length >= wanted) {
      // What it says later is of no interest, but must not fill the pipe.
      if (!done) void drain(reader);
      return urls;
    }
  }
}

async function knock(url: string, child: Bun.Subprocess): Promise<string[]> {
  while (child.exitCode === null && child.signalCode === null) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
    if (answer) return [url];
    await Bun.sleep(5);
  }
  return [];
}

async function drain(reader: { read(): Promise<{ done: boolean }> }): Promise<void> {
  while (!(await reader.read()).done);
}

async function endChild(child: Bun.Subprocess): Promise<void> {
  child.kill("SIGTERM");
  const deadline = setTimeout(() => child.kill("SIGKILL"), END_DEADLINE_MS);
  await child.exited;
  clearTimeout(deadline);
}
