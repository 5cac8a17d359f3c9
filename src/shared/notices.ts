// Notices of changes: the newest version of the directory is in Redis, and every verdict of a limit brings it. A notice may be
// lost; instances also look into the database twice a second.
import { StoreUnavailable } from "../core/errors.ts";
import type { Log } from "../core/ports/log.ts";
import { countShards, directoryName } from "./names.ts";
import { createScript, type RedisLink } from "./redis-link.ts";
import announceText from "./scripts/announce.lua" with { type: "text" };

const ANNOUNCE = createScript(announceText);
const REDIS_CLOCK = "";
const NO_VERSION = 0;
/** How long a request waits for the database to tell what has changed. */
const CATCH_UP_DEADLINE_MS = 500;
/** After the database did not answer, it is asked again this often, and no request waits for it. */
const RETRY_EVERY_MS = 1_000;

export type NoticesDeps = {
  readonly link: RedisLink;
  /** The version of the directory that this instance knows. */
  readonly findVersion: () => number;
  /** Reads from the database what has changed. Throws StoreUnavailable when it cannot. */
  readonly onVersion: (version: number) => Promise<void> | void;
  readonly log: Pick<Log, "warn">;
};

export class Notices {
  #catchingUp: Promise<void> | undefined;
  /** When the database last failed to answer; undefined when it has answered since. */
  #failedAt: number | undefined;

  constructor(private readonly deps: NoticesDeps) {}

  /** Never throws. When it resolves, every instance learns of the version with its next request, unless Redis is away. */
  async announce(version: number): Promise<void> {
    await this.#write(version, NO_VERSION);
  }

  /** For a version that was found in Redis. Undefined when it is known; else resolves when it is, or cannot be for now. */
  learn(version: number): Promise<void> | undefined {
    if (version <= Math.max(NO_VERSION, this.deps.findVersion())) return undefined;
    if (this.#failedAt === undefined) return this.#wait(version);
    if (performance.now() - this.#failedAt >= RETRY_EVERY_MS) void this.#catchUp(version);
    return undefined;
  }

  async #wait(version: number): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.#failedAt ??= performance.now();
      resolve();
    }, CATCH_UP_DEADLINE_MS);
    await Promise.race([this.#catchUp(version), late]);
    clearTimeout(timer);
  }

  /** One at a time for all requests. One that began before this call may have read too early. */
  async #catchUp(version: number): Promise<void> {
    while (this.#catchingUp) {
      await this.#catchingUp;
      if (this.#failedAt !== undefined || version <= this.deps.findVersion()) return;
    }
    this.#catchingUp = this.#catchUpNow(version).finally(() => {
      this.#catchingUp = undefined;
    });
    await this.#catchingUp;
  }

  async #catchUpNow(version: number): Promise<void> {
    const { onVersion, findVersion, log } = this.deps;
    try {
      await onVersion(version);
      this.#failedAt = undefined;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) log.warn({ err: error }, "changes could not be read");
      this.#failedAt = performance.now();
      return;
    }
    const known = findVersion();
    // Nobody has made that version: otherwise it would cost a look into the database for every request.
    if (known < version) await this.#write(known, version);
  }

  /** Failures are ignored: the other instances find the version in the database. */
  async #write(version: number, wrongVersion: number): Promise<void> {
    const { link } = this.deps;
    const shards = Array.from({ length: countShards(link.isCluster) }, (_, shard) => directoryName(shard));
    const writes = shards.map((name) => link.run(ANNOUNCE, [name], [REDIS_CLOCK, version, wrongVersion]));
    await Promise.allSettled(writes);
  }
}
