// Starts programs, waits until they listen, and stops them. No program outlives the harness.
import { pinTo } from "./machine.ts";

const START_DEADLINE_MS = 30_000;
const STOP_DEADLINE_MS = 15_000;
/** With setpriv, the kernel kills our children even when we are killed. */
const DIE_WITH_PARENT = Bun.which("setpriv") ? ["setpriv", "--pdeathsig", "KILL"] : [];
const LISTENING = /(?<=listening on )http:\/\/127\.0\.0\.1:\d+/g;

const running = new Set<Bun.Subprocess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));

export type Program = {
  readonly pid: number;
  /** The addresses that it has printed. */
  readonly urls: readonly string[];
  /** From the start until all addresses were printed. */
  readonly startMs: number;
  stop(): Promise<void>;
};

export type ProgramOptions = {
  readonly command: readonly string[];
  readonly core: number | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** It is ready when it has printed "listening on" this many times. */
  readonly addresses?: number;
  /** The address to poll, for a program that prints nothing. */
  readonly silentUrl?: string;
};

export async function startProgram(options: ProgramOptions): Promise<Program> {
  const { command, core, env = {}, addresses = 1, silentUrl } = options;
  const startedAt = performance.now();
  const child = Bun.spawn([...DIE_WITH_PARENT, ...pinTo(core), ...command], {
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "/", NODE_ENV: "production", ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  running.add(child);
  void child.exited.then(() => running.delete(child));
  const errors = new Response(child.stderr).text();
  const deadline = setTimeout(() => child.kill("SIGKILL"), START_DEADLINE_MS);
  const urls = silentUrl ? await pollUntilUp(silentUrl, child) : await readAddresses(child.stdout, addresses);
  clearTimeout(deadline);
  if (urls.length < addresses) {
    child.kill("SIGKILL");
    throw new Error(`${command.join(" ")} did not start: ${(await errors).trim()}`);
  }
  return {
    pid: child.pid,
    urls,
    startMs: performance.now() - startedAt,
    stop: () => stopChild(child),
  };
}

/** Runs a program to its end and returns its output. */
export async function runProgram(command: readonly string[], core: number | undefined): Promise<string> {
  const child = Bun.spawn([...DIE_WITH_PARENT, ...pinTo(core), ...command], {
    stdout: "pipe",
    stderr: "pipe",
  });
  running.add(child);
  const [output, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  running.delete(child);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${errors.trim()}`);
  return output;
}

async function readAddresses(stream: ReadableStream<Uint8Array>, wanted: number): Promise<string[]> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  let output = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (value) output += decoder.decode(value, { stream: true });
    const urls = output.slice(0, output.lastIndexOf("\n") + 1).match(LISTENING) ?? [];
    if (done || urls.length >= wanted) {
      // Later output is not needed, but must not fill the pipe.
      if (!done) void drain(reader);
      return urls;
    }
  }
}

async function pollUntilUp(url: string, child: Bun.Subprocess): Promise<string[]> {
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

async function stopChild(child: Bun.Subprocess): Promise<void> {
  child.kill("SIGTERM");
  const deadline = setTimeout(() => child.kill("SIGKILL"), STOP_DEADLINE_MS);
  await child.exited;
  clearTimeout(deadline);
}
