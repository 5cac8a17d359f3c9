// Several real Gatehouse processes on one PostgreSQL and one Redis, with the simulator as the game API, and the requests
// that tests send to them. `endFleets` stops everything that was started here.
import type { Readiness } from "../../src/core/wire/health.ts";
import { type Simulator, type SimulatorOptions, startSimulator } from "../../src/simulator/simulator.ts";
import { type PostgresServer, startPostgres, stopPostgresServers } from "../postgres-server.ts";
import { type RedisServer, startRedis, stopRedisServers } from "../redis-server.ts";
import { type GatehouseProcess, run } from "../run-gatehouse.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

export const MASTER_KEY = "fleet-master-key-0123456789abcdefgh";
export const SECRET = "fleet-secret-0123456789abcdefghijkl";
const READ = "/v2/game/server";
export const COMMAND = "/v2/game/server/command";
/** Longer than any answer may take. */
const PATIENCE_MS = 30_000;

export type Answer = {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read single fields, and a wrong body fails the test.
  readonly body: any;
  readonly headers: Headers;
  readonly ms: number;
};

export type Home = { readonly serverId: string; readonly town: string };
export type Key = { readonly keyId: string; readonly token: string };

/** An instance whose process can be killed and started again. */
export class Instance {
  readonly #env: Readonly<Record<string, string>>;
  readonly #folder = makeFolder();
  #process: GatehouseProcess | undefined;
  #url = "";

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  get url(): string {
    return this.#url;
  }

  get port(): number {
    return Number(new URL(this.#url).port);
  }

  get process(): GatehouseProcess {
    if (!this.#process) throw new Error("this instance was never started");
    return this.#process;
  }

  async start(): Promise<void> {
    const env = { GATEHOUSE_PORT: "0", GATEHOUSE_DATA_DIR: this.#folder, ...this.#env };
    const child = run(["serve"], { cwd: this.#folder, env });
    this.#process = child;
    const line = await child.waitForLine("listening on");
    this.#url = /listening on (\S+)$/.exec(line)?.[1] ?? "";
  }

  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.process.exited;
  }

  /** As an operator would: open requests are finished. Returns the exit code. */
  async stop(): Promise<number> {
    this.process.kill("SIGTERM");
    return await this.process.exited;
  }

  freeze(): void {
    this.process.kill("SIGSTOP");
  }

  thaw(): void {
    this.process.kill("SIGCONT");
  }

  async ask(method: string, path: string, token: string, body?: unknown, more: object = {}): Promise<Answer> {
    const beganAt = performance.now();
    const response = await fetch(this.#url + path, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...more,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
      // An idle connection may be closed just when it is used again, and what changes something is not sent twice.
      keepalive: method === "GET",
    });
    const text = await response.text();
    const ms = performance.now() - beganAt;
    const parsed = text === "" ? undefined : JSON.parse(text);
    return { status: response.status, body: parsed, headers: response.headers, ms };
  }

  read({ token }: Pick<Key, "token">, query = ""): Promise<Answer> {
    return this.ask("GET", READ + query, token);
  }

  submit({ token }: Pick<Key, "token">, command: string, idempotencyKey?: string): Promise<Answer> {
    const more = idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey };
    return this.ask("POST", COMMAND, token, { command }, more);
  }

  admin(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.ask(method, `/admin${path}`, MASTER_KEY, body);
  }

  /** How many instances it sees, itself included. */
  countInstances(): Promise<number> {
    return this.readMetric("gatehouse_instances");
  }

  /** The status of /readyz, and the codes of its notices. */
  async checkReadiness(): Promise<{ readonly status: number; readonly notices: readonly string[] }> {
    const { status, body } = await this.ask("GET", "/readyz", MASTER_KEY);
    const notices: Readiness["notices"] = body.notices ?? [];
    return { status, notices: notices.map(({ code }) => code) };
  }

  /** A metric without labels; NaN when there is none. */
  async readMetric(name: string): Promise<number> {
    const headers = { Authorization: `Bearer ${MASTER_KEY}` };
    const metrics = await (await fetch(`${this.#url}/metrics`, { headers })).text();
    return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(metrics)?.[1]);
  }
}

export type Fleet = {
  readonly instances: readonly Instance[];
  readonly simulator: Simulator;
  /** The instance with this index. */
  at(index: number): Instance;
  addServer(draft?: { readonly town?: string; readonly watch?: boolean }): Promise<Home>;
  /** A key that every instance knows. */
  addKey(home: Home, rights?: object): Promise<Key>;
};

export type FleetOptions = {
  /** The database: one address for all instances, or one for each. */
  readonly stores: string | readonly string[];
  /** The Redis: one address for all instances, one for each, or none. */
  readonly redis?: string | readonly string[];
  /** The archive of each instance, when it is not in the database. */
  readonly archives?: readonly string[];
  readonly count?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly simulator?: SimulatorOptions;
  /** Puts something between the instances and the simulator, and returns its address. */
  readonly between?: (simulator: Simulator) => string;
};

export type Backing = { readonly postgres: PostgresServer; readonly redis: RedisServer };

/** A PostgreSQL and a Redis for a fleet, and the addresses of both. Redis keeps nothing when it is killed. */
export async function startBacking(): Promise<Backing & { readonly addresses: FleetOptions }> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis(["--appendonly", "no"])]);
  return { postgres, redis, addresses: { stores: await postgres.createDatabase(), redis: redis.url } };
}

