// What the relay has done since the start, as plain numbers: adding to them costs nothing, and /metrics reads them.
import { Histogram } from "../core/histogram.ts";

const KNOWN_CODES: ReadonlySet<number> = new Set([
  0, 1001, 1002, 2000, 2001, 2002, 2003, 2004, 3001, 3002, 4000, 4001, 4002, 4003, 9998, 9999,
]);

export class RelayMeter {
  hits = 0;
  staleHits = 0;
  coalesced = 0;
  misfits = 0;
  readonly callSeconds = new Histogram([0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]);
  /** Calls by outcome: "ok" or the upstream code. Codes come from outside, so unusual ones are counted together. */
  readonly calls = new Map<string, number>();

  countCall(outcome: number | "ok", ms: number): void {
    const label = typeof outcome === "number" && !KNOWN_CODES.has(outcome) ? "other" : String(outcome);
    this.calls.set(label, (this.calls.get(label) ?? 0) + 1);
    this.callSeconds.observe(ms / 1000);
  }
}
