// Counts commands by outcome, for /metrics.

export class CommandMeter {
  readonly outcomes = new Map<string, number>();

  count(outcome: string, times = 1): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + times);
  }
}
