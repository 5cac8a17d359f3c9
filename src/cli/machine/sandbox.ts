// gatehouse sandbox: a simulator and a gateway for the tests of a bot, on free ports and with data of their own.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { parseConfig, readProcessEnvironment } from "../../instance/config.ts";
import { PLAYERS_MAX } from "../../simulator/log-lists.ts";
import { failUsage } from "../exit-codes.ts";
import { parseFactor, wholeNumber } from "./simulate.ts";

const PARENT_CHECK_MS = 250;
/** Of a closed terminal too. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** Faster than a real gateway, so that tests need not wait for it. */
const SETTINGS = {
  GATEHOUSE_HOST: "127.0.0.1",
  GATEHOUSE_PORT: "0",
  GATEHOUSE_FRESH_MS: "100",
  GATEHOUSE_WATCH_INTERVAL_MS: "500",
  GATEHOUSE_COMMAND_INTERVAL_MS: "100",
  GATEHOUSE_WEBHOOKS_PRIVATE: "allow",
  GATEHOUSE_LOG_LEVEL: "error",
};

export function createSandboxCommand(): Command {
  return new Command("sandbox")
    .description("run a simulator and a gateway for the tests of a bot, and print where they are")
    .argument("[command...]", "run this with the variables set, then end with its exit code")
    .option("--players <number>", "about how many players the town has", wholeNumber(PLAYERS_MAX), 24)
    .option("--speed <factor>", "how many times as often events happen", parseFactor, 1)
    .option("--seed <number>", "the same seed makes the same town", wholeNumber(), 1)
    .addHelpText(
      "after",
      "\nPrints one variable a line: GATEHOUSE_URL, GATEHOUSE_KEY (all rights), GATEHOUSE_FACADE_KEY, GATEHOUSE_MASTER_KEY and\n" +
        "GATEHOUSE_SIMULATOR_URL. All of it answers when the last line is there, and ends with the process that started it.\n" +
        "Settings of yours and .env are not read, and nothing is left on disk.\n\n" +
        "  gatehouse sandbox -- npm test\n" +
        "  gatehouse sandbox > sandbox.env &\n\n" +
        "Five kills in one second, and a game API that fails three times:\n" +
        '  curl "$GATEHOUSE_SIMULATOR_URL/_faults" -d \'{"kind": "burst", "list": "KillLogs", "count": 5, "times": 1}\'\n' +
        '  curl "$GATEHOUSE_SIMULATOR_URL/_faults" -d \'{"kind": "code", "code": 1001, "times": 3}\'',
    )
    .action(runSandbox);
}

type SandboxOptions = { readonly players: number; readonly speed: number; readonly seed: number };

async function runSandbox(command: readonly string[], options: SandboxOptions): Promise<void> {
  const [program] = command;
  if (program !== undefined && !Bun.which(program)) failUsage(`there is no program ${program}`);
  const parentPid = process.ppid;
  let sandbox: Awaited<ReturnType<typeof openSandbox>> | undefined;
  let child: Bun.Subprocess | undefined;
  let isEnding = false;
  const end = async (exitCode: number) => {
    if (isEnding) return;
    isEnding = true;
    await sandbox?.stop();
    process.exit(exitCode);
  };
  // Before anything is made, so that nothing is left of a sandbox that is stopped while it starts.
  for (const signal of SIGNALS) process.on(signal, () => (child ? child.kill(signal) : void end(0)));
  setInterval(() => process.ppid !== parentPid && void end(0), PARENT_CHECK_MS).unref();
  const folder = mkdtempSync(join(tmpdir(), "gatehouse-sandbox-"));
  process.on("exit", () => {
    child?.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  sandbox = await openSandbox(folder, options);
  if (command.length > 0) {
    child = startCommand(command, sandbox.variables);
    return end(await waitForEnd(child));
  }
  const lines = Object.entries(sandbox.variables).map(([name, value]) => `${name}=${value}\n`);
  process.stdout.write(lines.join(""));
}

/** The gateway, the simulator behind it, and what a program needs to use them. */
async function openSandbox(folder: string, options: SandboxOptions) {
  const [{ startApp }, { startSimulator }, { facadeKeyOf }] = await Promise.all([
    import("../../app.ts"),
    import("../../simulator/simulator.ts"),
    import("../../core/facade/facade-key.ts"),
  ]);
  const simulator = await startSimulator({ ...options, readLimit: 0, commandIntervalMs: 0 });
  const masterKey = randomBytes(32).toString("hex");
  const app = await startApp(
    parseConfig({
      ...SETTINGS,
      GATEHOUSE_DATA_DIR: folder,
      GATEHOUSE_UPSTREAM_URL: simulator.url,
      GATEHOUSE_MASTER_KEY: masterKey,
    }),
  );
  const create = async (path: string, body: object) => {
    const headers = { Authorization: `Bearer ${masterKey}`, "Content-Type": "application/json" };
    const answer = await fetch(app.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    return (await answer.json()) as Readonly<Record<string, string>>;
  };
  const { server_id = "" } = await create("/admin/servers", { name: "Sandbox", server_key: "sandbox-Town" });
  const { token = "" } = await create("/admin/keys", { server_id, label: "sandbox", commands: ["*"] });
  return {
    variables: {
      GATEHOUSE_URL: app.url,
      GATEHOUSE_KEY: token,
      GATEHOUSE_FACADE_KEY: facadeKeyOf(token, server_id),
      GATEHOUSE_MASTER_KEY: masterKey,
      GATEHOUSE_SIMULATOR_URL: simulator.url,
    },
    async stop() {
      await app.stop();
      await simulator.stop();
    },
  };
}

function startCommand(command: readonly string[], variables: Readonly<Record<string, string>>): Bun.Subprocess {
  return Bun.spawn([...command], {
    env: { ...readProcessEnvironment(), ...variables },
    stdio: ["inherit", "inherit", "inherit"],
  });
}

/** Returns the exit code; 128 and the signal's number for a killed process, as shells do. */
async function waitForEnd(child: Bun.Subprocess): Promise<number> {
  const exitCode = await child.exited;
  return child.signalCode ? 128 + constants.signals[child.signalCode as NodeJS.Signals] : exitCode;
}
