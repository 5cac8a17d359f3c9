// The faults that are armed at the moment, and which of them a call runs into.
import type { FaultKind, FaultOrder, ParameterValue } from "./fault-menu.ts";

export const ARMED_MAX = 50;

/** An armed fault as a call meets it. */
export class Fault {
  readonly kind: FaultKind;
  readonly #settings: Readonly<Record<string, ParameterValue>>;
  /** Counts the calls that met this fault, so that it can vary. */
  readonly turn: number;

  constructor(kind: FaultKind, settings: Readonly<Record<string, ParameterValue>>, turn: number) {
    this.kind = kind;
    this.#settings = settings;
    this.turn = turn;
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

export type ArmedFault = FaultOrder & { id: number; met: number; untilMs: number | null };

export class ArmedFaults {
  #armed: ArmedFault[] = [];
  #nextId = 1;

  /** Undefined when too many are armed already. */
  arm(order: FaultOrder, nowMs: number): ArmedFault | undefined {
    this.#forgetSpent(nowMs);
    if (this.#armed.length >= ARMED_MAX) return undefined;
    const untilMs = order.seconds === null ? null : nowMs + order.seconds * 1000;
    const fault = { ...order, id: this.#nextId++, met: 0, untilMs };
    this.#armed.push(fault);
    return fault;
  }

  /** The fault that was armed first among those that fit, which thereby is one call nearer to its end. */
  meet(call: { kind: "read" | "command"; server: string }, nowMs: number): Fault | undefined {
    this.#forgetSpent(nowMs);
    const found = this.#armed.find(
      ({ server, target }) =>
        (server === null || server === call.server) && (target === "all" || target === `${call.kind}s`),
    );
    if (!found) return undefined;
    return new Fault(found.kind, found.settings, found.met++);
  }

  list(nowMs: number): readonly ArmedFault[] {
    this.#forgetSpent(nowMs);
    return this.#armed;
  }

  clear(): void {
    this.#armed = [];
  }

  #forgetSpent(nowMs: number): void {
    this.#armed = this.#armed.filter(
      ({ times, met, untilMs }) => (times === null || met < times) && (untilMs === null || nowMs < untilMs),
    );
  }
}
