// Four instances on one PostgreSQL and one Redis are restarted in turn behind a balancer, while clients send requests and
// streams are open. No request may fail, and no event and no command may be lost or come twice.
import { CommandEnds } from "../command-ends.ts";
import { findCommandFaults, recordCommands } from "../command-judge.ts";
import { isDrained, listFrom } from "../instances/command-clients.ts";
import { expectStatus, type Fleet, type Home, startBacking, startFleet } from "../instances/fleet.ts";
import { stopPostgresServers } from "../postgres-server.ts";
import { createRandom } from "../random.ts";
import { stopRedisServers } from "../redis-server.ts";
import { ResumingReader } from "../resuming-reader.ts";
import { undoLater } from "../temporary.ts";
import { until } from "../until.ts";
import { startBalancer } from "./balancer.ts";
import type { Tools, Verdict } from "./long-run.ts";
import { KeyRing, RestartLoad } from "./restart-load.ts";

const INSTANCES = 4;
const SERVERS = 3;
const CLIENTS = 12;
const READER_KEYS = 60;
/** Of each kind; every stream has a key of its own. */
const STREAMS = 5;
const DRAIN_MS = 60_000;
const CATCH_UP_MS = 30_000;
/** Ends of commands are collected after so many restarts. */
const COLLECT_EVERY = 10;
/** How long a restarted instance serves before the other one is restarted, at most. */
const PAUSE_MAX_MS = 500;

export type RestartOptions = { readonly count: number; readonly delayMs: number };

export async function runRestarts(
  { count, delayMs }: RestartOptions,
  { seed, stopped, progress }: Tools,
): Promise<Verdict> {
  const random = createRandom(seed);
  const problems: string[] = [];
  const fleet = await startStage();
  const calls = recordCommands(fleet.simulator);
  undoLater(() => void calls.stop());
  const homes = await Promise.all(
    Array.from({ length: SERVERS }, async () => {
      const home = await fleet.addServer();
      const { token } = await fleet.addKey(home);
      return { ...home, token, ends: new CommandEnds(home.serverId) };
    }),
  );
  const [watched] = homes;
  if (!watched) throw new Error("there is no server");
  const addTokens = async (keys: number) => {
    const tokens: string[] = [];
    // One after the other: on a busy machine the last of many changes at once would wait for too long.
    while (tokens.length < keys) tokens.push((await fleet.addKey(watched)).token);
    return tokens;
  };
  const port = await startBalancer({ listPorts: () => fleet.instances.map((each) => each.port), delayMs });
  const readers = (await addTokens(STREAMS * 2)).map((token, index) => {
    const kind = index % 2 === 0 ? ("sse" as const) : ("socket" as const);
    return new ResumingReader({ kind, token, choosePort: () => port });
  });
  const reading = readers.map((reader) => reader.run());
  const stopReaders = async () => {
    for (const reader of readers) reader.stop();
    await Promise.all(reading);
  };
  undoLater(stopReaders);
  const keys = new KeyRing(await addTokens(READER_KEYS));
  const load = new RestartLoad({ port, homes, readers: keys, clients: CLIENTS, random });
  undoLater(() => load.stop());

  let restarts = 0;
  for (; restarts < count && !stopped.aborted; restarts++) {
    progress(restarts / count, `${restarts} restarts, ${load.requests} requests, ${load.failures.length} failed`);
    await Bun.sleep(random() * PAUSE_MAX_MS);
    const instance = fleet.at(restarts % INSTANCES);
    const code = await instance.stop();
    if (code !== 0) problems.push(`an instance ended with ${code}`);
    await instance.start();
    if (restarts % COLLECT_EVERY === 0) for (const { ends } of homes) await ends.collect(listFrom(instance));
  }
  await load.stop();
  progress(1, "comparing streams and commands");
  problems.push(...load.failures.map((failure) => `a request failed: ${failure}`), ...load.problems);
  problems.push(...(await judgeCommands(fleet, homes, load, calls)));
  const { events, lost, repeated } = await judgeStreams(fleet, watched, readers, problems);
  await stopReaders();

  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const failedOpenings = sum(readers.map((reader) => reader.failedOpenings));
  const cuts = sum(readers.map((reader) => reader.cuts));
  if (failedOpenings > 0) problems.push(`${failedOpenings} times a stream could not be opened`);
  if (cuts > 0) problems.push(`${cuts} streams ended without a farewell`);
  const opened = sum(readers.map(({ connections }) => connections));
  const figures = {
    restarts,
    requests: load.requests + opened + failedOpenings,
    failed: load.failures.length + failedOpenings,
    slowestMs: Math.round(load.slowestMs),
    streams: readers.length,
    reconnects: opened - readers.length,
    events,
    eventsLost: lost,
    eventsRepeated: repeated,
    commands: load.commands,
  };
  const summary = `${restarts} restarts, ${figures.requests} requests, ${figures.failed} failed; ${readers.length} streams, ${figures.reconnects} reconnects, ${events} events, ${lost} lost, ${repeated} repeated; ${figures.commands} commands`;
  return { summary, figures, problems };
}

