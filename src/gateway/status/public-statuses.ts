// What is shown of the servers whose status is public. It is put together at most once in a few seconds for each of them,
// however many ask, and never by a call to the game API.
import { networkOf } from "../../core/address.ts";
import { ERRORS, type Refusal, refuseFor, StoreUnavailable } from "../../core/errors.ts";
import { parseExactJson } from "../../core/exact-json.ts";
import type { GameServer } from "../../core/game-server.ts";
import { type Counts, RESOLUTION_MS } from "../../core/history/counts.ts";
import { AttemptCounter, type AttemptRule } from "../../core/keys/attempt-limit.ts";
import type { StateChange, StateChangeLog } from "../../core/ports/archive.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { HistoryStore } from "../../core/ports/history.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import type { PublicState, StatusHour, StatusOutage } from "../../core/wire/status.ts";
import { describeShown, type ShownParts } from "../readings/shown-state.ts";
import type { Watcher } from "../readings/watcher.ts";

export const BUILT_MS = 5_000;
/** Beyond this many the oldest is dropped, and put together again when somebody asks. */
export const STATUSES_MAX = 500;
/** The page does not wait longer for the archive; it is shown without what the archive knows. */
const ARCHIVE_WAIT_MS = 1_500;
const HOUR_MS = RESOLUTION_MS["1h"];
const HOURS = 7 * 24;
const WEEK_MS = HOURS * HOUR_MS;
/** A server that changes its state more often shows the newest changes only. */
const CHANGES_MAX = 200;
/** Real ones are far shorter. */
const JOIN_KEY_LENGTH_MAX = 64;

export type StatusFacts = {
  readonly serverId: string;
  readonly slug: string;
  readonly name: string;
  readonly state: PublicState;
  /** Null while the state is unreachable or unknown. */
  readonly players: number | null;
  readonly playersMax: number | null;
  readonly queue: number | null;
  readonly joinKey: string | null;
  readonly readAt: number | null;
  /** The last week, oldest first; null when it cannot be read now. */
  readonly hours: readonly StatusHour[] | null;
  /** Newest first; null when they cannot be read now. */
  readonly outages: readonly StatusOutage[] | null;
  readonly builtAt: number;
};

export type PublicStatusesDeps = {
  readonly servers: Pick<ServerStore, "findBySlug">;
  readonly relay: ShownParts["relay"];
  readonly watcher: Pick<Watcher, "catchUpOn" | "planOf">;
  /** Both are undefined without an archive. */
  readonly history: Pick<HistoryStore, "readCounts"> | undefined;
  readonly changes: StateChangeLog | undefined;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
};

type HeldStatus = { readonly server: GameServer; readonly builtAt: number; readonly facts: Promise<StatusFacts> };

export class PublicStatuses {
  readonly #held = new Map<string, HeldStatus>();

  constructor(private readonly deps: PublicStatusesDeps) {}

  get size(): number {
    return this.#held.size;
  }

  /** Whether there can be outages to show. */
  get hasChanges(): boolean {
    return this.deps.changes !== undefined;
  }

  /** Undefined when no server has this slug. */
  async read(slug: string): Promise<StatusFacts | undefined> {
    const { servers } = this.deps;
    for (;;) {
      const server = servers.findBySlug(slug);
      if (!server) return undefined;
      const facts = await this.#readHeld(server, slug);
      // The operator may have changed what is public meanwhile.
      if (servers.findBySlug(slug) === server) return facts;
    }
  }

  #readHeld(server: GameServer, slug: string): Promise<StatusFacts> {
    const { serverId } = server;
    const now = this.deps.clock();
    const held = this.#held.get(serverId);
    // The store replaces a server with every change.
    if (held?.server === server && Math.abs(now - held.builtAt) < BUILT_MS) return held.facts;
    const facts = this.#build(server, slug, now);
    this.#held.delete(serverId);
    this.#dropOldest(now);
    this.#held.set(serverId, { server, builtAt: now, facts });
    facts.catch(() => {
      if (this.#held.get(serverId)?.facts === facts) this.#held.delete(serverId);
    });
    return facts;
  }

  /** They are in the order in which they were put together. */
  #dropOldest(now: number): void {
    for (const [serverId, { builtAt }] of this.#held) {
      const isOutdated = Math.abs(now - builtAt) >= BUILT_MS;
      if (!isOutdated && this.#held.size < STATUSES_MAX) return;
      this.#held.delete(serverId);
    }
  }

