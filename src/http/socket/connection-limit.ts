// Limits the connections from one address. The runtime does not show a connection before its first request, so they are
// counted in the kernel's table, about once a second, and those beyond the limit are cut.
import { isIP } from "node:net";
import { parseAddress } from "../../core/address.ts";
import type { Log } from "../../core/ports/log.ts";
import { createThrottle } from "../../core/throttle.ts";
import type { ListeningSocket, OpenConnection } from "./listening-socket.ts";

const CHECK_MS = 1_000;
/** Reading a long table costs time, so the next check comes after this many times the processor time of this one. */
const REST_FACTOR = 100;
const LOG_MS = 60_000;

/** Cuts connections of the listening socket. */
export type CutConnections = (connections: readonly OpenConnection[]) => Promise<void>;

export type ConnectionLimitOptions = {
  /** Connections from one address. */
  readonly max: number;
  /** Addresses that are not limited: trusted proxies, which connect for many clients. */
  readonly isExempt: (address: string) => boolean;
};

export class ConnectionLimit {
  readonly #socket: ListeningSocket;
  readonly #options: ConnectionLimitOptions;
  readonly #cut: CutConnections;
  readonly #log: Pick<Log, "warn">;
  readonly #throttleLog = createThrottle(LOG_MS);
  /** The connections of the last check, which are older than all others. */
  #known = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  constructor(socket: ListeningSocket, options: ConnectionLimitOptions, cut: CutConnections, log: Pick<Log, "warn">) {
    this.#socket = socket;
    this.#options = options;
    this.#cut = cut;
    this.#log = log;
    this.#checkLater(CHECK_MS);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #checkLater(ms: number): void {
    this.#timer = setTimeout(() => void this.#checkAndRest(), ms);
    this.#timer.unref();
  }

  async #checkAndRest(): Promise<void> {
    const before = process.threadCpuUsage();
    // Without descriptors the table cannot be read; the next check tries again.
    await this.#check(performance.now()).catch(() => {});
    // Not its duration: on a busy machine a short check can take long.
    const { user, system } = process.threadCpuUsage(before);
    if (!this.#isStopped) this.#checkLater(Math.max(CHECK_MS, (REST_FACTOR * (user + system)) / 1_000));
  }

  async #check(now: number): Promise<void> {
    // Cheap, and enough as long as there are few connections.
    const { max } = this.#options;
    const connections = this.#socket.mayHaveMoreThan(max) ? await this.#socket.listConnections() : [];
    const excess = findExcess(connections, this.#known, this.#options);
    this.#known = new Set(connections.map(({ inode }) => inode));
    const [first] = excess;
    if (!first || this.#isStopped) return;
    this.#throttleLog(now, () => {
      const fields = { address: first.peer, cut: excess.length, max };
      this.#log.warn(fields, "an address has too many connections: the newest are cut");
    });
    await this.#cut(excess);
  }
}

/** The connections beyond the limit of their address; known ones are kept before others. */
export function findExcess(
  connections: readonly OpenConnection[],
  known: ReadonlySet<string>,
  { max, isExempt }: ConnectionLimitOptions,
): OpenConnection[] {
  const byNetwork = Map.groupBy(connections, ({ peer }) => toNetwork(peer));
  return [...byNetwork.values()].flatMap((group) => {
    const [{ peer } = { peer: "" }] = group;
    if (group.length <= max || isExempt(peer)) return [];
    const oldFirst = [
      ...group.filter(({ inode }) => known.has(inode)),
      ...group.filter(({ inode }) => !known.has(inode)),
    ];
    return oldFirst.slice(max);
  });
}

/** An IPv6 client has a whole /64 of addresses, so these count as one. */
function toNetwork(address: string): string {
  if (isIP(address) !== 6) return address;
  const canonical = parseAddress(address) ?? address;
  const [head = "", tail = ""] = canonical.split("::");
  const groups = head.split(":").filter((group) => group !== "");
  const rest = tail.split(":").filter((group) => group !== "");
  const zeros = canonical.includes("::") ? 8 - groups.length - rest.length : 0;
  return [...groups, ...new Array<string>(zeros).fill("0"), ...rest].slice(0, 4).join(":");
}
