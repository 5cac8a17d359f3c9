// The armed faults, and which of them applies to a call.
import type { FaultKind, FaultRequest, ParameterValue } from "./fault-kinds.ts";

export const FAULTS_MAX = 50;

/** A fault as it applies to one call. */
export class Fault {
  readonly kind: FaultKind;
  readonly #settings: Readonly<Record<string, ParameterValue>>;
  /** How many calls this fault has affected before, so that it can vary from call to call. */
  readonly callsBefore: number;

  constructor(kind: FaultKind, settings: Readonly<Record<string, ParameterValue>>, callsBefore: number) {
    this.kind = kind;
    this.#settings = settings;
    this.callsBefore = callsBefore;
  }

  findNumber(field: string): number | undefined {
    const value = this.#settings[field];
    return typeof value === "number" ? value : undefined;
  }

  findText(field: string): string | undefined {
    const value = this.#settings[field];
    return typeof value === "string" ? value : undefined;
  }

  isSet(field: string): boolean {
    return this.#settings[field] === true;
  }
}

/** `calls` counts the calls that the fault has affected. */
export type ArmedFault = FaultRequest & { id: number; calls: number; untilMs: number | null };

export class FaultList {
  #armed: ArmedFault[] = [];
  #nextId = 1;

  /** Undefined when FAULTS_MAX are armed already. */
  arm(request: FaultRequest, nowMs: number): ArmedFault | undefined {
    this.#removeExpired(nowMs);
    if (this.#armed.length >= FAULTS_MAX) return undefined;
    const untilMs = request.seconds === null ? null : nowMs + request.seconds * 1000;
    const fault = { ...request, id: this.#nextId++, calls: 0, untilMs };
    this.#armed.push(fault);
    return fault;
  }

  /** The oldest fault that applies to the call. Counts the call against the fault's `times`. */
  take(call: { kind: "read" | "command"; server: string }, nowMs: number): Fault | undefined {
    this.#removeExpired(nowMs);
    const found = this.#armed.find(
      ({ server, target }) =>
        (server === null || server === call.server) && (target === "all" || target === `${call.kind}s`),
    );
    if (!found) return undefined;
    return new Fault(found.kind, found.settings, found.calls++);
  }

  list(nowMs: number): readonly ArmedFault[] {
    this.#removeExpired(nowMs);
    return this.#armed;
  }

  clear(): void {
    this.#armed = [];
  }

  #removeExpired(nowMs: number): void {
    this.#armed = this.#armed.filter(
      ({ times, calls, untilMs }) =>
        (times === null || calls < times) && (untilMs === null || nowMs < untilMs),
    );
  }
}
