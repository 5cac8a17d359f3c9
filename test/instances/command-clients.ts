// Clients that send commands to any instance of a fleet and keep the receipts, and the comparison of these receipts with the
// states in the fleet and with the commands that the game has received.
import { CommandEnds, type ListCommands } from "../command-ends.ts";
import { type CommandBody, findCommandFaults, type Promised, recordCommands } from "../command-judge.ts";
import { until } from "../until.ts";
import { type Answer, expectStatus, type Fleet, type Home, type Instance, type Key } from "./fleet.ts";

const DRAIN_MS = 45_000;
const CLIENT_PAUSE_MS = 30;
/** After this long without an answer, a submission is repeated on another instance with the same idempotency key. */
const CLIENT_PATIENCE_MS = 1_500;
const CLIENTS_PER_SERVER = 2;

/** The keys take turns: one may have only so many commands whose idempotency keys are remembered. */
export type Place = { readonly home: Home; readonly keys: readonly [Key, ...Key[]] };

export type Deliveries = {
  readonly delivered: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** One sentence for each broken promise; empty when all were kept. */
  readonly problems: readonly string[];
};

export class CommandClients {
  readonly #fleet: Fleet;
  readonly #places: readonly Place[];
  readonly #random: () => number;
  readonly #record: ReturnType<typeof recordCommands>;
  readonly #promised: Map<string, Promised[]>;
  readonly #ends: ReadonlyMap<Place, CommandEnds>;
  readonly #problems: string[] = [];
  #running: readonly Promise<void>[] = [];
  #stoppedAt: number | undefined;
  #accepted = 0;
  #refused = 0;
  #repeated = 0;

  constructor(fleet: Fleet, places: readonly Place[], random: () => number) {
    this.#fleet = fleet;
    this.#places = places;
    this.#random = random;
    this.#record = recordCommands(fleet.simulator);
    this.#promised = new Map(places.map(({ home }) => [home.serverId, []]));
    this.#ends = new Map(places.map((place) => [place, new CommandEnds(place.home.serverId)]));
  }

  get accepted(): number {
    return this.#accepted;
  }

  /** Submissions that were answered with 503. */
  get refused(): number {
    return this.#refused;
  }

  /** Submissions that were sent again, because no answer came or on purpose. */
  get repeated(): number {
    return this.#repeated;
  }

  start(): void {
    this.#running = this.#places.flatMap((place, index) =>
      Array.from({ length: CLIENTS_PER_SERVER }, (_, client) => this.#submitAll(place, `s${index}c${client}`)),
    );
  }

