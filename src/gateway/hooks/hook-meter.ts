// Counts the game's webhooks since the start, for /metrics.

/** What became of a webhook that was signed by the game. `dropped`: there is no archive. */
export const HOOK_OUTCOMES = [
  "recorded",
  "probe",
  "empty",
  "repeated",
  "unknown_server",
  "unavailable",
  "dropped",
] as const;
export type HookOutcomeName = (typeof HOOK_OUTCOMES)[number];

export const HOOK_FAULTS = ["too_large", "headers", "timestamp", "signature", "json", "body"] as const;
export type HookFault = (typeof HOOK_FAULTS)[number];

export class HookMeter {
  readonly received = countersOf(HOOK_OUTCOMES);
  readonly refused = countersOf(HOOK_FAULTS);
  /** Events in webhooks of the game that have no usable form, or were too many. */
  droppedEvents = 0;
}

function countersOf<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}
