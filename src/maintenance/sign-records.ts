// gatehouse sign-records: signs the servers and keys that an older version has written to a Redis. It is a command of its
// own, because it trusts whatever is in Redis at that moment: only the operator can say when that is right.
import type { Config } from "../config.ts";
import { StartRefused } from "../core/errors.ts";
import type { Log } from "../core/ports/log.ts";
import { DataFolder } from "../data-folder.ts";
import type { SignedCounts } from "../store/redis/directory.ts";
import { TOOL_REPLY_DEADLINE_MS } from "../store/redis/redis-link.ts";
import { openRedisStore } from "../store/redis/redis-store.ts";
import { Sealer } from "../store/sealer.ts";

const COMMAND_LEASE_MS = 10_000;
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Throws StartRefused when there is no Redis or secret, or an instance is running. */
export async function signRecords(
  config: Pick<Config, "redis" | "secret" | "dataDir">,
): Promise<SignedCounts> {
  if (!config.redis)
    throw new StartRefused("GATEHOUSE_STORE names no Redis — the embedded store needs no signatures", 2);
  const secret = config.secret ?? DataFolder.open(config.dataDir).findSecret("secret.key");
  if (secret === undefined)
    throw new StartRefused("there is no secret — set GATEHOUSE_SECRET to that of the instances", 2);
  const store = await openRedisStore({
    address: config.redis,
    sealer: new Sealer(secret),
    log: SILENT,
    commandLeaseMs: COMMAND_LEASE_MS,
    replyDeadlineMs: TOOL_REPLY_DEADLINE_MS,
    signsRecords: true,
  });
  try {
    const others = await store.countOtherInstances();
    if (others > 0)
      throw new StartRefused(`${others} instance(s) of Gatehouse use this Redis — stop them first`);
    return await store.signRecords();
  } finally {
    await store.close();
  }
}
