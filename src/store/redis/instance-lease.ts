// The lease of the instance that does something for all.
import { INSTANCE_LEASE_MS, type InstanceLease } from "../../core/ports/instance-lease.ts";
import type { ScriptTimes } from "./redis-clock.ts";
import type { RedisLink } from "./redis-link.ts";
import { createScript } from "./script.ts";
import holdLeaseText from "./scripts/hold-lease.lua" with { type: "text" };
import releaseLeaseText from "./scripts/release-lease.lua" with { type: "text" };

const HOLD_LEASE = createScript(holdLeaseText);
const RELEASE_LEASE = createScript(releaseLeaseText);

export class RedisInstanceLease implements InstanceLease {
  readonly #link: RedisLink;
  readonly #times: ScriptTimes;
  /** The name of the lease in Redis. */
  readonly #name: string;
  readonly #token: string;

  constructor(link: RedisLink, times: ScriptTimes, name: string, token: string) {
    this.#link = link;
    this.#times = times;
    this.#name = name;
    this.#token = token;
  }

  async hold(): Promise<boolean> {
    const args = [...this.#times(), this.#token, INSTANCE_LEASE_MS];
    return (await this.#link.run(HOLD_LEASE, [this.#name], args)) === 1;
  }

  async release(): Promise<void> {
    await this.#link.run(RELEASE_LEASE, [this.#name], [...this.#times(), this.#token]);
  }
}
