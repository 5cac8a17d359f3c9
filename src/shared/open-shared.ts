// Opens what several instances share in Redis or Valkey and may lose: the windows of the limit, readings, the budget, and notices
// of changes.
import type { Clock } from "../core/ports/clock.ts";
import type { BlockStore, LimitStore } from "../core/ports/limits.ts";
import type { Log } from "../core/ports/log.ts";
import type { RelayShare } from "../core/ports/relay-share.ts";
import { ID_NAME } from "./names.ts";
import { Notices, type NoticesDeps } from "./notices.ts";
import type { RedisAddress } from "./parse-address.ts";
import { RedisLink } from "./redis-link.ts";
import { RedisRelayShare, type Signer } from "./relay-share.ts";
import { SharedLimits } from "./shared-limits.ts";

export type SharedDeps = Pick<NoticesDeps, "findVersion" | "onVersion"> & {
  readonly address: RedisAddress;
  readonly sealer: Signer;
  readonly log: Log;
  /** The clock of all instances. */
  readonly clock: Clock;
  readonly blocks: BlockStore;
  /** Replaces Redis's clock for the limit in tests. */
  readonly limitClock?: Clock;
  /** The deadline of a reply, when it is not the one for requests. */
  readonly replyDeadlineMs?: number;
};

export type Shared = {
  readonly limits: LimitStore;
  readonly relayShare: RelayShare;
  /** Whether Redis answers. False until the link has opened. */
  readonly isUp: boolean;
  /** Resolves when Redis answers or cannot be reached for now. Throws StartRefused for what no retry can solve. */
  readonly firstTry: Promise<void>;
  /** Tells all instances of a version of the directory. Never throws. */
  announce(version: number): Promise<void>;
  /** What the instances have written to know that they share this Redis; undefined when nothing is there. Throws StoreUnavailable. */
  findId(): Promise<string | undefined>;
  /** Throws StoreUnavailable. */
  saveId(id: string): Promise<void>;
  close(): void;
};

/** At once: the link opens in the background. */
export function openShared(deps: SharedDeps): Shared {
  const { address, sealer, log, clock, blocks, findVersion, onVersion, limitClock, replyDeadlineMs } = deps;
  const link = new RedisLink(address, log, replyDeadlineMs);
  const notices = new Notices({ link, findVersion, onVersion, log });
  const catchUp = () => onVersion(findVersion());
  const limits = new SharedLimits({ link, notices, findVersion, catchUp, blocks, log, clock, limitClock });
  const relayShare = new RedisRelayShare({ link, signer: sealer, clock, log });
  return {
    limits,
    relayShare,
    get isUp() {
      return link.isUp;
    },
    firstTry: link.firstTry,
    announce: (version) => notices.announce(version),
    async findId() {
      const id = await link.send(ID_NAME, "GET", ID_NAME);
      return typeof id === "string" ? id : undefined;
    },
    async saveId(id) {
      await link.send(ID_NAME, "SET", ID_NAME, id);
    },
    close() {
      relayShare.close();
      link.close();
    },
  };
}
