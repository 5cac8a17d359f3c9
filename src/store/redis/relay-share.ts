// What the relays of several instances share: the last reading of each server, the lease for the next call, the budget of
// the game API, and refused global keys. All but the leases is signed: whoever can write to Redis must not be able to make
// up readings, failures or calls. Signatures are checked when something is taken over, never for a cached read.
import { type Budget, UNKNOWN_BUDGET } from "../../core/budget.ts";
import { DAY_MS } from "../../core/durations.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type { Log } from "../../core/ports/log.ts";
import type {
  Consultation,
  RelayShare,
  SharedNews,
  SharedReading,
  SharedStatus,
  ShareLease,
} from "../../core/ports/relay-share.ts";
import type { UpstreamFailure } from "../../core/ports/upstream.ts";
import { createThrottle } from "../../core/throttle.ts";
import type { Sealer } from "../sealer.ts";
import { NAMES } from "./names.ts";
import type { ScriptTimes } from "./redis-clock.ts";
import type { RedisLink } from "./redis-link.ts";
import { createScript } from "./script.ts";
import consultText from "./scripts/consult.lua" with { type: "text" };
import publishText from "./scripts/publish.lua" with { type: "text" };
import renewText from "./scripts/renew.lua" with { type: "text" };
import swapText from "./scripts/swap.lua" with { type: "text" };
import { checkSignature, parseSigned, signRecord } from "./signed-record.ts";

const CONSULT = createScript(consultText);
const PUBLISH = createScript(publishText);
const RENEW = createScript(renewText);
const SWAP = createScript(swapText);
/** The lease is renewed during a call. When its holder dies, another instance may call after this time. */
const LEASE_MS = 2_000;
const RENEW_EVERY_MS = 500;
const KEPT_MS = DAY_MS;
const ATTEMPTS_MAX = 50;
const FAULT_LOG_MS = 60_000;
/** What a signature is for; the id of the server or of the global key follows, so that none counts for another. */
const STATUS_OF = "shared-status ";
const READING_OF = "shared-reading ";
const BUDGET = "shared-budget";
const GLOBAL_KEY_OF = "refused-global-key ";
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

export type RedisRelayShareParts = {
  readonly link: RedisLink;
  readonly times: ScriptTimes;
  readonly makeToken: () => string;
  readonly sealer: Sealer;
  readonly log: Pick<Log, "warn">;
};

export class RedisRelayShare implements RelayShare {
  readonly #link: RedisLink;
  readonly #times: ScriptTimes;
  readonly #makeToken: () => string;
  readonly #sealer: Sealer;
  readonly #log: Pick<Log, "warn">;
  readonly #throttleLog = createThrottle(FAULT_LOG_MS);
  readonly #renewals = new Map<string, ReturnType<typeof setInterval>>();
  /** The budget as it was last read: the first attempt of a change starts from it. */
  #budgetText = "";
  #changes: BudgetChange[] = [];
  #isChanging = false;

  constructor({ link, times, makeToken, sealer, log }: RedisRelayShareParts) {
    this.#link = link;
    this.#times = times;
    this.#makeToken = makeToken;
    this.#sealer = sealer;
    this.#log = log;
  }

  async consult(serverId: string, knownVersion: number): Promise<Consultation> {
    const token = this.#makeToken();
    const names = [NAMES.lease(serverId), NAMES.shared(serverId)];
    const reply = await this.#link.run(CONSULT, names, [...this.#times(), knownVersion, token, LEASE_MS]);
    const [version, status, reading] = reply as [number, string | null, string | null];
    if (version > 0) return { lease: null, news: this.#parseNews(serverId, version, status, reading) };
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
    return this.#parseNews(serverId, Number(version), status ?? null, reading ?? null);
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

  async findGlobalKeyFailure(identity: string): Promise<UpstreamFailure | null> {
    const name = NAMES.refusedGlobalKeys;
    const text = await this.#link.send(name, "HGET", name, identity);
    return typeof text === "string" ? this.#parseSigned(GLOBAL_KEY_OF + identity, text) : null;
  }

  async saveGlobalKeyFailure(identity: string, failure: UpstreamFailure | null): Promise<void> {
    const name = NAMES.refusedGlobalKeys;
    const text = failure && signRecord(this.#sealer, GLOBAL_KEY_OF + identity, failure);
    if (text) await this.#link.send(name, "HSET", name, identity, text);
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
      let budget = this.#parseBudget(before);
      let isChanged = false;
      for (const { change } of batch) {
        const changed = change(budget);
        isChanged ||= changed !== undefined;
        budget = changed ?? budget;
      }
      const after = isChanged ? signRecord(this.#sealer, BUDGET, toStoredBudget(budget)) : before;
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
    const statusText = signRecord(this.#sealer, STATUS_OF + serverId, status);
    const readingText = reading ? signRecord(this.#sealer, READING_OF + serverId, reading) : "";
    const args = [token, statusText, readingText, KEPT_MS];
    return (await this.#link.run(PUBLISH, names, [...this.#times(), ...args])) as number;
  }

  #parseNews(serverId: string, version: number, status: string | null, reading: string | null): SharedNews {
    const news = {
      version,
      status: status === null ? null : this.#parseSigned<SharedStatus>(STATUS_OF + serverId, status),
      reading: reading === null ? null : this.#parseSigned<SharedReading>(READING_OF + serverId, reading),
    };
    const isForged = (status !== null && !news.status) || (reading !== null && !news.reading);
    const name = NAMES.shared(serverId);
    // Otherwise a forged status of a newer key would keep every instance from publishing.
    if (isForged) this.#link.send(name, "DEL", name).catch(() => {});
    return news;
  }

  #parseBudget(text: string): Budget {
    const isSigned = text !== "" && this.#parseSigned(BUDGET, text) !== null;
    return isSigned ? parseBudget(text) : UNKNOWN_BUDGET;
  }

  /** Null for what no instance with our secret has written: it counts as absent. */
  #parseSigned<T>(purpose: string, text: string): T | null {
    if (checkSignature(this.#sealer, purpose, text) === "signed") return parseSigned<T>(text);
    this.#throttleLog(performance.now(), (unlogged) => {
      this.#log.warn(
        { unlogged, ignored: purpose },
        "Redis has something about the game API without a valid signature; it is ignored",
      );
    });
    return null;
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

/** For the doctor, which shows it and has no secret. */
export async function findGlobalKeyFailure(
  link: RedisLink,
  identity: string,
): Promise<UpstreamFailure | null> {
  const name = NAMES.refusedGlobalKeys;
  const text = await link.send(name, "HGET", name, identity);
  return typeof text === "string" ? parseSigned<UpstreamFailure>(text) : null;
}

export function parseBudget(text: string): Budget {
  const { isTold, ownPauseMs, ...rest } = parseSigned<StoredBudget>(text);
  // Older versions do not write every field.
  return { ...UNKNOWN_BUDGET, ...rest, hasAnswer: isTold, backoffMs: ownPauseMs };
}

function toStoredBudget({ hasAnswer, backoffMs, ...rest }: Budget): StoredBudget {
  return { ...rest, isTold: hasAnswer, ownPauseMs: backoffMs };
}
