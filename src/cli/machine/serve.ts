// gatehouse serve: runs the gateway until a signal stops it, and prints for people that it has started.
import { Command } from "commander";
import type { App } from "../../app.ts";
import { isParked } from "../../core/game-server.ts";
import { type Config, parseConfig, readEnvironment } from "../../instance/config.ts";
import { VERSION } from "../../instance/version.ts";

export function createServeCommand(): Command {
  return new Command("serve")
    .description(
      "run the gateway (with nothing configured: in front of the built-in simulator, which makes up a game server)",
    )
    .option("--host <address>", "address to listen on (GATEHOUSE_HOST, default 127.0.0.1)")
    .option("--port <number>", "port to listen on, 0 for a free one (GATEHOUSE_PORT, default 8080)")
    .option("--data-dir <folder>", "folder for the database and key files (GATEHOUSE_DATA_DIR, default ./data)")
    .option("--json", "print address, keys and data folder as one JSON line before the listening line")
    .addHelpText("after", "\nEvery setting is an environment variable or a line in .env; see .env.example.")
    .action(serve);
}

type ServeOptions = { host?: string; port?: string; dataDir?: string; json?: boolean };

async function serve(options: ServeOptions): Promise<void> {
  const { host, port, dataDir } = options;
  const overrides = { GATEHOUSE_HOST: host, GATEHOUSE_PORT: port, GATEHOUSE_DATA_DIR: dataDir };
  const config = parseConfig(readEnvironment(process.cwd(), overrides), process.stderr.isTTY ? "pretty" : "json");
  // Other users must not read what we write: the database, its log and the key files.
  process.umask(0o077);
  // Loaded here, so that the other commands start faster.
  const { startWithRetry } = await import("../../start-with-retry.ts");
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
  let isAddressTold = false;
  const tellAddress = (url: string) => {
    if (!isAddressTold) process.stdout.write(`gatehouse listening on ${url}\n`);
    isAddressTold = true;
  };
  app = await startWithRetry(config, { isCancelled: () => isStopping, onWaiting: tellAddress });
  if (!app) process.exit(0);
  void app.replaced.then((error) => endReplaced(error, app));
  if (isStopping) return await end(app);

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
        ...{ ...app, ...config },
        dataDir: app.dataDir,
        servers: findServers(app, config.upstreamUrl === undefined),
      });
  process.stdout.write(banner);
  tellAddress(app.url);
  // After the line that programs wait for, and without its words.
  if (app.adminUrl !== undefined) process.stdout.write(`gatehouse for operators: ${app.adminUrl}\n`);
}

function findServers({ store }: App, isSimulatorInUse: boolean): StartFacts["servers"] {
  const servers = Array.from(store.servers.all());
  if (servers.length === 0) return "none";
  return servers.every((server) => isParked(server, isSimulatorInUse)) ? "parked" : "served";
}

/** Without a stop, which would write: what this instance knows is out of date. */
function endReplaced(error: Error, app: App | undefined): never {
  app?.log.error({}, error.message);
  process.exit(1);
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

export type StartFacts = Pick<App, "url" | "adminUrl" | "dataDir" | "demoToken" | "newMasterKey"> &
  Pick<Config, "upstreamUrl" | "store" | "redis" | "archive"> & {
    /** Whether there is a game server that is not parked, only parked ones, or none at all. */
    readonly servers: "served" | "parked" | "none";
  };

export function describeStart(facts: StartFacts): string {
  const { demoToken, newMasterKey } = facts;
  const base = findReachableUrl(facts.url);
  const lines = [
    `Gatehouse ${VERSION}`,
    "",
    `  dashboard   ${base}/`,
    ...(facts.adminUrl === undefined ? [] : [`  operators   ${findReachableUrl(facts.adminUrl)}/`]),
    `  reference   ${base}/docs`,
    `  game API    ${facts.upstreamUrl ?? "built-in simulator with made-up players (GATEHOUSE_UPSTREAM_URL names a real game API)"}`,
    `  store       ${describePlace(facts.store)}`,
    ...(facts.redis ? [`  shared      ${describeRedis(facts.redis)}`] : []),
    `  archive     ${describePlace(facts.archive)}`,
    `  data        ${facts.dataDir}`,
  ];
  if (newMasterKey !== undefined) {
    const note = "              (for administration; shown once, kept in master.key in the data folder)";
    lines.push(`  master key  ${newMasterKey}`, note);
  }
  if (demoToken !== undefined) {
    const insecure = base.startsWith("https:") ? " -k" : "";
    const curl = `curl${insecure} -H "Authorization: Bearer ${demoToken}" "${base}/v2/game/server?Players=true"`;
    lines.push(`  API key     ${demoToken}`, "", "Try it:", "", `  ${curl}`);
  } else {
    lines.push(...describeNextStep(facts));
  }
  return `${lines.join("\n")}\n\n`;
}

function describeNextStep({ servers, upstreamUrl }: StartFacts): string[] {
  if (servers === "served") return [];
  const isParked = servers === "parked";
  if (isParked && upstreamUrl === undefined) {
    return [
      "",
      "Every game server is parked: they were added for a real game API, and this is the simulator.",
      "Set GATEHOUSE_UPSTREAM_URL and start again.",
    ];
  }
  return [
    "",
    isParked
      ? "Every game server is parked: they were added on the simulator. Add a real one, then make a key for it:"
      : "There is no game server yet. Add one, then make a key for it:",
    "",
    '  gatehouse servers add "My server"',
    '  gatehouse keys create --server "My server"',
  ];
}

function describeRedis(redis: NonNullable<Config["redis"]>): string {
  const nodes = redis.nodes.map(({ host, port }) => `${host.includes(":") ? `[${host}]` : host}:${port}`);
  const kind = redis.isCluster ? " cluster" : redis.primaryName === undefined ? "" : " behind sentinels";
  return `Redis${kind} at ${nodes.join(", ")}${redis.isTls ? ", over TLS" : ""}`;
}

function describePlace(place: Config["archive"]): string {
  if (place === "off") return "off: events are not remembered (GATEHOUSE_ARCHIVE)";
  if (place === "sqlite") return "SQLite, in the data folder";
  const { host = "", pathname = "" } = URL.parse(place.postgresUrl) ?? {};
  return `PostgreSQL at ${host}${pathname}`;
}

/** An address that a browser on this machine can open, also when Gatehouse listens on all addresses. */
function findReachableUrl(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
