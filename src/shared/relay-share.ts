// What the relays of several instances share: the last reading of each server, the lease for the next call, and the budget of
// the game API. All but the leases is signed: whoever can write to Redis must not be able to make up readings, failures or
// calls. Signatures are checked when something is taken over, never for a cached read.
import { randomUUID } from "node:crypto";
import { DAY_MS } from "../core/durations.ts";
import { StoreUnavailable } from "../core/errors.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Log } from "../core/ports/log.ts";
import type {
  Consultation,
  RelayShare,
  SharedNews,
  SharedReading,
  SharedStatus,
  ShareLease,
} from "../core/ports/relay-share.ts";
import { OPEN_MAX_MS } from "../core/readings/breaker.ts";
import { type Budget, UNKNOWN_BUDGET } from "../core/readings/budget.ts";
import { createThrottle } from "../core/throttle.ts";
import { BUDGET_NAME, knownName, leaseName } from "./names.ts";
import { createScript, type RedisLink } from "./redis-link.ts";
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
const FAULT_LOG_MS = 60_000;
/** What a signature is for; the id of the server follows, so that none counts for another. */
const STATUS_OF = "shared-status ";
const READING_OF = "shared-reading ";
const BUDGET = "shared-budget";
/** How much the clocks of instances may differ. */
const CLOCK_TOLERANCE_MS = 1_000;

/** `at`: when it was published. */
type SignedStatus = SharedStatus & { readonly at: number };

type BudgetChange = {
  readonly change: (budget: Budget) => Budget | undefined;
  readonly resolve: (budget: Budget) => void;
  readonly reject: (error: unknown) => void;
};

export type RedisRelayShareDeps = {
  readonly link: RedisLink;
  readonly signer: Signer;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
};

export class RedisRelayShare implements RelayShare {
  readonly #throttleLog = createThrottle(FAULT_LOG_MS);
  readonly #renewals = new Map<string, ReturnType<typeof setInterval>>();
  /** The budget as it was last read: the first attempt of a change starts from it. */
  #budgetText = "";
  #changes: BudgetChange[] = [];
  #isChanging = false;

  constructor(private readonly deps: RedisRelayShareDeps) {}

  async consult(serverId: string, knownVersion: number): Promise<Consultation> {
    const token = randomUUID();
    const names = [leaseName(serverId), knownName(serverId)];
    const reply = await this.deps.link.run(CONSULT, names, [this.deps.clock(), knownVersion, token, LEASE_MS]);
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
    const name = knownName(serverId);
    // The version alone first, because a reading is large and mostly not new.
    const newest = (await this.deps.link.send(name, "HGET", name, "version")) as string | null;
    if (newest === null || Number(newest) === knownVersion) return null;
    const reply = await this.deps.link.send(name, "HMGET", name, "version", "status", "reading");
    const [version, status, reading] = reply as (string | null)[];
    if (!version) return null;
    return this.#parseNews(serverId, Number(version), status ?? null, reading ?? null);
  }

  async publish({ serverId, token }: ShareLease, status: SharedStatus, reading: SharedReading | null): Promise<number> {
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
      const after = isChanged ? signText(this.deps.signer, BUDGET, budget) : before;
      const found = await this.deps.link.run(SWAP, [BUDGET_NAME], [this.deps.clock(), before, after, KEPT_MS]);
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
    const names = [leaseName(serverId), knownName(serverId)];
    const statusText = signText(this.deps.signer, STATUS_OF + serverId, { ...status, at: this.deps.clock() });
    const readingText = reading ? signText(this.deps.signer, READING_OF + serverId, reading) : "";
    const args = [token, statusText, readingText, KEPT_MS];
    return (await this.deps.link.run(PUBLISH, names, [this.deps.clock(), ...args])) as number;
  }

  #parseNews(serverId: string, version: number, status: string | null, reading: string | null): SharedNews {
    const found = status === null ? null : this.#open<SignedStatus>(STATUS_OF + serverId, status);
    const shared = reading === null ? null : this.#open<SharedReading>(READING_OF + serverId, reading);
    const isForged = (status !== null && !found) || (reading !== null && !shared);
    const name = knownName(serverId);
    // Otherwise a forged status of a newer key would keep every instance from publishing.
    if (isForged) this.deps.link.send(name, "DEL", name).catch(() => {});
    return { version, status: this.#takeStatus(found), reading: shared };
  }

  /** Null for one that somebody may have put back. The relay looks at the time of readings. */
  #takeStatus(found: SignedStatus | null): SharedStatus | null {
    if (!found) return null;
    const { at, ...status } = found;
    const { remembered } = status;
    // No breaker is open for longer, and a refused key stays refused.
    const validMs = Math.max(OPEN_MAX_MS, remembered ? (remembered.forMs ?? Number.POSITIVE_INFINITY) : 0);
    const ageMs = this.deps.clock() - at;
    return ageMs >= -CLOCK_TOLERANCE_MS && ageMs < validMs ? status : null;
  }

  #parseBudget(text: string): Budget {
    return (text !== "" && this.#open<Budget>(BUDGET, text)) || UNKNOWN_BUDGET;
  }

  /** Null for what no instance with our secret has written: it counts as absent. */
  #open<T>(purpose: string, text: string): T | null {
    const found = openSigned<T>(this.deps.signer, purpose, text);
    if (found !== undefined) return found;
    this.#throttleLog(performance.now(), (unlogged) => {
      this.deps.log.warn(
        { unlogged, ignored: purpose },
        "Redis has something about the game API without a valid signature; it is ignored",
      );
    });
    return null;
  }

  #renew(serverId: string, token: string): void {
    const args = [this.deps.clock(), token, LEASE_MS];
    // When this fails, the lease ends by itself and another instance calls.
    this.deps.link.run(RENEW, [leaseName(serverId)], args).catch(() => {});
  }

  #stopRenewing(token: string): void {
    clearInterval(this.#renewals.get(token));
    this.#renewals.delete(token);
  }
}

const SIGNATURE_LENGTH = 43;

/** `purpose` is signed too: a text for one purpose counts for no other. */
export interface Signer {
  sign(text: string, purpose: string): string;
  isSigned(text: string, purpose: string, signature: string): boolean;
}

export function signText(signer: Signer, purpose: string, value: object): string {
  const text = JSON.stringify(value);
  return `${signer.sign(text, purpose)}.${text}`;
}

/** Undefined without a valid signature. */
export function openSigned<T>(signer: Signer, purpose: string, signed: string): T | undefined {
  const text = signed.slice(SIGNATURE_LENGTH + 1);
  const isOurs = signed[SIGNATURE_LENGTH] === "." && signer.isSigned(text, purpose, signed.slice(0, SIGNATURE_LENGTH));
  return isOurs ? (JSON.parse(text) as T) : undefined;
}
