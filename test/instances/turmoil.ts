// Disturbs a fleet and its Redis at random while clients send commands to any instance, and compares the receipts of the
// clients with the commands that the game has received.
import type { Simulator } from "../../src/simulator/simulator.ts";
import { until } from "../process/run-gatehouse.ts";
import type { RedisServer } from "../redis-server.ts";
import { createRandom, expectStatus, type Fleet, type Home, type Instance, type Key } from "./fleet.ts";

const COLLECT_EVERY_MS = 100;
const DRAIN_MS = 45_000;
const CLIENT_PAUSE_MS = 30;
/** After this long without an answer, a submission is repeated on another instance with the same idempotency key. */
const CLIENT_PATIENCE_MS = 1_500;
const CLIENTS_PER_SERVER = 2;

export type Disturbance = "kill" | "freeze" | "freeze-past-lease" | "redis-kill" | "redis-freeze";

export type TurmoilOptions = {
  readonly fleet: Fleet;
  readonly redis: RedisServer;
  readonly disturbances: readonly Disturbance[];
  readonly leaseMs: number;
  readonly seed: number;
};

export type TurmoilReport = {
  readonly accepted: number;
  readonly repeated: number;
  readonly delivered: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** One sentence for each broken promise; empty when all were kept. */
  readonly problems: readonly string[];
};

type Place = { readonly home: Home; readonly key: Key };
export type Promised = { readonly commandId: string; readonly text: string };
type CommandBody = { readonly command_id: string; readonly command: string; readonly status: string };

export async function runTurmoil(options: TurmoilOptions): Promise<TurmoilReport> {
  const { fleet, redis, disturbances, leaseMs, seed } = options;
  const random = createRandom(seed);
  const pick = (): Instance => fleet.at(Math.floor(random() * fleet.instances.length));
  const record = recordCommands(fleet.simulator);
  const problems: string[] = [];
  const places: Place[] = [];
  for (let index = 0; index < 3; index++) {
    const home = await fleet.addServer();
    places.push({ home, key: await fleet.addKey(home) });
  }
  const promised = new Map<string, Promised[]>(places.map(({ home }) => [home.serverId, []]));
  let repeated = 0;
  let isOver = false;

  async function submitUntilAccepted({ key }: Place, text: string, id: string): Promise<string | undefined> {
    for (;;) {
      const answering = pick().submit(key, text, id);
      const patience = Bun.sleep(CLIENT_PATIENCE_MS).then(() => undefined);
      const answer = await Promise.race([answering.catch(() => undefined), patience]);
      if (answer?.status === 202) return answer.body.command_id;
      if (answer === undefined) repeated++;
      else if (![409, 429, 503].includes(answer.status)) {
        problems.push(`${text} was answered with ${answer.status} ${JSON.stringify(answer.body)}`);
        return undefined;
      }
      await Bun.sleep(CLIENT_PAUSE_MS);
    }
  }

  async function submitAll(place: Place, client: string): Promise<void> {
    for (let count = 1; !isOver; count++) {
      // Every tenth command is unknown to the game and must end as failed.
      const text = `${count % 10 === 0 ? ":nonsense" : ":h"} ${client} ${count}`;
      const commandId = await submitUntilAccepted(place, text, `${client}-${count}`);
      if (commandId === undefined) return;
      promised.get(place.home.serverId)?.push({ commandId, text });
      if (random() < 0.1) {
        repeated++;
        const again = await submitUntilAccepted(place, text, `${client}-${count}`);
        if (again !== undefined && again !== commandId) problems.push(`${text} was accepted twice`);
      }
      await Bun.sleep(CLIENT_PAUSE_MS * random());
    }
  }

  async function disturb(kind: Disturbance): Promise<void> {
    const victim = pick();
    switch (kind) {
      case "kill":
        await victim.kill();
        return await victim.start();
      case "freeze":
        victim.freeze();
        await Bun.sleep(random() * 900);
        return victim.thaw();
      case "freeze-past-lease":
        victim.freeze();
        await Bun.sleep(leaseMs + 500 + random() * 1_000);
        return victim.thaw();
      case "redis-kill":
        await redis.kill();
        await Bun.sleep(random() * 500);
        return await redis.start();
      case "redis-freeze":
        redis.freeze();
        await Bun.sleep(random() * 1_500);
        return redis.thaw();
    }
  }

  try {
    const clients = places.flatMap((place, index) =>
      Array.from({ length: CLIENTS_PER_SERVER }, (_, client) => submitAll(place, `s${index}c${client}`)),
    );
    // Calls are slow, so that disturbances often happen during one.
    fleet.simulator.arm({ kind: "slow", ms: 15, target: "commands" });
    for (const kind of disturbances) {
      await Bun.sleep(random() * 600);
      await disturb(kind);
    }
    await fleet.simulator.clearFaults();
    isOver = true;
    await Promise.all(clients);
    await until("the queues are not drained", () => isDrained(fleet.at(0)), DRAIN_MS);
    const calls = record.stop();

    const statuses: Record<string, number> = {};
    let delivered = 0;
    for (const { home } of places) {
      const commands = await listCommands(fleet.at(1), home);
      for (const { status } of commands) statuses[status] = (statuses[status] ?? 0) + 1;
      const got = calls.filter(({ server }) => server === home.town).map(({ command = "" }) => command);
      delivered += got.length;
      problems.push(...compare(commands, promised.get(home.serverId) ?? [], got, disturbances.length));
    }
    const accepted = [...promised.values()].reduce((sum, { length }) => sum + length, 0);
    return { accepted, repeated, delivered, statuses, problems };
  } finally {
    isOver = true;
    record.stop();
  }
}

