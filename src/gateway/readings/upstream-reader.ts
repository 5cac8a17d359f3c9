// Reads one server from the game API when its turn in the budget has come, and keeps what the answer teaches.
import type { Refusal } from "../../core/errors.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import type {
  LimitHint,
  ServerParts,
  Upstream,
  UpstreamFailure,
  UpstreamReading,
} from "../../core/ports/upstream.ts";
import { OFFLINE } from "../../core/upstream-codes.ts";
import { INVALID_TOKEN } from "../keys/authenticate.ts";
import type { BudgetKeeper } from "./budget-keeper.ts";
import type { Fallback } from "./fallback.ts";
import type { ReadingListeners } from "./reading-listeners.ts";
import type { RelayMeter } from "./relay-meter.ts";
import { isKeyRefused, type Reading, type ServerStatus } from "./server-status.ts";
import type { ServerStatuses } from "./server-statuses.ts";
import { Snapshot } from "./snapshot.ts";
import type { Turns } from "./turns.ts";

export type UpstreamReaderParts = {
  readonly upstream: Pick<Upstream, "readServer">;
  readonly servers: Pick<ServerStore, "readServerKey">;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  readonly freshMs: number;
  readonly meter: RelayMeter;
  readonly log: Log;
  readonly statuses: ServerStatuses;
  readonly keeper: BudgetKeeper;
  readonly turns: Turns;
  readonly fallback: Fallback;
  readonly listeners: ReadingListeners;
};

type Call = { readonly at: number } & ({ readonly answer: UpstreamReading } | { readonly waitMs: number });

export class UpstreamReader {
  readonly #parts: UpstreamReaderParts;

  constructor(parts: UpstreamReaderParts) {
    this.#parts = parts;
  }

  async read(status: ServerStatus): Promise<Reading | Refusal> {
    const { clock, servers, meter, fallback } = this.#parts;
    const serverKey = await servers.readServerKey(status.serverId);
    // The server was deleted since the lookup, and the caller's key with it.
    if (serverKey === undefined) return INVALID_TOKEN;
    const { lastCallAt } = status;
    const call = await this.#callInTurn(status, serverKey);
    if ("waitMs" in call) return fallback.answerRateLimit(status, call.waitMs, call.at);
    const { answer, at } = call;
    const now = clock();
    meter.countCall("failure" in answer ? answer.failure.code : "ok", now - at);
    if ("parts" in answer) return this.#takeParts(status, answer.parts, answer.hint, now);
    // A call that was refused for the limit was no turn: the server keeps its place in the line.
    if (answer.failure.isRateLimit) status.lastCallAt = lastCallAt;
    return this.#takeFailure(status, answer.failure, answer.hint, now);
  }

  /** Nothing may run between taking the turn and spending it. `waitMs`: waiting for the turn would take too long. */
  async #callInTurn(status: ServerStatus, serverKey: string): Promise<Call> {
    const { clock, sleep, turns, upstream } = this.#parts;
    let sleptMs = 0;
    for (;;) {
      const at = clock();
      // Asked again after every wait: others may have spent or paused the budget meanwhile.
      const turn = turns.take(status, at);
      const waitMs = turn instanceof Promise ? await turn : turn;
      if (waitMs <= 0) {
        status.lastCallAt = at;
        return { answer: await turns.spend(() => upstream.readServer(serverKey)), at };
      }
      if (sleptMs + waitMs > turns.patienceMs(at)) return { waitMs, at };
      await sleep(waitMs);
      sleptMs += waitMs;
    }
  }

  #takeParts(status: ServerStatus, parts: ServerParts, hint: LimitHint | null, now: number): Reading {
    const { meter, turns, statuses, listeners } = this.#parts;
    meter.misfits += parts.misfits;
    if (hint) turns.learn(hint, false, now);
    const snapshot = new Snapshot(parts, now);
    statuses.learnReading(status, snapshot);
    listeners.notify({ serverId: status.serverId, parts, fetchedAt: now });
    return { snapshot, isHit: false };
  }

  #takeFailure(
    status: ServerStatus,
    failure: UpstreamFailure,
    hint: LimitHint | null,
    now: number,
  ): Reading | Refusal {
    const { turns, statuses, keeper, fallback, freshMs } = this.#parts;
    this.#logFailure(status, failure);
    if (hint) turns.learn(hint, failure.isRateLimit, now);
    status.lastFailure = { failure, at: now };
    if (failure.isRateLimit) return fallback.answerRateLimit(status, keeper.msPaused(now), now, failure);
    statuses.learnFailure(status, failure, now);
    if (failure.code === OFFLINE && !isKeyRefused(status))
      status.remembered = { failure, at: now, forMs: freshMs };
    return fallback.answerFailure(status, failure, now);
  }

  /** Warns once for each kind of failure: a server that keeps failing must not fill the log. */
  #logFailure(status: ServerStatus, { code, message }: UpstreamFailure): void {
    const { log } = this.#parts;
    const fields = { server_id: status.serverId, upstream_code: code };
    if (status.loggedCode === code) log.debug(fields, `game API: ${message}`);
    else log.warn(fields, `game API: ${message}`);
    status.loggedCode = code;
  }
}
