// The inputs of one server that wait to be judged, what they are judged with, and when time alone is an input.
import { UNSHOWN_CALL_MS } from "../../core/events/judge-calls.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { AlertJudge } from "./alert-judge.ts";
import type { LedgerInput, ServerLedger } from "./server-ledger.ts";

/** Sleeps at most this long at once, so that a change of the clock is noticed. */
const ALERT_SLEEP_MAX_MS = 60_000;

export type OfReading = Extract<LedgerInput, { reading: unknown } | { failure: unknown }>;

export type QueueTimer = {
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  /** Whether the queue is still the one of its server. */
  readonly isInUse: (queue: ServerQueue) => boolean;
  /** The time that the queue waited for has come. */
  readonly onDue: (queue: ServerQueue) => void;
};

export class ServerQueue {
  readonly inputs: LedgerInput[] = [];
  usedAt = 0;
  /** When it was last loaded, or compared with the archive. */
  comparedAt = 0;
  /** When the time of an alert may have come; infinite for never. */
  #alertsAt = Number.POSITIVE_INFINITY;
  #isTimingCalls = false;

  constructor(
    readonly ledger: ServerLedger,
    readonly alerts: AlertJudge,
    private readonly timer: QueueTimer,
  ) {}

  get isDone(): boolean {
    const { inputs, ledger, alerts } = this;
    return inputs.length === 0 && !ledger.hasDraft && ledger.waitingEvents === 0 && !alerts.isDue;
  }

  /** What waits of readings: webhooks have a limit of their own. */
  countReadings(): number {
    return this.inputs.filter(isOfReading).length;
  }

  /** Removes the oldest reading or failure that waits. */
  takeOldestReading(): OfReading | undefined {
    const oldest = this.inputs.find(isOfReading);
    if (oldest) this.inputs.splice(this.inputs.indexOf(oldest), 1);
    return oldest;
  }

  dropHooks(): void {
    const kept = this.inputs.filter((input) => !("hook" in input));
    this.inputs.splice(0, this.inputs.length, ...kept);
  }

  /** Where nobody reads the server, nothing else would end the calls that only webhooks have told of. */
  timeCalls(): void {
    const { clock, sleep, isInUse, onDue } = this.timer;
    if (this.#isTimingCalls || !this.ledger.hasUnshownCalls) return;
    this.#isTimingCalls = true;
    void sleep(UNSHOWN_CALL_MS + 1).then(() => {
      this.#isTimingCalls = false;
      if (!isInUse(this)) return;
      this.inputs.push({ passedAt: clock() });
      onDue(this);
    });
  }

  /** Where nobody reads the server, nothing else would tell that time has passed. */
  timeAlerts(): void {
    const { clock, sleep, isInUse, onDue } = this.timer;
    const { nextAt } = this.alerts;
    const now = clock();
    if (nextAt === null || this.#alertsAt <= nextAt) return;
    const alertsAt = Math.min(nextAt, now + ALERT_SLEEP_MAX_MS);
    if (this.#alertsAt <= alertsAt) return;
    this.#alertsAt = alertsAt;
    void sleep(Math.max(0, alertsAt - now)).then(() => {
      if (this.#alertsAt === alertsAt) this.#alertsAt = Number.POSITIVE_INFINITY;
      if (!isInUse(this)) return;
      if (clock() < (this.alerts.nextAt ?? Number.POSITIVE_INFINITY)) return this.timeAlerts();
      this.alerts.noteTime();
      onDue(this);
    });
  }
}

function isOfReading(input: LedgerInput): input is OfReading {
  return "reading" in input || "failure" in input;
}
