// The Redis that several instances share: reachable, new enough and writable. It need not be durable.
import type { Log } from "../core/ports/log.ts";
import { findFaultWords } from "../core/system-faults.ts";
import { ID_NAME, probeName, tagOf } from "../shared/names.ts";
import type { RedisAddress } from "../shared/parse-address.ts";
import { RedisLink } from "../shared/redis-link.ts";
import { type Finding, reportAs } from "./finding.ts";

const { fail, ok } = reportAs("redis");
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
/** The oldest Redis that has every command of our scripts. Every Valkey has them, and reports Redis 7.2. */
const MAJOR_VERSION_MIN = 7;
const DEADLINE_MS = 5_000;

export type RedisFacts =
  | { readonly kind: "unreachable"; readonly reason: string }
  | {
      readonly kind: "reached";
      readonly version: string;
      /** The error of a test write, such as "out of memory" or "read-only replica". */
      readonly writeProblem: string | undefined;
    };

export async function inspectRedis(address: RedisAddress): Promise<RedisFacts> {
  let reason = "it does not answer";
  const note = (fields: object) => {
    const { err, reason: told } = fields as { readonly err?: unknown; readonly reason?: unknown };
    reason = findFaultWords(err) ?? (err instanceof Error ? err.message : String(told ?? reason));
  };
  const link = new RedisLink(address, { ...SILENT, warn: note, error: note }, DEADLINE_MS);
  try {
    await link.firstTry;
    const info = String(await link.send(ID_NAME, "INFO", "server"));
    const probe = probeName(tagOf(ID_NAME));
    const writing = link.send(probe, "SET", probe, "1", "PX", 1_000);
    const writeProblem = await writing.then(() => undefined).catch((error: Error) => error.message);
    return { kind: "reached", version: /redis_version:(\S+)/.exec(info)?.[1] ?? "unknown", writeProblem };
  } catch (error) {
    const isTold = reason !== "it does not answer" || !(error instanceof Error);
    return { kind: "unreachable", reason: isTold ? reason : error.message };
  } finally {
    link.close();
  }
}

export function judgeRedis(facts: RedisFacts): Finding[] {
  const meanwhile = "Meanwhile each instance counts requests and calls the game API by itself (redis_away).";
  if (facts.kind === "unreachable") {
    const remedy = `Check that Redis runs, and its address, password and TLS in GATEHOUSE_REDIS. ${meanwhile}`;
    return fail(`Redis cannot be used: ${facts.reason}.`, remedy);
  }
  const findings: Finding[] = [];
  if (Number.parseInt(facts.version, 10) < MAJOR_VERSION_MIN)
    findings.push(...fail(`Redis ${facts.version} is too old.`, "Update to Redis 7.0 or Valkey 8, or newer."));
  if (facts.writeProblem !== undefined) {
    const remedy = `Give it more memory, or use the address of the primary. ${meanwhile}`;
    findings.push(...fail(`Redis refuses writes: ${facts.writeProblem}`, remedy));
  }
  return findings.length > 0 ? findings : ok(`Redis ${facts.version} can be used.`);
}
