// Streams of two instances on one Redis and one PostgreSQL: readers that come back with their cursor have every event once and
// in order, whatever is killed, and a key that is taken away on one instance ends its streams on the other.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type PostgresServer, startPostgres, stopPostgresServers } from "../postgres-server.ts";
import { until } from "../process/run-gatehouse.ts";
import { startRedis } from "../redis-server.ts";
import { SocketReader, SseReader } from "../stream-reader.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { endFleets, type Fleet, type Home, type Instance, type Key, startFleet, timeUntil } from "./fleet.ts";

const READERS = 200;
const READERS_PER_KEY = 4;
const RETRY_MS = 2_000;
/** A key that was taken away ends its streams within this time. */
const ENDS_WITHIN_MS = 1_000;
/** For a machine that does other work too. */
const LOADED_FACTOR = 4;

let fleet: Fleet;
let postgres: PostgresServer;
/** Between the readers and each instance. */
let proxies: readonly FaultProxy[];

beforeAll(async () => {
  const [redis, database] = await Promise.all([startRedis(), startPostgres()]);
  postgres = database;
  fleet = await startFleet({
    stores: redis.url,
    count: 2,
    env: { GATEHOUSE_ARCHIVE: await postgres.createDatabase(), GATEHOUSE_WATCH_INTERVAL_MS: "300" },
    simulator: { players: 20 },
  });
  proxies = await Promise.all(fleet.instances.map(({ port }) => FaultProxy.start(port)));
}, 60_000);
afterAll(async () => {
  await endFleets();
  await stopPostgresServers();
});

/** A reader that keeps its cursor, and comes back whenever its stream ends. */
class Follower {
  readonly ids: string[] = [];
  readonly #kind: "stream" | "socket";
  readonly #token: string;
  readonly #base: string;
  readonly #stopped = new AbortController();
  #cursor = "earliest";
  readonly done: Promise<void>;

  constructor(kind: "stream" | "socket", base: string, { token }: Key) {
    this.#kind = kind;
    this.#token = token;
    this.#base = base;
    this.done = this.#follow();
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #follow(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const read = this.#kind === "stream" ? this.#readStream() : this.#readSocket();
      await read.catch(() => {});
      if (!this.#stopped.signal.aborted) await Bun.sleep(RETRY_MS);
    }
  }

  #take(id: string | undefined, isEvent: boolean): void {
    if (id === undefined) return;
    if (isEvent) this.ids.push(id);
    this.#cursor = id;
  }

  async #readStream(): Promise<void> {
    const url = `${this.#base}/v2/game/server/events/stream?after=earliest`;
    const last = this.#cursor === "earliest" ? {} : { "Last-Event-ID": this.#cursor };
    const response = await fetch(url, {
      headers: { Authorization: `Bearer ${this.#token}`, ...last } as Record<string, string>,
      signal: this.#stopped.signal,
    });
    if (response.status !== 200) return;
    const reader = new SseReader(response);
    for (let message = await reader.next(); message; message = await reader.next()) {
      this.#take(message.id, message.data.type === message.event);
    }
  }

  async #readSocket(): Promise<void> {
    const url = `${this.#base}/v2/game/server/events/socket?after=${this.#cursor}`;
    const reader = new SocketReader(url, { Authorization: `Bearer ${this.#token}` });
    this.#stopped.signal.addEventListener("abort", () => reader.socket.close());
    await reader.opened;
    for (let frame = await reader.next(); frame; frame = await reader.next()) {
      this.#take(frame.event?.id ?? frame.cursor, frame.op === "event");
    }
  }
}

async function readLedger(instance: Instance, { serverId }: Home): Promise<string[]> {
  const ids: string[] = [];
  for (let after = "earliest", hasMore = true; hasMore; ) {
    const { body } = await instance.admin("GET", `/servers/${serverId}/events?limit=500&after=${after}`);
    ids.push(...body.items.map(({ id }: { id: string }) => id));
    after = body.next;
    hasMore = body.has_more;
  }
  return ids;
}

