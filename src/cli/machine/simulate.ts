// gatehouse simulate: runs the simulator alone, for development and tests.
import { Command, InvalidArgumentError, Option } from "commander";
import { StartRefused } from "../../core/errors.ts";
import { describeFault } from "../../core/system-faults.ts";
import { LIMIT_MAX, LOG_WINDOW_MAX, PLAYERS_MAX, SPEED_MAX, SPEED_MIN } from "../../simulator/log-lists.ts";

export function createSimulateCommand(): Command {
  return new Command("simulate")
    .description(
      "run a simulator of the game API: it answers like the real one, with made-up players, for development and tests",
    )
    .option("--host <address>", "address to listen on", parseHost, "127.0.0.1")
    .option("--port <number>", "port to listen on, 0 for a free one", wholeNumber(65_535, "a port, 0 to 65535"), 8090)
    .option("--seed <number>", "the same seed makes the same towns", wholeNumber(), 1)
    .option(
      "--players <number>",
      `about how many players a town has, ${PLAYERS_MAX} at most; 0 makes every server offline`,
      wholeNumber(PLAYERS_MAX),
      24,
    )
    .option("--speed <factor>", "how many times as often events happen", parseFactor, 1)
    .option("--read-limit <number>", "reads a minute, 0 for no limit", wholeNumber(LIMIT_MAX), 35)
    .option(
      "--command-interval <ms>",
      "one command per server in this time, 0 for no limit",
      wholeNumber(LIMIT_MAX),
      5_000,
    )
    .option("--log-window <number>", "how many entries a log list shows", parseLogWindow, 50)
    .addOption(
      new Option("--quirks <on|off>", "the odd shapes seen in the field").argParser(parseSwitch).default(true, "on"),
    )
    .option(
      "--webhook <url>",
      "send custom commands and emergency calls there as the game does, signed with a key that is printed",
      parseWebhook,
    )
    .option("--json", "print the address as one JSON line before the listening line")
    .addHelpText(
      "after",
      "\nNothing of it is real: no game is called. Use it as the game API of a Gatehouse:\n" +
        "  GATEHOUSE_UPSTREAM_URL=http://127.0.0.1:8090 gatehouse serve\n" +
        "(gatehouse serve alone has a simulator of its own.)\n\n" +
        "Server keys look like word-word. invalid-x, banned-x and offline-x are refused as their names say.\n" +
        "GET /_faults lists ways to misbehave, POST /_faults arms one, GET /_calls lists the calls that it got.",
    )
    .action(simulate);
}

type SimulateOptions = {
  host: string;
  port: number;
  seed: number;
  players: number;
  speed: number;
  readLimit: number;
  commandInterval: number;
  logWindow: number;
  quirks: boolean;
  webhook?: string;
  json?: boolean;
};

async function simulate({ commandInterval, json, ...options }: SimulateOptions): Promise<void> {
  const { startSimulator } = await import("../../simulator/simulator.ts");
  const simulator = await startSimulator({ ...options, commandIntervalMs: commandInterval }).catch((error) => {
    throw new StartRefused(
      `the simulator cannot listen at ${options.host}, port ${options.port}: ${describeFault(error)} — choose others with --host and --port`,
    );
  });
  const stop = () => void simulator.stop().then(() => process.exit(0));
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  const { url, port } = simulator;
  const publicKey = options.webhook === undefined ? undefined : simulator.publicKey;
  process.stdout.write(
    json
      ? `${JSON.stringify({ url, port, public_key: publicKey })}\n`
      : describeSimulator(url, options.webhook, publicKey),
  );
  process.stdout.write(`gatehouse listening on ${simulator.url}\n`);
}

function describeSimulator(url: string, webhook: string | undefined, publicKey: string | undefined): string {
  const lines = [
    "Gatehouse's simulator of the game API: it answers like the real one, but its players are made up and no game is called.",
    "",
    `  use it       GATEHOUSE_UPSTREAM_URL=${url} gatehouse serve`,
    "  server keys  any two words with a hyphen, such as demo-Town; each has a town of its own",
    `  try it       curl -H "server-key: demo-Town" "${url}/v2/server?Players=true"`,
    ...(webhook === undefined
      ? []
      : [
          `  webhooks     go to ${webhook}, for every town that was called`,
          `  their key    GATEHOUSE_GAME_PUBLIC_KEY=${publicKey}`,
        ]),
  ];
  return `${lines.join("\n")}\n\n`;
}

/** Parses whole numbers up to `max`; `rule` says what a larger one must be. */
export function wholeNumber(max = Number.POSITIVE_INFINITY, rule = `${max} at most`): (text: string) => number {
  return (text) => {
    if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("It must be a whole number, 0 or more.");
    if (Number(text) > max) throw new InvalidArgumentError(`It must be ${rule}.`);
    return Number(text);
  };
}

function parseLogWindow(text: string): number {
  const rule = `from 1 to ${LOG_WINDOW_MAX}`;
  const window = wholeNumber(LOG_WINDOW_MAX, rule)(text);
  if (window < 1) throw new InvalidArgumentError(`It must be ${rule}.`);
  return window;
}

function parseHost(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must be an address, such as 127.0.0.1.");
  return text;
}

function parseWebhook(text: string): string {
  const { protocol } = URL.parse(text) ?? {};
  if (protocol !== "http:" && protocol !== "https:")
    throw new InvalidArgumentError("It must be an address, such as http://127.0.0.1:8080/hooks/game.");
  return text;
}

export function parseFactor(text: string): number {
  const factor = Number(text);
  if (!(factor >= SPEED_MIN && factor <= SPEED_MAX)) {
    throw new InvalidArgumentError(`It must be a number from ${SPEED_MIN} to ${SPEED_MAX}.`);
  }
  return factor;
}

function parseSwitch(text: string): boolean {
  if (text !== "on" && text !== "off") throw new InvalidArgumentError("It must be on or off.");
  return text === "on";
}
