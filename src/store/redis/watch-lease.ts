// The lease of the instance that watches.
import { WATCH_LEASE_MS, type WatchLease } from "../../core/ports/watch-lease.ts";
import { NAMES } from "./names.ts";
import type { ScriptTimes } from "./redis-clock.ts";
import type { RedisLink } from "./redis-link.ts";
import { createScript } from "./script.ts";
import holdLeaseText from "./scripts/hold-lease.lua" with { type: "text" };
import releaseLeaseText from "./scripts/release-lease.lua" with { type: "text" };

const HOLD_LEASE = createScript(holdLeaseText);
const RELEASE_LEASE = createScript(releaseLeaseText);

export class RedisWatchLease implements WatchLease {
  readonly #link: RedisLink;
  readonly #times: ScriptTimes;
  readonly #token: string;

  constructor(link: RedisLink, times: ScriptTimes, token: string) {
    this.#link = link;
    this.#times = times;
    this.#token = token;
  }

  async hold(): Promise<boolean> {
    const args = [...this.#times(), this.#token, WATCH_LEASE_MS];
    return (await this.#link.run(HOLD_LEASE, [NAMES.watchLease], args)) === 1;
  }

  async release(): Promise<void> {
    await this.#link.run(RELEASE_LEASE, [NAMES.watchLease], [...this.#times(), this.#token]);
  }
}