let towns = 0;

export async function startFleet({
  stores,
  redis = [],
  archives = [],
  count = 4,
  env = {},
  simulator,
  between = ({ url }) => url,
}: FleetOptions): Promise<Fleet> {
  const game = await startSimulator({ readLimit: 0, commandIntervalMs: 0, players: 3, ...simulator });
  undoLater(() => game.stop());
  const upstreamUrl = between(game);
  const instances = Array.from({ length: count }, (_, index) => {
    const [redisUrl, archive] = [pick(redis, index), archives[index]];
    return new Instance({
      GATEHOUSE_STORE: pick(stores, index) ?? "",
      ...(redisUrl !== undefined && { GATEHOUSE_REDIS: redisUrl }),
      ...(archive !== undefined && { GATEHOUSE_ARCHIVE: archive }),
      GATEHOUSE_MASTER_KEY: MASTER_KEY,
      GATEHOUSE_SECRET: SECRET,
      GATEHOUSE_UPSTREAM_URL: upstreamUrl,
      GATEHOUSE_LOG_LEVEL: "warn",
      // Most tests count the calls that the game API gets.
      GATEHOUSE_WATCH: "off",
      ...env,
    });
  });
  await Promise.all(instances.map((instance) => instance.start()));
  const at = (index: number): Instance => {
    const found = instances[index];
    if (!found) throw new Error(`there is no instance ${index}`);
    return found;
  };
  return {
    instances,
    simulator: game,
    at,
    async addServer({ town = `Town${++towns}`, ...more } = {}) {
      const draft = { name: town, server_key: `fleet-${town}`, ...more };
      const answer = await at(0).admin("POST", "/servers", draft);
      return { serverId: expectStatus(answer, 201).server_id, town };
    },
    async addKey({ serverId }, rights = {}) {
      const wish = { server_id: serverId, label: "bot", commands: ["*"], ...rights };
      const made = expectStatus(await at(0).admin("POST", "/keys", wish), 201);
      const key = { keyId: made.key_id as string, token: made.token as string };
      await waitUntilKnown(instances, key);
      return key;
    },
  };
}

function pick(addresses: string | readonly string[], index: number): string | undefined {
  return typeof addresses === "string" ? addresses : addresses[index];
}

/** Polls with submissions without a command: they are refused and never counted, but not with 401 when the key is known. */
export async function waitUntilKnown(instances: readonly Instance[], { token }: Key): Promise<void> {
  await Promise.all(
    instances.map((instance) =>
      until("the key is not known everywhere", async () => {
        return (await instance.ask("POST", COMMAND, token, {})).status !== 401;
      }),
    ),
  );
}

export async function endFleets(): Promise<void> {
  await cleanUp();
  await Promise.all([stopRedisServers(), stopPostgresServers()]);
}

/** The body of an answer that must have this status. */
export function expectStatus({ status, body }: Answer, wanted: number) {
  if (status !== wanted) throw new Error(`${status} instead of ${wanted}: ${JSON.stringify(body)}`);
  return body;
}

/** Polls until `isSo` is true. Returns how long that took. */
export async function timeUntil(
  complaint: string,
  deadlineMs: number,
  isSo: () => boolean | Promise<boolean>,
): Promise<number> {
  const beganAt = performance.now();
  await until(complaint, isSo, deadlineMs);
  return performance.now() - beganAt;
}

/** Prints the seed, so that a failure can be repeated with GATEHOUSE_TEST_SEED=… */
export function chooseSeed(what: string): number {
  const wanted = Number(process.env.GATEHOUSE_TEST_SEED);
  const seed = wanted > 0 ? wanted : Math.floor(Math.random() * 2 ** 31) + 1;
  console.log(`${what}: GATEHOUSE_TEST_SEED=${seed}`);
  return seed;
}
