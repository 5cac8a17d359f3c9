// Which requests to Redis have had no reply in time. A check that comes late was held up by this process itself, on a busy
// machine for example: then replies may have arrived that nobody has read yet, so it judges nothing.

/** How often deadlines are checked. */
export const CHECK_EVERY_MS = 50;
const CHECK_LATE_MS = 3 * CHECK_EVERY_MS;

export type PendingRequest = {
  readonly sentAt: number;
  /** The hash tag: requests with the same tag go to the same node of a cluster. */
  readonly tag: string;
  readonly reject: (error: Error) => void;
};

export class ReplyDeadlines {
  readonly #deadlineMs: number;
  /** In the order in which they were sent. */
  readonly #pending = new Set<PendingRequest>();
  #checkedAt: number;
  #hasSkipped = false;

  constructor(deadlineMs: number, now: number) {
    this.#deadlineMs = deadlineMs;
    this.#checkedAt = now;
  }

  add(request: PendingRequest): void {
    this.#pending.add(request);
  }

  delete(request: PendingRequest): void {
    this.#pending.delete(request);
  }

  /** Removes the requests whose deadline has passed. Every second check judges, however late it comes. */
  takeOverdue(now: number): readonly PendingRequest[] {
    const isLate = now - this.#checkedAt > CHECK_LATE_MS;
    this.#checkedAt = now;
    this.#hasSkipped = isLate && !this.#hasSkipped;
    if (this.#hasSkipped) return [];
    const overdue: PendingRequest[] = [];
    for (const request of this.#pending) {
      if (now - request.sentAt <= this.#deadlineMs) break;
      overdue.push(request);
    }
    for (const request of overdue) this.#pending.delete(request);
    return overdue;
  }

  takeAll(): readonly PendingRequest[] {
    const all = [...this.#pending];
    this.#pending.clear();
    return all;
  }
}
