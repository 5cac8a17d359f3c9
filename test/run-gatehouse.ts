// Runs the real program as a process in a temporary folder, with only the environment variables that the test sets: the
// binary in a whole run, else `./gatehouse`. `cleanUp` of temporary.ts ends every process.
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { startGatehouse } from "./start-gatehouse.ts";
import { killLater, makeFolder } from "./temporary.ts";
import { within } from "./until.ts";

/** The program of a checkout. */
export const CHECKOUT = resolve(import.meta.dir, "../gatehouse");
/** Set by scripts/test.ts to the binary, which is what people run, and which starts in half the time. */
export const PROGRAM = process.env.GATEHOUSE_TEST_PROGRAM ?? CHECKOUT;
/** As the service file and the container set it, and ./gatehouse itself. */
const MEMORY = { BUN_JSC_forceRAMSize: "1073741824" };
/** Only a failure reaches it. */
const START_DEADLINE_MS = 100_000;

export type RunOptions = {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A shell command to run before the program, such as "ulimit -n 64". */
  readonly before?: string;
  /** The program to run instead, such as `CHECKOUT`. */
  readonly program?: string;
  /** The standard input of the program; empty by default. */
  readonly input?: string;
  /** How long `runToEnd` waits for the process to end. */
  readonly deadlineMs?: number;
};

export type GatehouseProcess = {
  readonly pid: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The exit code; 128 and the signal's number for a killed process. */
  readonly exited: Promise<number>;
  /** The first line of standard output with this text. Throws when the process ends before, or after a timeout. */
  waitForLine(words: string, stream?: "stdout" | "stderr"): Promise<string>;
  kill(signal: NodeJS.Signals): void;
};

export type Listening = GatehouseProcess & { readonly url: string; readonly port: number };

export function run(
  args: readonly string[],
  { cwd, env = {}, before, program = PROGRAM, input }: RunOptions,
): GatehouseProcess {
  const command = [program, ...args];
  const child = Bun.spawn(before ? ["sh", "-c", `${before}; exec "$@"`, "sh", ...command] : command, {
    cwd,
    env: { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: process.env.HOME ?? tmpdir(), ...MEMORY, ...env },
    stdin: input === undefined ? "ignore" : new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const said = { stdout: "", stderr: "" };
  let wakers: (() => void)[] = [];
  const wake = () => {
    for (const resolve of wakers.splice(0)) resolve();
  };
  async function listen(name: "stdout" | "stderr"): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of child[name]) {
      said[name] += decoder.decode(chunk, { stream: true });
      wake();
    }
  }
  let hasEnded = false;
  const exited = Promise.all([child.exited, listen("stdout"), listen("stderr")]).then(([code]) => {
    hasEnded = true;
    wake();
    return code;
  });
  const self: GatehouseProcess = {
    pid: child.pid,
    get stdout() {
      return said.stdout;
    },
    get stderr() {
      return said.stderr;
    },
    exited,
    async waitForLine(words, stream = "stdout") {
      const deadline = Date.now() + START_DEADLINE_MS;
      while (true) {
        // The last line may be incomplete, so it is not searched.
        const line = said[stream]
          .split("\n")
          .slice(0, -1)
          .find((text) => text.includes(words));
        if (line !== undefined) return line;
        const leftMs = deadline - Date.now();
        if (hasEnded || leftMs <= 0) {
          throw new Error(`no line with "${words}" on ${stream}\n${said.stdout}\n${said.stderr}`);
        }
        const { promise, resolve } = Promise.withResolvers<void>();
        wakers.push(resolve);
        const timer = setTimeout(resolve, leftMs);
        await promise;
        clearTimeout(timer);
        wakers = wakers.filter((waker) => waker !== resolve);
      }
    },
    kill: (signal) => void (hasEnded || child.kill(signal)),
  };
  killLater(self);
  return self;
}

/** Runs a command until it ends. */
export async function runToEnd(
  args: readonly string[],
  options: RunOptions,
): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const child = run(args, options);
  const deadlineMs = options.deadlineMs ?? START_DEADLINE_MS;
  const exitCode = await within(deadlineMs, child.exited, `gatehouse ${args.join(" ")} does not end`);
  return { exitCode, stdout: child.stdout, stderr: child.stderr };
}

/**
 * `gatehouse serve` (or `simulate`) on a free port, once it listens. With a game API of the test's own nothing is watched,
 * unless the test says so: tests count the calls that it gets, or give it no address that answers.
 */
export async function serve(options: RunOptions, args: readonly string[] = ["serve"]): Promise<Listening> {
  const watch = options.env?.GATEHOUSE_UPSTREAM_URL === undefined ? {} : { GATEHOUSE_WATCH: "off" };
  const child = run(args, { ...options, env: { GATEHOUSE_PORT: "0", ...watch, ...options.env } });
  const line = await child.waitForLine("listening on");
  const url = /listening on (https?:\/\/\S+)$/.exec(line)?.[1] ?? "";
  return Object.assign(Object.create(child) as GatehouseProcess, { url, port: Number(new URL(url).port) });
}

/** Stops the process with a signal, as an operator would, and returns its exit code. */
export async function stop(child: GatehouseProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<number> {
  child.kill(signal);
  return await within(START_DEADLINE_MS, child.exited, "gatehouse does not stop");
}

/** A data folder with one server and one key in it, for processes whose upstream is not the simulator. */
export async function makeDataFolder(): Promise<{ folder: string; keyId: string; token: string }> {
  const folder = makeFolder();
  // The address is never called, because no request reads from this instance.
  const env = { GATEHOUSE_UPSTREAM_URL: "http://127.0.0.1:9" };
  const gatehouse = await startGatehouse({ folder, env });
  const key = await gatehouse.addKey(await gatehouse.addServer(), { commands: ["*"] });
  await gatehouse.stop();
  return { folder, ...key };
}

export function readServer(url: string, token: string, query = ""): Promise<Response> {
  return fetch(`${url}/v2/game/server${query}`, { headers: { Authorization: `Bearer ${token}` } });
}
