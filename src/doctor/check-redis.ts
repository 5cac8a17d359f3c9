// Redis as the store: reachable, new enough, durable, writable, and encrypted with our secret.

import type { Log } from "../core/ports/log.ts";
import { findFaultWords } from "../core/system-faults.ts";
import { listDurabilityProblems } from "../store/redis/check-durability.ts";
import { NAMES } from "../store/redis/names.ts";
import { type RedisAddress, RedisLink } from "../store/redis/redis-link.ts";
import { isIgnored, scanRecords } from "../store/redis/signed-record.ts";
import type { Sealer } from "../store/sealer.ts";
import { isRightSecret, SECRET_CHECK } from "../store/secret-check.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const NAME = "store";
export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
/** The oldest Redis that has every command of our scripts. Every Valkey has them, and reports Redis 7.2. */
const MAJOR_VERSION_MIN = 7;

export type RedisFacts =
  | { readonly kind: "unreachable"; readonly reason: string }
  | {
      readonly kind: "reached";
      readonly version: string;
      /** The error of a test write, such as "out of memory" or "read-only replica". */
      readonly writeProblem: string | undefined;
      readonly problems: readonly string[];
      /** Undefined when nothing is encrypted yet, or there is no secret to test. */
      readonly isSecretRight: boolean | undefined;
      readonly servers: number;
      readonly keys: number;
      /** Servers and keys without a valid signature, which Gatehouse ignores. */
      readonly ignored: number;
    };

export async function inspectRedis(address: RedisAddress, sealer: Sealer | undefined): Promise<RedisFacts> {
  let link: RedisLink | undefined;
  try {
    link = await RedisLink.open(address, SILENT);
    const info = String(await link.send(NAMES.version, "INFO", "server"));
    const kept = await link.send(NAMES.settings, "HGET", NAMES.settings, SECRET_CHECK);
    const facts = {
      kind: "reached",
      version: /redis_version:(\S+)/.exec(info)?.[1] ?? "unknown",
      problems: await listDurabilityProblems(link),
      isSecretRight: typeof kept === "string" && sealer ? isRightSecret(kept, sealer) : undefined,
      servers: Number(await link.send(NAMES.servers, "HLEN", NAMES.servers)),
      keys: Number(await link.send(NAMES.keys, "HLEN", NAMES.keys)),
      ignored: sealer ? await countIgnored(link, sealer) : 0,
    } as const;
    // Last, because the link sends nothing more to a server that refuses writes.
    const writing = link.send(NAMES.probe, "SET", NAMES.probe, "1", "PX", 1_000);
    const writeProblem = await writing.then(() => undefined).catch((error: Error) => error.message);
    return { ...facts, writeProblem };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "unreachable", reason: findFaultWords(error) ?? message };
  } finally {
    link?.close();
  }
}

async function countIgnored(link: RedisLink, sealer: Sealer): Promise<number> {
  let ignored = 0;
  for (const name of [NAMES.servers, NAMES.keys]) {
    for await (const pairs of scanRecords(link, name)) {
      ignored += pairs.filter(([id, text]) => isIgnored(sealer, id, text)).length;
    }
  }
  return ignored;
}

export function judgeRedis(facts: RedisFacts): Finding[] {
  if (facts.kind === "unreachable") {
    const remedy = "Check that Redis runs, and its address, password and TLS in GATEHOUSE_STORE.";
    return [fail(NAME, `Redis cannot be used: ${facts.reason}.`, remedy)];
  }
  const findings = facts.problems.map((problem) => {
    return warn(NAME, problem, "Set it in redis.conf or with CONFIG SET; docs/scaling.md says why.");
  });
  if (Number.parseInt(facts.version, 10) < MAJOR_VERSION_MIN) {
    findings.push(
      fail(NAME, `Redis ${facts.version} is too old.`, "Update to Redis 7.0 or Valkey 8, or newer."),
    );
  }
  if (facts.writeProblem !== undefined) {
    const remedy = "Give it more memory or disk, or use the address of the primary.";
    findings.push(fail(NAME, `Redis refuses writes: ${facts.writeProblem}`, remedy));
  }
  if (facts.isSecretRight === false) {
    const remedy = "Set GATEHOUSE_SECRET to the same on all instances.";
    findings.push(fail(NAME, "The secret is not the one that this Redis was first used with.", remedy));
  }
  if (facts.isSecretRight !== false && facts.ignored > 0) {
    const finding = `Servers and keys in Redis without a valid signature, which Gatehouse ignores: ${facts.ignored}.`;
    const remedy =
      "After an update from an older version: stop all instances and run gatehouse sign-records once. " +
      "Otherwise somebody else has written to Redis: change its password; docs/scaling.md says more.";
    findings.push(fail(NAME, finding, remedy));
  }
  if (findings.length > 0) return findings;
  return [
    ok(
      NAME,
      `Redis ${facts.version} is durable and writable; servers: ${facts.servers}, keys: ${facts.keys}.`,
    ),
  ];
}
