// Counts what the archive has done since the start, for /metrics, and remembers whether it answered last.
import type { EventType } from "../../core/events/event-types.ts";
import type { EventSource, NewEvent } from "../../core/events/new-event.ts";
import type { Gap } from "../../core/wire/event-data.ts";

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
