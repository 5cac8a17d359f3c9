// gatehouse serve: runs the gateway until a signal stops it.
import { Command } from "commander";
import type { App } from "../app.ts";
import { parseConfig, readEnvironment } from "../config.ts";
import { isParked } from "../core/game-server.ts";
import { describeStart, type StartFacts } from "./start-banner.ts";

export function createServeCommand(): Command {
  return new Command("serve")
    .description(
      "run the gateway (with nothing configured: in front of the built-in simulator, which makes up a game server)",
    )
    .option("--host <address>", "address to listen on (GATEHOUSE_HOST, default 127.0.0.1)")
    .option("--port <number>", "port to listen on, 0 for a free one (GATEHOUSE_PORT, default 8080)")
    .option(
      "--data-dir <folder>",
      "folder for the database and key files (GATEHOUSE_DATA_DIR, default ./data)",
    )
    .option("--json", "print address, keys and data folder as one JSON line before the listening line")
    .addHelpText("after", "\nEvery setting is an environment variable or a line in .env; see .env.example.")
    .action(serve);
}

type ServeOptions = { host?: string; port?: string; dataDir?: string; json?: boolean };

async function serve(options: ServeOptions): Promise<void> {
  const config = parseConfig(
    readEnvironment(process.cwd(), {
      ...(options.host !== undefined && { GATEHOUSE_HOST: options.host }),
      ...(options.port !== undefined && { GATEHOUSE_PORT: options.port }),
      ...(options.dataDir !== undefined && { GATEHOUSE_DATA_DIR: options.dataDir }),
    }),
    process.stderr.isTTY ? "pretty" : "json",
  );
  // Other users must not read what we write: the database, its log and the key files.
  process.umask(0o077);
  // Loaded here, so that the other commands start faster.
  const { startWithRetry } = await import("../start-with-retry.ts");
  let app: App | undefined;
  let isStopping = false;
  const stop = () => {
    if (!isStopping && app) void end(app);
    // A start in progress is completed before the stop.
    isStopping = true;
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGHUP", () => app?.reloadTls());
  app = await startWithRetry(config, () => isStopping);
  if (!app) process.exit(0);
  if (isStopping) return await end(app);

  // The reader of these lines may have closed the pipe.
  process.stdout.on("error", () => {});
  const banner = options.json
    ? `${JSON.stringify({
        url: app.url,
        admin_url: app.adminUrl,
        api_key: app.demoToken,
        master_key: app.newMasterKey,
        data_dir: app.dataDir,
        upstream: config.upstreamUrl ?? "simulator",
      })}\n`
    : describeStart({
        url: app.url,
        adminUrl: app.adminUrl,
        upstreamUrl: config.upstreamUrl,
        redis: config.redis,
        archive: config.archive,
        dataDir: app.dataDir,
        apiKey: app.demoToken,
        masterKey: app.newMasterKey,
        servers: findServers(app, config.upstreamUrl === undefined),
      });
  process.stdout.write(banner);
  process.stdout.write(`gatehouse listening on ${app.url}\n`);
  // After the line that programs wait for, and without its words.
  if (app.adminUrl !== undefined) process.stdout.write(`gatehouse for operators: ${app.adminUrl}\n`);
}

function findServers({ store }: App, isSimulatorInUse: boolean): StartFacts["servers"] {
  const servers = Array.from(store.servers.all());
  if (servers.length === 0) return "none";
  return servers.every((server) => isParked(server, isSimulatorInUse)) ? "parked" : "served";
}

async function end(app: App): Promise<never> {
  try {
    await app.stop();
    process.exit(0);
  } catch (error) {
    app.log.error({ err: error }, "stopping failed");
    process.exit(1);
  }
}
