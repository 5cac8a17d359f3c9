// What the relays of several instances share: the last reading of each server, the lease for the next call, the budget of
// the game API, and refused global keys.
import { type Budget, UNKNOWN_BUDGET } from "../../core/budget.ts";
import { DAY_MS } from "../../core/durations.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type {
  Consultation,
  RelayShare,
  SharedReading,
  SharedStatus,
  ShareLease,
} from "../../core/ports/relay-share.ts";
import type { UpstreamFailure } from "../../core/ports/upstream.ts";
import { NAMES } from "./names.ts";
import type { ScriptTimes } from "./redis-clock.ts";
import type { RedisLink } from "./redis-link.ts";
import { createScript } from "./script.ts";
import consultText from "./scripts/consult.lua" with { type: "text" };
import publishText from "./scripts/publish.lua" with { type: "text" };
import renewText from "./scripts/renew.lua" with { type: "text" };
import swapText from "./scripts/swap.lua" with { type: "text" };

const CONSULT = createScript(consultText);
const PUBLISH = createScript(publishText);
const RENEW = createScript(renewText);
const SWAP = createScript(swapText);
/** The lease is renewed during a call. When its holder dies, another instance may call after this time. */
const LEASE_MS = 2_000;
const RENEW_EVERY_MS = 500;
const KEPT_MS = DAY_MS;
const ATTEMPTS_MAX = 50;
/** The name that the status has in Redis (see consult.lua). It stays, because instances of older versions read it too. */
const STATUS_FIELD = "standing";

/** The budget as it is stored. Two fields keep their first names, because instances of older versions read them too. */
type StoredBudget = Omit<Budget, "hasAnswer" | "backoffMs"> & {
  readonly isTold: boolean;
  readonly ownPauseMs: number;
};

type BudgetChange = {
  readonly change: (budget: Budget) => Budget | undefined;
  readonly resolve: (budget: Budget) => void;
  readonly reject: (error: unknown) => void;
};

export class RedisRelayShare implements RelayShare {
  readonly #link: RedisLink;
  readonly #times: ScriptTimes;
  readonly #makeToken: () => string;
  readonly #renewals = new Map<string, ReturnType<typeof setInterval>>();
  /** The budget as it was last read: the first attempt of a change starts from it. */
  #budgetText = "";
  #changes: BudgetChange[] = [];
  #isChanging = false;

  constructor(link: RedisLink, times: ScriptTimes, makeToken: () => string) {
    this.#link = link;
    this.#times = times;
    this.#makeToken = makeToken;
  }

  async consult(serverId: string, knownVersion: number): Promise<Consultation> {
    const token = this.#makeToken();
    const names = [NAMES.lease(serverId), NAMES.shared(serverId)];
    const reply = await this.#link.run(CONSULT, names, [...this.#times(), knownVersion, token, LEASE_MS]);
    const [version, status, reading] = reply as [number, string | null, string | null];
    if (version > 0) return { lease: null, news: { version, ...parseNews(status, reading) } };
    if (version < 0) return { lease: null, news: null };
    this.#renewals.set(
      token,
      setInterval(() => this.#renew(serverId, token), RENEW_EVERY_MS),
    );
    return { lease: { serverId, token }, news: null };
  }