async function startStage(): Promise<Fleet> {
  undoLater(stopPostgresServers);
  undoLater(stopRedisServers);
  const { addresses } = await startBacking();
  return await startFleet({
    ...addresses,
    count: INSTANCES,
    env: {
      GATEHOUSE_COMMAND_INTERVAL_MS: "1",
      GATEHOUSE_FRESH_MS: "100",
      GATEHOUSE_WATCH: "on",
      GATEHOUSE_WATCH_INTERVAL_MS: "200",
    },
    simulator: { players: 15, speed: 50 },
  });
}

/** Every accepted command arrived once, and nothing else arrived. */
async function judgeCommands(
  fleet: Fleet,
  homes: readonly (Home & { readonly ends: CommandEnds })[],
  load: RestartLoad,
  calls: ReturnType<typeof recordCommands>,
): Promise<string[]> {
  const problems: string[] = [];
  await until("the queues are not drained", () => isDrained(fleet.at(0)), DRAIN_MS).catch((error: Error) =>
    problems.push(error.message),
  );
  const got = calls.stop();
  for (const { serverId, town, ends } of homes) {
    await ends.collect(listFrom(fleet.at(1)));
    problems.push(
      ...findCommandFaults({
        commands: ends.all,
        promised: load.promised.get(serverId) ?? [],
        got: got.filter(({ server }) => server === town).map(({ command }) => command),
        unknownMax: 0,
      }),
    );
  }
  return problems;
}

/** Compares what every stream told with the ledger, once nothing is recorded any more. */
async function judgeStreams(
  fleet: Fleet,
  { serverId }: Home,
  readers: readonly ResumingReader[],
  problems: string[],
): Promise<{ events: number; lost: number; repeated: number }> {
  expectStatus(await fleet.at(0).admin("PATCH", `/servers/${serverId}`, { watch: false }), 200);
  let ledger = await readLedger(fleet, serverId);
  await until("the ledger goes on", async () => {
    const before = ledger.length;
    await Bun.sleep(1_000);
    ledger = await readLedger(fleet, serverId);
    return ledger.length === before;
  });
  const isBehind = ({ ids }: ResumingReader) => new Set(ids).size < ledger.length;
  await until("a stream is behind", () => !readers.some(isBehind), CATCH_UP_MS).catch(() => {});
  const [told, recorded] = [{ lost: 0, repeated: 0 }, new Set(ledger)];
  for (const [index, { ids }] of readers.entries()) {
    const seen = new Set(ids);
    told.lost += recorded.difference(seen).size;
    told.repeated += ids.length - seen.size;
    if (seen.difference(recorded).size > 0) problems.push(`stream ${index} told events that are not recorded`);
    const isInOrder = [...seen].join() === ledger.filter((id) => seen.has(id)).join();
    if (!isInOrder) problems.push(`stream ${index} told events out of order`);
  }
  if (ledger.length === 0) problems.push("nothing was recorded, so the streams were not judged");
  if (told.lost > 0) problems.push(`${told.lost} events did not reach a stream`);
  if (told.repeated > 0) problems.push(`${told.repeated} events reached a stream twice`);
  return { events: ledger.length, ...told };
}

/** The ids of all events, oldest first. */
async function readLedger(fleet: Fleet, serverId: string): Promise<string[]> {
  const ids: string[] = [];
  for (let after = "earliest"; ; ) {
    const path = `/servers/${serverId}/events?after=${after}&limit=500`;
    const page = expectStatus(await fleet.at(0).admin("GET", path), 200);
    ids.push(...page.items.map(({ id }: { id: string }) => id));
    if (!page.has_more) return ids;
    after = page.next;
  }
}
