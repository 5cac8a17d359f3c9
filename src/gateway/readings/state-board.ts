// While an instance is without Redis, all of them tell each other through the database what they have read, so that they tell
// operators the same.
import type { GameServer } from "../../core/game-server.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import type { SettingStore } from "../../core/ports/store.ts";
import type { UpstreamFailure } from "../../core/ports/upstream.ts";
import type { Breaker } from "../../core/readings/breaker.ts";
import { type ServerOutcome, toldAt } from "./server-outcomes.ts";

const NAME = "watched-servers";
/** When an instance was last without Redis. */
const MISSED_NAME = "redis-missed-at";
const MISSED_EVERY_MS = 2_000;
/** For so long after that, those with Redis take part too. */
const MISSED_FOR_MS = 5_000;

/** What one instance knows about a server, without its content. */
export type KnownState = {
  readonly serverId: string;
  readonly outcome: ServerOutcome;
  readonly breaker: Breaker;
  readonly breakerFailure: UpstreamFailure | null;
};

export type StateBoardDeps = {
  readonly settings: Pick<SettingStore, "find" | "save">;
  readonly servers: Pick<ServerStore, "all">;
  readonly relay: {
    findState(server: GameServer): KnownState | undefined;
    learnState(state: KnownState, now: number): void;
  };
  /** Whether Redis answers: then readings are shared there. */
  readonly isShared: () => boolean;
  readonly clock: Clock;
};

export class StateBoard {
  #missedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly deps: StateBoardDeps) {}

  /** Learns what the others know, and tells them what is newer here. Throws StoreUnavailable without the database. */
  async exchange(): Promise<void> {
    const { settings, servers, relay, clock } = this.deps;
    if (!(await this.#isNeeded(clock()))) return;
    const text = (await settings.find(NAME)) ?? "[]";
    const found = new Map((JSON.parse(text) as KnownState[]).map((state) => [state.serverId, state]));
    const states: KnownState[] = [];
    let isNews = false;
    for (const server of servers.all()) {
      const theirs = found.get(server.serverId);
      const own = relay.findState(server);
      const isNewer = own !== undefined && isNewerState(own, theirs);
      if (!isNewer && theirs) relay.learnState(theirs, clock());
      const state = isNewer ? own : theirs;
      if (state) states.push(state);
      isNews ||= isNewer;
    }
    // When two save at the same time, the one that was overwritten saves again next time.
    if (isNews) await settings.save(NAME, JSON.stringify(states));
  }

  async #isNeeded(now: number): Promise<boolean> {
    const { settings, isShared } = this.deps;
    if (isShared()) return Math.abs(now - Number(await settings.find(MISSED_NAME))) < MISSED_FOR_MS;
    if (Math.abs(now - this.#missedAt) >= MISSED_EVERY_MS) {
      await settings.save(MISSED_NAME, String(now));
      this.#missedAt = now;
    }
    return true;
  }
}

function isNewerState({ outcome }: KnownState, other: KnownState | undefined): boolean {
  if (other?.outcome.keyRevision !== outcome.keyRevision)
    return outcome.keyRevision > (other?.outcome.keyRevision ?? Number.NEGATIVE_INFINITY);
  return toldAt(outcome) > toldAt(other.outcome);
}