  async peek(serverId: string, knownVersion: number): Promise<Consultation["news"]> {
    const name = NAMES.shared(serverId);
    // The version alone first, because a reading is large and mostly not new.
    const newest = (await this.#link.send(name, "HGET", name, "version")) as string | null;
    if (newest === null || Number(newest) === knownVersion) return null;
    const reply = await this.#link.send(name, "HMGET", name, "version", STATUS_FIELD, "reading");
    const [version, status, reading] = reply as (string | null)[];
    if (!version) return null;
    return { version: Number(version), ...parseNews(status ?? null, reading ?? null) };
  }

  async publish(
    { serverId, token }: ShareLease,
    status: SharedStatus,
    reading: SharedReading | null,
  ): Promise<number> {
    this.#stopRenewing(token);
    return this.#publish(serverId, token, status, reading);
  }

  async amend(serverId: string, status: SharedStatus): Promise<void> {
    await this.#publish(serverId, "", status, null);
  }

  changeBudget(change: (budget: Budget) => Budget | undefined): Promise<Budget> {
    const { promise, resolve, reject } = Promise.withResolvers<Budget>();
    this.#changes.push({ change, resolve, reject });
    if (!this.#isChanging) void this.#changeInBatches();
    return promise;
  }

  findGlobalKeyFailure(identity: string): Promise<UpstreamFailure | null> {
    return findGlobalKeyFailure(this.#link, identity);
  }

  async saveGlobalKeyFailure(identity: string, failure: UpstreamFailure | null): Promise<void> {
    const name = NAMES.refusedGlobalKeys;
    if (failure) await this.#link.send(name, "HSET", name, identity, JSON.stringify(failure));
    else await this.#link.send(name, "HDEL", name, identity);
  }

  close(): void {
    for (const token of [...this.#renewals.keys()]) this.#stopRenewing(token);
  }

  /** One swap for all changes that wait: fewer swaps conflict with those of other instances, and none with our own. */
  async #changeInBatches(): Promise<void> {
    this.#isChanging = true;
    while (this.#changes.length > 0) {
      const batch = this.#changes.splice(0);
      try {
        const budget = await this.#swapBudget(batch);
        for (const { resolve } of batch) resolve(budget);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isChanging = false;
  }

  async #swapBudget(batch: readonly BudgetChange[]): Promise<Budget> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const before = this.#budgetText;
      let budget = before === "" ? UNKNOWN_BUDGET : parseBudget(before);
      let isChanged = false;
      for (const { change } of batch) {
        const changed = change(budget);
        isChanged ||= changed !== undefined;
        budget = changed ?? budget;
      }
      const after = isChanged ? writeBudget(budget) : before;
      const found = await this.#link.run(SWAP, [NAMES.budget], [...this.#times(), before, after, KEPT_MS]);
      this.#budgetText = typeof found === "string" ? found : after;
      if (found === null) return budget;
    }
    throw new StoreUnavailable("other instances keep changing the budget");
  }

  async #publish(
    serverId: string,
    token: string,
    status: SharedStatus,
    reading: SharedReading | null,
  ): Promise<number> {
    const names = [NAMES.lease(serverId), NAMES.shared(serverId)];
    const text = reading ? JSON.stringify(reading) : "";
    const args = [token, JSON.stringify(status), text, KEPT_MS];
    return (await this.#link.run(PUBLISH, names, [...this.#times(), ...args])) as number;
  }

  #renew(serverId: string, token: string): void {
    const args = [...this.#times(), token, LEASE_MS];
    // When this fails, the lease ends by itself and another instance calls.
    this.#link.run(RENEW, [NAMES.lease(serverId)], args).catch(() => {});
  }

  #stopRenewing(token: string): void {
    clearInterval(this.#renewals.get(token));
    this.#renewals.delete(token);
  }
}

export async function findGlobalKeyFailure(
  link: RedisLink,
  identity: string,
): Promise<UpstreamFailure | null> {
  const name = NAMES.refusedGlobalKeys;
  const text = await link.send(name, "HGET", name, identity);
  return typeof text === "string" ? (JSON.parse(text) as UpstreamFailure) : null;
}

export function parseBudget(text: string): Budget {
  const { isTold, ownPauseMs, ...rest } = JSON.parse(text) as StoredBudget;
  // Older versions do not write every field.
  return { ...UNKNOWN_BUDGET, ...rest, hasAnswer: isTold, backoffMs: ownPauseMs };
}

function writeBudget({ hasAnswer, backoffMs, ...rest }: Budget): string {
  const stored: StoredBudget = { ...rest, isTold: hasAnswer, ownPauseMs: backoffMs };
  return JSON.stringify(stored);
}

function parseNews(status: string | null, reading: string | null) {
  return {
    status: status === null ? null : (JSON.parse(status) as SharedStatus),
    reading: reading === null ? null : (JSON.parse(reading) as SharedReading),
  };
}
