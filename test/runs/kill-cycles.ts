// Kills the real service again and again on one data folder, while clients send commands, game servers are watched and webhooks
// are delivered. Then compares what was promised with what the game, the ledger and the receivers have got.
import { LOG_LISTS } from "../../src/core/events/memory.ts";
import { type Simulator, startSimulator } from "../../src/simulator/simulator.ts";
import { CommandEnds } from "../command-ends.ts";
import { findCommandFaults, type Promised, recordCommands } from "../command-judge.ts";
import { findLedgerFaults, listGaps } from "../faults/ledger-judge.ts";
import { createRandom } from "../random.ts";
import { makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";
import { type Reaction, WebhookReceiver } from "../webhook-receiver.ts";
import { KillClients } from "./kill-clients.ts";
import { type Home, makeHomes, Service } from "./killed-service.ts";
import { findWebhookFaults } from "./webhook-judge.ts";

const SERVERS = 8;
const CLIENTS_PER_SERVER = 3;
/** The longest time until a listening process is killed. */
const LIFE_MAX_MS = 2_000;
/**
 * A new process sends nothing while commands keep arriving, for up to a second. So in most lives the clients come only after
 * it has begun with what waited.
 */
const LATE_CLIENTS_SHARE = 0.75;
const LATE_CLIENTS_MS = 150;
/** This share of the processes is killed while it starts. */
const EARLY_KILL_SHARE = 0.1;
const START_MAX_MS = 300;
/** The share of webhooks that are not accepted. */
const REFUSED_SHARE = 0.05;
const REFUSALS: readonly Reaction[] = [500, "reset", "close", 429, "redirect"];
/** How long the game takes for a command; it stays so for one life of the process. */
const COMMAND_MS = [0, 0, 3, 10];
const BURST_SHARE = 0.2;
const LOG_WINDOW = 60;
/** Ends of commands are collected after so many kills. */
const COLLECT_EVERY = 25;
/** After so many kills a new data folder is begun, so that the longest run needs no more memory than this. */
const KILLS_PER_FOLDER = 1_000;
const DRAIN_MS = 60_000;
/** Events may wait for their webhooks for long, but one must get through in this time. */
const DELIVERY_MS = 30_000;
const UNWATCHED = { GATEHOUSE_WATCH: "off" };

export type KillOptions = {
  readonly count: number;
  readonly seed: number;
  readonly stopped?: AbortSignal;
  /** Tells how far it is, from 0 to 1. */
  readonly progress?: (done: number, text: string) => void;
};

export type KillFigures = {
  kills: number;
  accepted: number;
  /** Submissions that were sent again, because the answer was lost or on purpose. */
  repeated: number;
  delivered: number;
  unknown: number;
  /** In the ledgers, gaps included. */
  events: number;
  gaps: number;
  /** Different events that the receivers have accepted. */
  webhookEvents: number;
};

/** `problems`: broken promises, one sentence each. */
export type KillReport = { readonly figures: KillFigures; readonly problems: readonly string[] };

export async function runKillCycles({ count, seed, stopped, progress }: KillOptions): Promise<KillReport> {
  const figures: KillFigures = {
    kills: 0,
    accepted: 0,
    repeated: 0,
    delivered: 0,
    unknown: 0,
    events: 0,
    gaps: 0,
    webhookEvents: 0,
  };
  const problems: string[] = [];
  const random = createRandom(seed);
  const shared: Shared = {
    random,
    figures,
    problems,
    stopped,
    progress: (text) => progress?.((0.99 * figures.kills) / count, text),
  };
  while (figures.kills < count && !stopped?.aborted) {
    const folder = await KilledFolder.open(shared, seed + figures.kills);
    try {
      await folder.run(Math.min(KILLS_PER_FOLDER, count - figures.kills));
    } finally {
      await folder.close();
    }
  }
  return { figures, problems };
}

type Shared = {
  readonly random: () => number;
  readonly figures: KillFigures;
  readonly problems: string[];
  readonly stopped: AbortSignal | undefined;
  readonly progress: (text: string) => void;
};

/** What is known of one game server. */
type Watched = {
  readonly home: Home;
  readonly promised: Promised[];
  readonly ends: CommandEnds;
  readonly receiver: WebhookReceiver;
};

class KilledFolder {
  readonly #shared: Shared;
  readonly #simulator: Simulator;
  readonly #record: ReturnType<typeof recordCommands>;
  readonly #service: Service;
  readonly #watched: readonly Watched[];
  readonly #clients: KillClients;

  private constructor(shared: Shared, simulator: Simulator, service: Service, watched: readonly Watched[]) {
    this.#shared = shared;
    this.#simulator = simulator;
    this.#record = recordCommands(simulator);
    this.#service = service;
    this.#watched = watched;
    this.#clients = new KillClients(service, shared);
  }

  static async open(shared: Shared, seed: number): Promise<KilledFolder> {
    const simulator = await startSimulator({
      seed,
      players: 6,
      speed: 10,
      readLimit: 0,
      commandIntervalMs: 0,
      logWindow: LOG_WINDOW,
    });
    undoLater(() => simulator.stop());
    const folder = makeFolder();
    const homes = await makeHomes(folder, simulator.url, {
      servers: SERVERS,
      keysPerServer: CLIENTS_PER_SERVER,
    });
    const service = new Service(folder, simulator.url, {
      GATEHOUSE_ARCHIVE: "sqlite",
      GATEHOUSE_WATCH: "on",
      GATEHOUSE_WATCH_INTERVAL_MS: "400",
      GATEHOUSE_FRESH_MS: "1",
      GATEHOUSE_WEBHOOKS_PRIVATE: "allow",
      GATEHOUSE_WEBHOOKS_RETRY_MS: "5",
    });
    // Before the first reading, so that the webhooks begin with the first event.
    await service.start(UNWATCHED);
    const watched: Watched[] = [];
    for (const home of homes) {
      const receiver = await WebhookReceiver.start();
      undoLater(() => receiver.stop());
      const { random } = shared;
      receiver.react = () => {
        if (random() >= REFUSED_SHARE) return 204;
        return REFUSALS[Math.floor(random() * REFUSALS.length)] ?? 500;
      };
      const { serverId } = home;
      const draft = { server_id: serverId, label: home.town, url: receiver.url, format: "standard" };
      const { secret } = await service.ask<{ secret: string }>("POST", "/webhooks", draft);
      receiver.secrets = [secret];
      watched.push({ home, promised: [], ends: new CommandEnds(serverId), receiver });
    }
    for (const { home } of watched) await fillLists(simulator, service, home);
    await service.end("SIGTERM");
    return new KilledFolder(shared, simulator, service, watched);
  }

  async run(kills: number): Promise<void> {
    const { figures, stopped, progress } = this.#shared;
    for (const [index, { home, promised }] of this.#watched.entries())
      for (const [client, token] of home.tokens.entries())
        this.#clients.start({ name: `s${index}c${client}`, token, promised });
    for (let kill = 1; kill <= kills; kill++) {
      if (stopped?.aborted) return;
      await this.#liveOnce(kill);
      figures.kills++;
      progress(`${figures.kills} kills, ${figures.accepted} commands accepted`);
    }
    await this.#simulator.clearFaults();
    await this.#service.start();
    await this.#clients.stop();
    await until("the queues are not drained", () => this.#service.isDrained(), DRAIN_MS);
    await this.#collectEnds();
    await this.#readOnceMore();
    await this.#deliverAll();
    await this.#judge(kills);
  }

  async close(): Promise<void> {
    // Clients end when there is no service any more.
    await this.#service.stop();
    await this.#clients.stop();
    for (const { receiver } of this.#watched) receiver.stop();
    await this.#simulator.stop();
  }

  async #liveOnce(kill: number): Promise<void> {
    const { random } = this.#shared;
    await this.#simulator.clearFaults();
    const ms = COMMAND_MS[Math.floor(random() * COMMAND_MS.length)] ?? 0;
    if (ms > 0) this.#simulator.arm({ kind: "slow", ms, target: "commands" });
    const town = this.#watched[Math.floor(random() * SERVERS)]?.home.town;
    if (random() < BURST_SHARE)
      this.#simulator.arm({ kind: "burst", list: "KillLogs", server: town, target: "reads", times: 1 });
    const tellAfterMs = random() < LATE_CLIENTS_SHARE ? LATE_CLIENTS_MS : 0;
    if (random() < EARLY_KILL_SHARE) {
      await this.#service.live({ startMs: random() * START_MAX_MS });
      return;
    }
    await this.#service.live({
      lifeMs: random() * LIFE_MAX_MS,
      tellAfterMs,
      ...(kill % COLLECT_EVERY === 0 && { work: () => this.#collectEnds() }),
    });
  }

  async #collectEnds(): Promise<void> {
    for (const { ends } of this.#watched) await ends.collect(this.#service.list);
  }

  /**
   * Lets the last reading show everything that happened: a town goes on only when it is called. The process is ended in order
   * before and after it, so that no other reading comes and this one is recorded.
   */
  async #readOnceMore(): Promise<void> {
    await this.#service.restart(UNWATCHED);
    for (const { home } of this.#watched) await this.#service.ask("GET", `/servers/${home.serverId}/info`);
    await this.#service.restart(UNWATCHED);
  }

  async #deliverAll(): Promise<void> {
    const { progress, stopped } = this.#shared;
    let before = 0;
    let movedAt = Date.now();
    for (;;) {
      const { items } = await this.#service.ask<{ items: { waiting: number }[] }>("GET", "/webhooks?limit=200");
      const waiting = items.reduce((sum, webhook) => sum + webhook.waiting, 0);
      if (waiting === 0 || stopped?.aborted) return;
      progress(`${waiting} events wait for their webhooks`);
      const accepted = this.#watched.reduce((sum, { receiver }) => sum + receiver.accepted.length, 0);
      if (accepted > before) movedAt = Date.now();
      before = accepted;
      if (Date.now() - movedAt > DELIVERY_MS) throw new Error("no webhook is delivered any more");
      await Bun.sleep(100);
    }
  }

  async #judge(kills: number): Promise<void> {
    const { figures, problems } = this.#shared;
    const calls = this.#record.stop();
    for (const { home, promised, ends, receiver } of this.#watched) {
      const { town, serverId } = home;
      const got = calls.filter(({ server }) => server === town).map(({ command }) => command);
      const events = await this.#service.readEvents(serverId);
      const { entries = [], truncated = true } = this.#simulator.findEntries(town) ?? {};
      if (truncated) throw new Error("the simulator has dropped entries");
      const ledger = findLedgerFaults(events, entries);
      const faults = [
        ...findCommandFaults({ commands: ends.all, promised, got, unknownMax: kills }),
        ...ledger.faults,
        ...findWebhookFaults(receiver, events),
      ];
      if (ledger.judged < entries.length / 2) faults.push("too many entries are equal to be judged");
      problems.push(...faults.map((fault) => `${town}: ${fault}`));
      figures.delivered += got.length;
      figures.unknown += ends.all.filter(({ status }) => status === "unknown").length;
      figures.events += events.length;
      figures.gaps += listGaps(events).length;
      figures.webhookEvents += receiver.ids.length;
    }
  }
}

/** What happened before the first reading, or in a list that was empty until then, is not promised to be told. */
async function fillLists(simulator: Simulator, service: Service, { town, serverId }: Home): Promise<void> {
  for (const list of LOG_LISTS) {
    simulator.arm({ kind: "burst", list, count: 2, server: town, target: "reads", times: 1 });
    await service.ask("GET", `/servers/${serverId}/info`);
  }
}
