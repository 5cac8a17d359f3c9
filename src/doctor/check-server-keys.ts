// Whether the game API still accepts the stored server keys. Tested only on request and with few calls: each one comes
// out of the budget of the running instance. Keys that it has refused before are reported without a call.
import { quoteArgument } from "../core/notices.ts";
import type { Upstream, UpstreamReading } from "../core/ports/upstream.ts";
import { BAD_KEY_CODES, GLOBAL_KEY_REFUSED, OFFLINE } from "../core/readings/upstream-codes.ts";
import type { RefusedKey } from "../core/readings/upstream-notes.ts";
import type { ServerWithKey } from "../database/store/inspect-store.ts";
import { describePause, reportGlobalKey } from "./call-notes.ts";
import { type Finding, reportAs } from "./finding.ts";

const { fail, ok, skip, warn } = reportAs("server keys");
export const SERVERS_TESTED_MAX = 10;
/** Calls of the game API's limit that are left for the running instance. */
const CALLS_RESERVED = 5;
const PAUSE_MS = 250;

export type KeyResult = {
  readonly serverId: string;
  readonly name: string;
  /** 0 when the key was accepted. */
  readonly code: number;
  readonly message: string;
  readonly verdict: "accepted" | "refused" | "refused-before" | "global-key-refused" | "limited" | "unclear";
};

/** The results that are known without a call, and the servers without one. */
export function applyRefusedKeys(
  servers: readonly ServerWithKey[],
  refusedKeys: readonly RefusedKey[],
): { known: KeyResult[]; untested: ServerWithKey[] } {
  const failures = new Map(refusedKeys.map(({ serverId, failure }) => [serverId, failure]));
  const known = servers.flatMap(({ serverId, name }): KeyResult[] => {
    const failure = failures.get(serverId);
    if (!failure) return [];
    const { code, message } = failure;
    return [{ serverId, name, code, message, verdict: "refused-before" }];
  });
  return { known, untested: servers.filter(({ serverId }) => !failures.has(serverId)) };
}

/** One after another; stops when the game API limits us or refuses the application's own key. */
export async function testServerKeys(
  upstream: Pick<Upstream, "readServer">,
  servers: readonly ServerWithKey[],
  sleep: (ms: number) => Promise<void>,
): Promise<KeyResult[]> {
  const results: KeyResult[] = [];
  for (const { serverId, name, serverKey } of servers.slice(0, SERVERS_TESTED_MAX)) {
    if (results.length > 0) await sleep(PAUSE_MS);
    const reading = await upstream.readServer(serverKey);
    const result = { serverId, name, ...classify(reading) };
    results.push(result);
    const remaining = reading.hint?.remaining ?? Number.POSITIVE_INFINITY;
    const mustStop = result.verdict === "limited" || result.verdict === "global-key-refused";
    if (mustStop || remaining <= CALLS_RESERVED) break;
  }
  return results;
}

function classify(reading: UpstreamReading): Pick<KeyResult, "code" | "message" | "verdict"> {
  if ("parts" in reading) return { code: 0, message: "", verdict: "accepted" };
  const { code, message, isRateLimit } = reading.failure;
  if (isRateLimit) return { code, message, verdict: "limited" };
  if (code === GLOBAL_KEY_REFUSED) return { code, message, verdict: "global-key-refused" };
  if (BAD_KEY_CODES.has(code)) return { code, message, verdict: "refused" };
  // The game API says "offline" only to a valid key.
  return { code, message, verdict: code === OFFLINE ? "accepted" : "unclear" };
}

export type KeyFacts =
  | { readonly kind: "simulator" | "no-store" | "not-tested" | "global-key-refused" }
  | { readonly kind: "limited"; readonly known: readonly KeyResult[] }
  | { readonly kind: "paused"; readonly pauseMs: number; readonly known: readonly KeyResult[] }
  | { readonly kind: "tested"; readonly total: number; readonly results: readonly KeyResult[] };

export function judgeServerKeys(facts: KeyFacts): Finding[] {
  switch (facts.kind) {
    case "simulator":
      return skip("Not tested: the simulator accepts every key.");
    case "no-store":
      return skip("Not tested: there are no stored keys that can be read.");
    case "not-tested":
      return skip("Not tested: every test costs a call of the game API's limit; --ask-keys tests them.");
    case "global-key-refused":
      return skip("Not tested: the game API refuses the application's own key, see below.");
    case "limited":
      return judgeUntested(facts.known, "the game API limits this address at the moment.");
    case "paused":
      return judgeUntested(facts.known, describePause(facts.pauseMs));
    case "tested":
      return judgeResults(facts.total, facts.results);
  }
}

function judgeUntested(known: readonly KeyResult[], reason: string): Finding[] {
  return [...known.flatMap(judgeResult), ...skip(`Not tested: ${reason}`)];
}

function judgeResults(total: number, results: readonly KeyResult[]): Finding[] {
  if (total === 0) return skip("Not tested: there are no servers yet.");
  const findings = results.flatMap(judgeResult);
  const accepted = results.filter(({ verdict }) => verdict === "accepted").length;
  const asked = results.filter(({ verdict }) => verdict !== "refused-before").length;
  const tested = `${asked} of ${total} ${total === 1 ? "key was" : "keys were"} tested`;
  return [...findings, ...(accepted > 0 ? ok(`${tested}; ${accepted} accepted.`) : [])];
}

function judgeResult({ serverId, name, code, message, verdict }: KeyResult): Finding[] {
  const server = `${name} (${serverId})`;
  switch (verdict) {
    case "accepted":
      return [];
    case "refused":
    case "refused-before":
      return fail(
        verdict === "refused"
          ? `The game API refuses the key of ${server}: ${message} (${code})`
          : `The game API has refused the key of ${server}, so it was not tested again: ${message} (${code})`,
        `Get a new server key from the game's settings, then: gatehouse servers set-key ${quoteArgument(name)}`,
      );
    case "global-key-refused":
      return reportGlobalKey("server keys", { code, message });
    case "limited":
      return warn(
        "The game API's limit is used up at the moment; the remaining keys were not tested.",
        "Wait a minute before the next try.",
      );
    case "unclear":
      return warn(
        `The key of ${server} could not be tested: ${message} (${code})`,
        "Try again later; if it happens again, check the status of the game API.",
      );
  }
}