test("200 readers of both kinds have every event once and in order, over killed instances, PostgreSQL and lines", async () => {
  const home = await fleet.addServer();
  const keys: Key[] = [];
  for (let made = 0; made < READERS / READERS_PER_KEY; made++) keys.push(await fleet.addKey(home));
  const followers = Array.from({ length: READERS }, (_, index) => {
    const proxy = proxies[index % 2];
    const key = keys[Math.floor(index / READERS_PER_KEY)];
    if (!proxy || !key) throw new Error("not enough of them");
    const kind = index % 4 < 2 ? "stream" : "socket";
    return new Follower(kind, `http://127.0.0.1:${proxy.port}`, key);
  });
  const [one, other] = [fleet.at(0), fleet.at(1)];
  /** Everybody has what was recorded until now, and more has been recorded since. */
  const catchUp = async (complaint: string) => {
    const isKnown = async () => (await readLedger(other, home)).length > 0;
    await until("nothing is recorded", isKnown, 30_000);
    const newest = (await readLedger(other, home)).at(-1) ?? "";
    const isThere = () => followers.every(({ ids }) => ids.includes(newest));
    await until(complaint, isThere, 60_000);
    const more = async () => (await readLedger(other, home)).at(-1) !== newest;
    await until("nothing more is recorded", more, 30_000);
  };
  await catchUp("not everybody reads");

  await one.kill();
  await one.start();
  if (proxies[0]) proxies[0].targetPort = one.port;
  await catchUp("not everybody came back to the killed instance");

  await postgres.kill();
  await postgres.start();
  await catchUp("not everybody reads after PostgreSQL was killed");

  for (const proxy of proxies) proxy.set({ kind: "hold" });
  await until("nothing happens", async () => (await readLedger(other, home)).length > 0);
  for (const proxy of proxies) proxy.set({ kind: "closed" });
  for (const proxy of proxies) proxy.set({ kind: "pass" });
  await catchUp("not everybody came back after the lines were cut");

  other.process.kill("SIGTERM");
  expect(await other.process.exited).toBe(0);
  await other.start();
  if (proxies[1]) proxies[1].targetPort = other.port;
  await catchUp("not everybody came back after the restart");

  await one.admin("PATCH", `/servers/${home.serverId}`, { watch: false });
  const whole = async () => {
    const ledger = await readLedger(one, home);
    return followers.every(({ ids }) => ids.at(-1) === ledger.at(-1));
  };
  await until("not everybody has the last event", whole, 60_000);
  const ledger = await readLedger(one, home);
  for (const { ids } of followers) expect(ids).toEqual(ledger);
  for (const follower of followers) follower.stop();
  await Promise.all(followers.map(({ done }) => done));
}, 300_000);

test("a key that is revoked on one instance ends its streams on the other", async () => {
  const home = await fleet.addServer();
  const key = await fleet.addKey(home);
  const { url } = fleet.at(1);
  const headers = { Authorization: `Bearer ${key.token}` };
  const reader = new SseReader(
    await fetch(`${url}/v2/game/server/events/stream?types=alert.raised`, { headers }),
  );
  const socket = new SocketReader(`${url}/v2/game/server/events/socket?types=alert.raised`, headers);
  expect([(await reader.next())?.event, (await socket.next())?.op]).toEqual(["hello", "hello"]);
  await fleet.at(0).admin("DELETE", `/keys/${key.keyId}`);
  let ended = 0;
  void reader.next().then((bye) => {
    expect(bye).toMatchObject({ event: "bye", data: { code: 5008 } });
    ended++;
  });
  void socket.closed.then((code) => {
    expect(code).toBe(4001);
    ended++;
  });
  expect(await timeUntil("the streams go on", 20_000, () => ended === 2)).toBeLessThan(
    LOADED_FACTOR * ENDS_WITHIN_MS,
  );
}, 60_000);
