// Counts what has happened since the start, for /metrics.
import type { EventType } from "../core/events/event-types.ts";
import type { EventSource, NewEvent } from "../core/events/new-event.ts";
import { STREAM_FORMATS } from "../core/events/stream-frames.ts";
import { Histogram } from "../core/histogram.ts";
import { KNOWN_CODES } from "../core/readings/upstream-codes.ts";
import type { AttemptVerdict } from "../core/webhooks/retry.ts";
import type { Gap } from "../core/wire/event-data.ts";

/** Readings for callers, and calls to the game API. */
export class RelayMeter {
  hits = 0;
  staleHits = 0;
  coalesced = 0;
  /** Values of the game API that were dropped because they do not match the schema. */
  misfits = 0;
  readonly callSeconds = new Histogram([0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]);
  /** Calls by outcome: "ok" or the upstream code. Unknown codes are counted as "other", so that the map stays small. */
  readonly calls = new Map<string, number>();

  countCall(outcome: number | "ok", ms: number): void {
    const label = typeof outcome === "number" && !KNOWN_CODES.has(outcome) ? "other" : String(outcome);
    this.calls.set(label, (this.calls.get(label) ?? 0) + 1);
    this.callSeconds.observe(ms / 1000);
  }
}

/** Commands by outcome. */
export class CommandMeter {
  readonly outcomes = new Map<string, number>();

  count(outcome: string, times = 1): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + times);
  }
}

/** What became of a webhook that was signed by the game. `dropped`: there is no archive. */
export const HOOK_OUTCOMES = [
  "recorded",
  "probe",
  "empty",
  "repeated",
  "unknown_server",
  "unavailable",
  "dropped",
] as const;
export type HookOutcomeName = (typeof HOOK_OUTCOMES)[number];

export const HOOK_FAULTS = ["too_large", "headers", "timestamp", "signature", "json", "body"] as const;
export type HookFault = (typeof HOOK_FAULTS)[number];

export class HookMeter {
  readonly received = countersOf(HOOK_OUTCOMES);
  readonly refused = countersOf(HOOK_FAULTS);
  /** Events in webhooks of the game that have no usable form, or were too many. */
  droppedEvents = 0;
}

function countersOf<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}

/**
 * `reader`: the reader went. `key`: its key may not go on. `restart`: we stop. `slow`: it did not take what was sent.
 * `misuse`: it sent something that a reader does not send.
 */
export const STREAM_CLOSINGS = ["reader", "key", "restart", "slow", "misuse"] as const;
export type StreamClosing = (typeof STREAM_CLOSINGS)[number];

export class StreamMeter {
  eventsSent = 0;
  readonly open = countersOf(STREAM_FORMATS);
  readonly closed = countersOf(STREAM_CLOSINGS);
}

/** `failed`: it is tried again. `set_aside`: the event was refused for good. `disabled`: so was the webhook. */
export const ATTEMPT_OUTCOMES = ["delivered", "failed", "set_aside", "disabled"] as const;
export type CountedOutcome = (typeof ATTEMPT_OUTCOMES)[number];

const OUTCOME_OF: Readonly<Record<AttemptVerdict["kind"], CountedOutcome>> = {
  done: "delivered",
  retry: "failed",
  "set-aside": "set_aside",
  disable: "disabled",
};

export class WebhookMeter {
  readonly attempts = new Map<CountedOutcome, number>(ATTEMPT_OUTCOMES.map((outcome) => [outcome, 0]));
  readonly seconds = new Histogram([0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]);
  /** Events that receivers have accepted; a repeat counts again. */
  eventsDelivered = 0;

  count(kind: AttemptVerdict["kind"], durationMs: number): void {
    const outcome = OUTCOME_OF[kind];
    this.attempts.set(outcome, (this.attempts.get(outcome) ?? 0) + 1);
    this.seconds.observe(durationMs / 1000);
  }
}

export type EventCount = { readonly type: EventType; readonly source: EventSource; count: number };

/** `data` is needed of gaps only. */
export type CountedEvent = Pick<NewEvent, "type" | "source" | "data">;

export class ArchiveMeter {
  /** Calls that failed, or were not answered in time. */
  failures = 0;
  readonly #events = new Map<string, EventCount>();
  readonly #gaps = new Map<string, number>();
  #fault: unknown;

  /** What the last call failed with; undefined when the archive answered it. */
  get fault(): unknown {
    return this.#fault;
  }

  /** Types and sources are closed lists, so there are few. */
  get events(): Iterable<Readonly<EventCount>> {
    return this.#events.values();
  }

  /** How many gaps were recorded, by their reason. */
  get gaps(): ReadonlyMap<string, number> {
    return this.#gaps;
  }

  noteAnswer(): void {
    this.#fault = undefined;
  }

  noteFailure(fault: unknown): void {
    this.failures++;
    this.#fault = fault;
  }

  countEvents(events: readonly CountedEvent[]): void {
    for (const { type, source, data } of events) {
      const name = `${type} ${source}`;
      const known = this.#events.get(name);
      if (known) known.count++;
      else this.#events.set(name, { type, source, count: 1 });
      if (type !== "gap") continue;
      const { reason } = JSON.parse(data) as Pick<Gap, "reason">;
      this.#gaps.set(reason, (this.#gaps.get(reason) ?? 0) + 1);
    }
  }
}
