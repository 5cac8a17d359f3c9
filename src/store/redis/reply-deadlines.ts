// Which requests to Redis have had no reply in time. Only the time in which this process was running counts: after it was held
// up, on a busy machine for example, replies may have arrived that it has not read, and requests may not have been written.
import { RunningTime } from "../../core/running-time.ts";

/** How often deadlines are checked. */
export const CHECK_EVERY_MS = 50;

export type PendingRequest = {
  /** The hash tag: requests with the same tag go to the same node of a cluster. */
  readonly tag: string;
  readonly reject: (error: Error) => void;
};

export class ReplyDeadlines {
  readonly #deadlineMs: number;
  readonly #running: RunningTime;
  /** With the running time at which each was sent, in this order. */
  readonly #pending = new Map<PendingRequest, number>();

  constructor(deadlineMs: number, now: number) {
    this.#deadlineMs = deadlineMs;
    this.#running = new RunningTime(now, CHECK_EVERY_MS);
  }

  add(request: PendingRequest, now: number): void {
    this.#pending.set(request, this.#running.at(now));
  }

  delete(request: PendingRequest): void {
    this.#pending.delete(request);
  }

  /** Removes the requests whose deadline has passed. */
  takeOverdue(now: number): readonly PendingRequest[] {
    const ranMs = this.#running.at(now);
    const overdue: PendingRequest[] = [];
    for (const [request, sentAt] of this.#pending) {
      if (ranMs - sentAt <= this.#deadlineMs) break;
      overdue.push(request);
    }
    for (const request of overdue) this.#pending.delete(request);
    return overdue;
  }

  takeAll(): readonly PendingRequest[] {
    const all = [...this.#pending.keys()];
    this.#pending.clear();
    return all;
  }
}
