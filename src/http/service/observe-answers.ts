// Observes every answer: counts it, counts the key's usage, and logs wrong secrets.
import { ERRORS, type Refusal } from "../../core/errors.ts";
import { Histogram } from "../../core/histogram.ts";
import type { Log } from "../../core/ports/log.ts";
import { createThrottle } from "../../core/throttle.ts";
import type { UsageMeter } from "../../gateway/keys/usage-meter.ts";
import type { Call } from "../call.ts";

const CODE_FACTOR = 100_000;

/** Counts the answers of a route since the start. The hot path only adds numbers. */
export class RouteMeter {
  readonly seconds = new Histogram([0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 5, 10]);
  readonly #answers = new Map<number, number>();

  /** `code` is 0 when the answer is not an error. */
  count(status: number, code: number, seconds: number): void {
    const kind = status * CODE_FACTOR + code;
    this.#answers.set(kind, (this.#answers.get(kind) ?? 0) + 1);
    this.seconds.observe(seconds);
  }

  *answers(): Generator<{ status: number; code: number; count: number }> {
    for (const [kind, count] of this.#answers) {
      yield { status: Math.floor(kind / CODE_FACTOR), code: kind % CODE_FACTOR, count };
    }
  }
}

/** One meter per route. The routes are a fixed list, so requests cannot make this grow. */
export class EdgeMeter {
  readonly routes = new Map<string, RouteMeter>();

  of(route: string): RouteMeter {
    let meter = this.routes.get(route);
    if (!meter) {
      meter = new RouteMeter();
      this.routes.set(route, meter);
    }
    return meter;
  }
}

const WRONG_SECRET_LOG_MS = 10_000;

/** Errors that are logged, at most once per WRONG_SECRET_LOG_MS. */
const WRONG_SECRETS = new Map<number, string>([
  [ERRORS.invalidToken.code, "a request had an invalid token"],
  [ERRORS.invalidMasterKey.code, "a request had a wrong master key"],
  [ERRORS.tooManyAttempts.code, "an address goes on guessing secrets, or a person signs in too often"],
]);

export type AnswerObserverParts = {
  readonly meter: EdgeMeter;
  readonly usage: UsageMeter;
  readonly log: Log & { readonly isDebug: boolean };
  readonly findAddress: (call: Call) => string;
};

export class AnswerObserver {
  /** One throttle per code, so that a flood of invalid tokens does not hide guesses of the master key. */
  readonly #wrongSecrets = new Map(
    Array.from(WRONG_SECRETS, ([code, text]) => [code, { text, throttle: createThrottle(WRONG_SECRET_LOG_MS) }]),
  );

  constructor(private readonly parts: AnswerObserverParts) {}

  observe(call: Call, { status }: Response): void {
    const { meter, usage, log } = this.parts;
    const { code, target, startedAt, key } = call;
    const ms = performance.now() - startedAt;
    meter.of(target.routeName).count(status, code, ms / 1000);
    if (key) usage.count(key, code, call.now);
    if (code !== 0) this.#logWrongSecret(call);
    if (!log.isDebug) return;
    const { method } = call.request;
    log.debug({ request_id: call.id, method, route: target.routeName, status, code, ms }, "answered");
  }

  /** A token that came in a frame, after its request was answered and its socket has lost the address. */
  observeToken(call: Call, address: string, refusal: Refusal | undefined): void {
    const { meter, usage } = this.parts;
    call.code = refusal?.refused.code ?? 0;
    if (call.key) usage.count(call.key, call.code, call.now);
    if (!refusal) return;
    meter.of(call.target.routeName).count(refusal.refused.status, call.code, 0);
    this.#logWrongSecret(call, address);
  }

  /** Without an address, that of the call's socket. */
  #logWrongSecret(call: Call, address?: string): void {
    const { log, findAddress } = this.parts;
    const wrong = this.#wrongSecrets.get(call.code);
    wrong?.throttle(call.now, (unlogged) => {
      log.warn({ address: address ?? findAddress(call), request_id: call.id, unlogged }, wrong.text);
    });
  }
}
