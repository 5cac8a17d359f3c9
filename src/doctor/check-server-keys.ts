// Whether the game API still accepts the stored server keys. Asked only on request and politely: every question is taken
// from the budget that the running instance lives on.
import type { Upstream, UpstreamReading } from "../core/ports/upstream.ts";
import { BAD_KEY_CODES, GLOBAL_KEY_REFUSED, OFFLINE } from "../core/upstream-codes.ts";
import type { ServerWithKey } from "../store/sqlite/read-server-keys.ts";
import { type Finding, fail, ok, skip, warn } from "./finding.ts";

const NAME = "server keys";
export const SERVERS_ASKED_MAX = 10;
/** So many calls of the game API's limit are left for the instance that runs. */
const CALLS_SPARED = 5;
const PAUSE_MS = 250;

export type KeyAnswer = {
  readonly serverId: string;
  readonly name: string;
  /** 0 when the key was accepted. */
  readonly code: number;
  readonly message: string;
  readonly verdict: "accepted" | "refused" | "global-key-refused" | "limited" | "unclear";
};

/** One after another; stops as soon as the game API asks for patience or refuses the application's own key. */
export async function askServerKeys(
  upstream: Pick<Upstream, "readServer">,
  servers: readonly ServerWithKey[],
  sleep: (ms: number) => Promise<void>,
): Promise<KeyAnswer[]> {
  const answers: KeyAnswer[] = [];
  for (const { serverId, name, serverKey } of servers.slice(0, SERVERS_ASKED_MAX)) {
    if (answers.length > 0) await sleep(PAUSE_MS);
    const reading = await upstream.readServer(serverKey);
    const answer = { serverId, name, ...classify(reading) };
    answers.push(answer);
    const remaining = reading.hint?.remaining ?? Number.POSITIVE_INFINITY;
    const mustStop = answer.verdict === "limited" || answer.verdict === "global-key-refused";
    if (mustStop || remaining <= CALLS_SPARED) break;
  }
  return answers;
}

function classify(reading: UpstreamReading): Pick<KeyAnswer, "code" | "message" | "verdict"> {
  if ("parts" in reading) return { code: 0, message: "", verdict: "accepted" };
  const { code, message, isRateLimit } = reading.failure;
  if (isRateLimit) return { code, message, verdict: "limited" };
  if (code === GLOBAL_KEY_REFUSED) return { code, message, verdict: "global-key-refused" };
  if (BAD_KEY_CODES.has(code)) return { code, message, verdict: "refused" };
  // Nobody is playing: the key was good enough to be told so.
  return { code, message, verdict: code === OFFLINE ? "accepted" : "unclear" };
}

export type KeyFacts =
  | { readonly kind: "simulator" | "no-store" | "not-asked" }
  | { readonly kind: "asked"; readonly total: number; readonly answers: readonly KeyAnswer[] };

export function judgeServerKeys(facts: KeyFacts): Finding[] {
  switch (facts.kind) {
    case "simulator":
      return [skip(NAME, "Not asked: the simulator accepts every key.")];
    case "no-store":
      return [skip(NAME, "Not asked: there are no stored keys that can be read.")];
    case "not-asked":
      return [skip(NAME, "Not asked: every question costs a call of the game API's limit; --ask-keys asks.")];
    case "asked":
      return judgeAnswers(facts.total, facts.answers);
  }
}

function judgeAnswers(total: number, answers: readonly KeyAnswer[]): Finding[] {
  if (total === 0) return [skip(NAME, "Not asked: there are no servers yet.")];
  const findings = answers.flatMap(judgeAnswer);
  const accepted = answers.filter(({ verdict }) => verdict === "accepted").length;
  const asked = `${answers.length} of ${total} ${total === 1 ? "key was" : "keys were"} asked about`;
  return [...findings, ...(accepted > 0 ? [ok(NAME, `${asked}; ${accepted} accepted.`)] : [])];
}

function judgeAnswer({ serverId, name, code, message, verdict }: KeyAnswer): Finding[] {
  const server = `${name} (${serverId})`;
  switch (verdict) {
    case "accepted":
      return [];
    case "refused":
      return [
        fail(
          NAME,
          `The game API refuses the key of ${server}: ${message} (${code})`,
          `Get a new server key from the game's settings, then: gatehouse servers set-key ${serverId}`,
        ),
      ];
    case "global-key-refused":
      return [
        fail(
          NAME,
          `The game API refuses the application's own key: ${message} (${code})`,
          "Correct or remove GATEHOUSE_UPSTREAM_GLOBAL_KEY.",
        ),
      ];
    case "limited":
      return [
        warn(
          NAME,
          "The game API's limit is used up at the moment; the remaining keys were not asked about.",
          "Wait a minute before asking again.",
        ),
      ];
    case "unclear":
      return [
        warn(
          NAME,
          `About the key of ${server} nothing was learned: ${message} (${code})`,
          "Ask again later; if it stays so, look at the game API's status.",
        ),
      ];
  }
}
