// Observes every answer: counts it, counts the key's use, and logs what is worth a line.
import { ERRORS } from "../core/errors.ts";
import type { Log } from "../core/ports/log.ts";
import { createSampler } from "../core/sampler.ts";
import type { UsageMeter } from "../gateway/keys/usage-meter.ts";
import type { Call } from "./call.ts";
import type { AnswerObserver } from "./edge.ts";
import type { EdgeMeter } from "./edge-meter.ts";

const WRONG_SECRET_LOG_MS = 10_000;

/** What is worth a line in the log, though not one for each request. */
const WRONG_SECRETS = new Map<number, string>([
  [ERRORS.invalidToken.code, "a request had an invalid token"],
  [ERRORS.invalidMasterKey.code, "a request had a wrong master key"],
  [ERRORS.tooManyAttempts.code, "an address goes on guessing the master key"],
]);

export function createAnswerObserver(parts: {
  meter: EdgeMeter;
  usage: UsageMeter;
  log: Log & { readonly isDebug: boolean };
  findAddress: (call: Call) => string;
}): AnswerObserver {
  const { meter, usage, log, findAddress } = parts;
  // Apart from each other: a flood of invalid tokens must not hide that somebody guesses the master key.
  const wrongSecrets = new Map(
    Array.from(WRONG_SECRETS, ([code, text]) => [code, { text, note: createSampler(WRONG_SECRET_LOG_MS) }]),
  );
  return (call, { status }) => {
    const { code, target, startedAt, key } = call;
    const ms = performance.now() - startedAt;
    meter.of(target.routeName).count(status, code, ms / 1000);
    if (key) usage.count(key, code, call.now);
    if (code !== 0) noteWrongSecret(call);
    if (!log.isDebug) return;
    const { method } = call.request;
    log.debug({ request_id: call.id, method, route: target.routeName, status, code, ms }, "answered");
  };

  function noteWrongSecret(call: Call): void {
    const wrong = wrongSecrets.get(call.code);
    wrong?.note(call.now, (unlogged) => {
      log.warn({ address: findAddress(call), request_id: call.id, unlogged }, wrong.text);
    });
  }
}