  /** Resolves when every command that was begun is accepted. */
  async stop(): Promise<void> {
    this.#stoppedAt ??= performance.now();
    await Promise.all(this.#running);
  }

  /** Ends everything at once, without a judgement. */
  abandon(): void {
    this.#stoppedAt ??= Number.NEGATIVE_INFINITY;
    this.#record.stop();
  }

  /** To be called from time to time in a long run, before the fleet drops commands that have ended. */
  async collectEnds(): Promise<void> {
    const { instances } = this.#fleet;
    const list = listFrom(this.#fleet.at(instances.length - 1));
    for (const ends of this.#ends.values()) await ends.collect(list);
  }

  /** Waits until every command has ended. At most so many of each server may be unknown. */
  async judge(unknownMax: number): Promise<Deliveries> {
    const problems = [...this.#problems];
    await until("the queues are not drained", () => isDrained(this.#fleet.at(0)), DRAIN_MS).catch((error: Error) =>
      problems.push(error.message),
    );
    const calls = this.#record.stop();
    await this.collectEnds();
    const statuses: Record<string, number> = {};
    let delivered = 0;
    for (const [{ home }, { all: commands }] of this.#ends) {
      for (const { status } of commands) statuses[status] = (statuses[status] ?? 0) + 1;
      const got = calls.filter(({ server }) => server === home.town).map(({ command }) => command);
      delivered += got.length;
      const promised = this.#promised.get(home.serverId) ?? [];
      problems.push(...findCommandFaults({ commands, promised, got, unknownMax, mayUnknownBeLate: true }));
    }
    return { delivered, statuses, problems };
  }

  /** Sends one command after the other, until it is stopped. */
  async #submitAll(place: Place, client: string): Promise<void> {
    for (let count = 1; this.#stoppedAt === undefined; count++) {
      // Every tenth command is unknown to the game and must end as failed.
      const text = `${count % 10 === 0 ? ":nonsense" : ":h"} ${client} ${count}`;
      const key = place.keys[count % place.keys.length] ?? place.keys[0];
      const commandId = await this.#submitUntilAccepted(key, text, `${client}-${count}`);
      if (commandId === undefined) return;
      this.#accepted++;
      this.#promised.get(place.home.serverId)?.push({ commandId, text });
      if (this.#random() < 0.1) {
        this.#repeated++;
        const again = await this.#submitUntilAccepted(key, text, `${client}-${count}`);
        if (again !== undefined && again !== commandId) this.#problems.push(`${text} was accepted twice`);
      }
      await Bun.sleep(CLIENT_PAUSE_MS * this.#random());
    }
  }

  async #submitUntilAccepted(key: Key, text: string, id: string): Promise<string | undefined> {
    for (;;) {
      const answering = this.#pick().submit(key, text, id);
      const patience = Bun.sleep(CLIENT_PATIENCE_MS).then(() => undefined);
      const answer = await Promise.race([answering.catch(() => undefined), patience]);
      if (answer?.status === 202) return answer.body.command_id;
      if (answer === undefined) this.#repeated++;
      else if (answer.status === 503) this.#noteRefusal(text, answer);
      else if (![409, 429].includes(answer.status)) {
        this.#problems.push(`${text} was answered with ${answer.status} ${JSON.stringify(answer.body)}`);
        return undefined;
      }
      if (this.#stoppedAt !== undefined && performance.now() - this.#stoppedAt > DRAIN_MS) {
        this.#problems.push(`${text} was not accepted within ${DRAIN_MS} ms after the last disturbance`);
        return undefined;
      }
      await Bun.sleep(CLIENT_PAUSE_MS);
    }
  }

  #noteRefusal(text: string, { body, headers }: Answer): void {
    this.#refused++;
    if (body?.code !== 5106 || !(Number(headers.get("retry-after")) > 0))
      this.#problems.push(`${text} was refused with ${JSON.stringify(body)}, without Retry-After or not as 5106`);
  }

  #pick(): Instance {
    return this.#fleet.at(Math.floor(this.#random() * this.#fleet.instances.length));
  }
}

/** All commands of a server, in the order of their acceptance. */
export async function listCommands(instance: Instance, { serverId }: Home): Promise<CommandBody[]> {
  const newestFirst = await listFrom(instance)(serverId, () => false);
  return newestFirst.reverse();
}

export function listFrom(instance: Instance): ListCommands {
  return async (serverId, isEnough) => {
    const found: CommandBody[] = [];
    for (let cursor = ""; ; ) {
      const path = `/commands?server_id=${serverId}&limit=200${cursor}`;
      const { items, next } = await askUntilAnswered(instance, path);
      found.push(...items);
      if (next === null || isEnough(items)) return found;
      cursor = `&cursor=${next}`;
    }
  };
}

export async function isDrained(instance: Instance): Promise<boolean> {
  for (const status of ["queued", "sending"]) {
    const page = await askUntilAnswered(instance, `/commands?limit=1&status=${status}`);
    if (page.items.length > 0) return false;
  }
  return true;
}

/** Retries after 5106: on a busy machine PostgreSQL may miss its deadline. */
async function askUntilAnswered(instance: Instance, path: string) {
  let answer = await instance.admin("GET", path);
  for (let tries = 1; answer.status === 503 && tries < 20; tries++) {
    await Bun.sleep(CLIENT_PAUSE_MS * 10);
    answer = await instance.admin("GET", path);
  }
  return expectStatus(answer, 200);
}
