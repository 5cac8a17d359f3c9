// What `gatehouse serve` prints for people when it has started. The line that programs wait for comes after it.
import type { Config } from "../config.ts";
import { VERSION } from "../version.ts";

export type StartFacts = {
  /** Where it listens. */
  readonly url: string;
  /** Where operators are served, when they have a port of their own. */
  readonly adminUrl: string | undefined;
  /** Undefined with the built-in simulator. */
  readonly upstreamUrl: string | undefined;
  /** Undefined for the embedded store. */
  readonly redis: Config["redis"];
  readonly archive: Config["archive"];
  readonly dataDir: string;
  /** The key of the demo server. */
  readonly apiKey: string | undefined;
  /** Set at the first start with a generated master key. */
  readonly masterKey: string | undefined;
  /** Whether there is a game server that is not parked, only parked ones, or none at all. */
  readonly servers: "served" | "parked" | "none";
};

export function describeStart(facts: StartFacts): string {
  const { apiKey, masterKey } = facts;
  const base = findReachableUrl(facts.url);
  const lines = [
    `Gatehouse ${VERSION}`,
    "",
    `  dashboard   ${base}/`,
    ...(facts.adminUrl === undefined ? [] : [`  operators   ${findReachableUrl(facts.adminUrl)}/`]),
    `  reference   ${base}/docs`,
    `  game API    ${facts.upstreamUrl ?? "built-in simulator with made-up players (GATEHOUSE_UPSTREAM_URL names a real game API)"}`,
    `  store       ${describeStore(facts)}`,
    `  archive     ${describeArchive(facts.archive)}`,
    `  data        ${facts.dataDir}`,
  ];
  if (masterKey !== undefined) {
    lines.push(`  master key  ${masterKey}`);
    lines.push("              (for administration; shown once, kept in master.key in the data folder)");
  }
  if (apiKey !== undefined) {
    const insecure = base.startsWith("https:") ? " -k" : "";
    const curl = `curl${insecure} -H "Authorization: Bearer ${apiKey}" "${base}/v2/game/server?Players=true"`;
    lines.push(`  API key     ${apiKey}`, "", "Try it:", "", `  ${curl}`);
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

function describeStore({ redis }: Pick<StartFacts, "redis">): string {
  if (!redis) return "SQLite, in the data folder";
  const nodes = redis.nodes.map(({ host, port }) => `${host.includes(":") ? `[${host}]` : host}:${port}`);
  return `Redis${redis.isCluster ? " cluster" : ""} at ${nodes.join(", ")}${redis.isTls ? ", over TLS" : ""}`;
}

function describeArchive(archive: Config["archive"]): string {
  if (archive === "off") return "off: events are not remembered (GATEHOUSE_ARCHIVE)";
  if (archive === "sqlite") return "SQLite, in the data folder";
  const { host = "", pathname = "" } = URL.parse(archive.postgresUrl) ?? {};
  return `PostgreSQL at ${host}${pathname}`;
}

/** An address that a browser on this machine can open, also when Gatehouse listens on all addresses. */
function findReachableUrl(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