/** Compares the receipts of one server's clients with the states in the fleet and the calls that the game has received. */
export function compare(
  commands: readonly CommandBody[],
  promised: readonly Promised[],
  got: readonly string[],
  disturbances: number,
): string[] {
  const problems: string[] = [];
  const byId = new Map(commands.map((command) => [command.command_id, command]));
  const timesGot = new Map<string, number>();
  for (const text of got) timesGot.set(text, (timesGot.get(text) ?? 0) + 1);

  for (const { commandId, text } of promised) {
    const command = byId.get(commandId);
    if (!command) problems.push(`${text} was accepted and is gone`);
    else if (command.command !== text) problems.push(`${text} became ${command.command}`);
  }
  for (const { command, status } of commands) {
    const times = timesGot.get(command) ?? 0;
    if (!["sent", "failed", "unknown"].includes(status)) problems.push(`${command} is still ${status}`);
    if (times > 1) problems.push(`${command} was delivered ${times} times`);
    if (times === 0 && status !== "unknown") problems.push(`${command} is ${status} and never arrived`);
    const isNonsense = command.startsWith(":nonsense");
    if (status !== "unknown" && isNonsense !== (status === "failed"))
      problems.push(`${command} is ${status}`);
  }
  const texts = commands.map(({ command }) => command);
  if (new Set(texts).size !== texts.length) problems.push("one text is there twice");
  const order = new Map(commands.map(({ command, status }, index) => [command, { status, place: index }]));
  let last = -1;
  for (const text of got) {
    const found = order.get(text);
    if (found === undefined) problems.push(`${text} arrived and was never accepted`);
    // An instance that was frozen while sending sends late, after the others have gone on (decision 10).
    else if (found.status === "unknown") continue;
    else if (found.place < last) problems.push(`${text} is ${found.status} and arrived out of order`);
    else last = found.place;
  }
  // Each client waits for one acceptance before its next command.
  const latest = new Map<string, number>();
  for (const text of texts) {
    const [, client = "", count = "0"] = text.split(" ");
    if (Number(count) <= (latest.get(client) ?? 0)) problems.push(`${text} was accepted out of order`);
    latest.set(client, Number(count));
  }
  const unknown = commands.filter(({ status }) => status === "unknown").length;
  if (unknown > disturbances) problems.push(`${unknown} are unknown after ${disturbances} disturbances`);
  return problems;
}

/** All commands of a server, in the order of their acceptance. */
export async function listCommands(instance: Instance, { serverId }: Home): Promise<CommandBody[]> {
  const found: CommandBody[] = [];
  let cursor = "";
  do {
    const path = `/commands?server_id=${serverId}&limit=200${cursor}`;
    const page = await askUntilAnswered(instance, path);
    found.push(...page.items);
    cursor = page.next === null ? "" : `&cursor=${page.next}`;
  } while (cursor !== "");
  return found.reverse();
}

export async function isDrained(instance: Instance): Promise<boolean> {
  for (const status of ["queued", "sending"]) {
    const page = await askUntilAnswered(instance, `/commands?limit=1&status=${status}`);
    if (page.items.length > 0) return false;
  }
  return true;
}

/** Retries after 5106: on a busy machine Redis may miss its deadline. */
async function askUntilAnswered(instance: Instance, path: string) {
  let answer = await instance.admin("GET", path);
  for (let tries = 1; answer.status === 503 && tries < 20; tries++) {
    await Bun.sleep(CLIENT_PAUSE_MS * 10);
    answer = await instance.admin("GET", path);
  }
  return expectStatus(answer, 200);
}

/** The simulator keeps only its last calls, so they are collected during the test. */
export function recordCommands(simulator: Simulator) {
  const calls: ReturnType<Simulator["calls"]>["calls"] = [];
  let { next } = simulator.calls();
  const collect = () => {
    const found = simulator.calls(next);
    if (found.calls.length > 0 && found.calls[0]?.index !== next) throw new Error("calls were missed");
    calls.push(...found.calls);
    next = found.next;
  };
  const timer = setInterval(collect, COLLECT_EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      collect();
      return calls.filter(({ kind }) => kind === "command");
    },
  };
}