  async #build(server: GameServer, slug: string, builtAt: number): Promise<StatusFacts> {
    const { relay, watcher, clock } = this.deps;
    const { serverId, name } = server;
    const [{ hours, outages }] = await Promise.all([
      this.#readArchive(serverId, builtAt),
      // Another instance may be the one that reads the server.
      watcher.catchUpOn(server),
    ]);
    const { state, counts, lastReadAt, snapshot } = describeShown({ relay, watcher }, server, clock());
    const isKnown = state === "online" || state === "offline";
    const mayShowKey = state === "online" && server.publicStatus?.showsJoinKey === true;
    return {
      serverId,
      slug,
      name,
      state,
      players: isKnown ? counts.players : null,
      playersMax: counts.playersMax,
      queue: isKnown ? counts.queue : null,
      joinKey: mayShowKey && snapshot ? findJoinKey(snapshot.parts.base) : null,
      readAt: lastReadAt,
      hours,
      outages,
      builtAt,
    };
  }

  async #readArchive(serverId: string, now: number): Promise<Pick<StatusFacts, "hours" | "outages">> {
    const { history, changes: log } = this.deps;
    const to = Math.floor(now / HOUR_MS) * HOUR_MS + HOUR_MS;
    const from = to - WEEK_MS;
    const [counts, changes] = await Promise.all([
      this.#askArchive(history?.readCounts(serverId, "1h", { from, to })),
      this.#askArchive(log?.listStateChanges(serverId, CHANGES_MAX)),
    ]);
    return {
      hours: counts ? fillHours(counts, from, now) : null,
      outages: changes ? listOutages(changes, now - WEEK_MS) : null,
    };
  }

  /** Undefined when there is no archive, or it cannot answer, or takes too long. */
  async #askArchive<T>(answer: Promise<T> | undefined): Promise<T | undefined> {
    const asked = answer?.catch((error) => {
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    });
    return Promise.race([asked, this.deps.sleep(ARCHIVE_WAIT_MS).then(() => undefined)]);
  }
}

/** An hour without readings is unknown, never zero. */
export function fillHours(counts: readonly Counts[], from: number, now: number): StatusHour[] {
  const byHour = new Map(counts.map((hour) => [hour.at, hour]));
  return Array.from({ length: HOURS }, (_, index) => {
    const at = from + index * HOUR_MS;
    const hour = byHour.get(at);
    if (!hour || hour.knownMs <= 0) return { at, known: 0, min: null, avg: null, max: null };
    // Of the current hour only what has passed can be known.
    const passedMs = Math.min(HOUR_MS, Math.max(1, now - at));
    return {
      at,
      known: round(Math.min(1, hour.knownMs / passedMs), 3),
      min: hour.min,
      avg: round(hour.playerMs / hour.knownMs, 2),
      max: hour.max,
    };
  });
}

function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}

function findJoinKey(base: string): string | null {
  const { JoinKey: key } = parseExactJson(`${base}}`) as { readonly JoinKey?: unknown };
  return typeof key === "string" && key !== "" ? key.slice(0, JOIN_KEY_LENGTH_MAX) : null;
}

const STATUS_REQUESTS: AttemptRule = { max: 60, windowMs: 60_000 };
export const ASKING_ADDRESSES_MAX = 10_000;

/** How often an address may ask for public statuses, apart from the limits of API keys. */
export class AddressLimit {
  readonly #requests = new AttemptCounter(STATUS_REQUESTS, ASKING_ADDRESSES_MAX);

  get size(): number {
    return this.#requests.size;
  }

  /** Undefined when the address may ask. Refused requests are not counted. */
  judge(address: string, now: number): Refusal | undefined {
    const seconds = this.#requests.count(networkOf(address), now);
    return seconds === undefined ? undefined : refuseFor(ERRORS.addressLimited, seconds);
  }
}

/** `changes` are newest first. The outages that were not over before `from`, newest first. */
export function listOutages(changes: readonly StateChange[], from: number): StatusOutage[] {
  const outages: StatusOutage[] = [];
  let end: number | null = null;
  for (const [index, { state, at }] of changes.entries()) {
    // The state may be recorded again without a change; the outage began with the older one.
    const isContinued = changes[index + 1]?.state === state;
    if (state !== "online" && !isContinued) {
      // A clock that was set back would make it end before it began.
      outages.push({ state, from: at, to: end === null ? null : Math.max(end, at) });
    }
    if (!isContinued) end = at;
  }
  return outages.filter(({ to }) => to === null || to >= from);
}
