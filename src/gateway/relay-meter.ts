// What the relay has done since the start, as plain numbers: adding to them costs nothing, and /metrics reads them.

/** Upper bounds in seconds of the latency histogram of upstream calls. */
export const CALL_BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

export class RelayMeter {
  hits = 0;
  staleHits = 0;
  coalesced = 0;
  misfits = 0;
  /** Calls by outcome: "ok" or the upstream code. Codes come from outside, so unusual ones are counted together. */
  readonly calls = new Map<string, number>();
  readonly callBuckets = new Array<number>(CALL_BUCKETS_SECONDS.length + 1).fill(0);
  callSeconds = 0;

  countCall(outcome: number | "ok", ms: number): void {
    const label = typeof outcome === "number" && !KNOWN_CODES.has(outcome) ? "other" : String(outcome);
    this.calls.set(label, (this.calls.get(label) ?? 0) + 1);
    const seconds = ms / 1000;
    this.callSeconds += seconds;
    const bucket = CALL_BUCKETS_SECONDS.findIndex((bound) => seconds <= bound);
    const index = bucket === -1 ? CALL_BUCKETS_SECONDS.length : bucket;
    this.callBuckets[index] = (this.callBuckets[index] ?? 0) + 1;
  }
}

const KNOWN_CODES: ReadonlySet<number> = new Set([
  0, 1001, 1002, 2000, 2001, 2002, 2003, 2004, 3001, 3002, 4000, 4001, 4002, 4003, 9998, 9999,
]);
