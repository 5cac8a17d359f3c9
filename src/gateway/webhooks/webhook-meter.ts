// Counts what became of the attempts to deliver since the start, for /metrics.
import { Histogram } from "../../core/histogram.ts";
import type { AttemptVerdict } from "../../core/webhooks/retry.ts";

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
