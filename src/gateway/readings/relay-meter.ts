// Counts what the relay has done since the start, for /metrics.
import { Histogram } from "../../core/histogram.ts";
import { KNOWN_CODES } from "../../core/upstream-codes.ts";

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
