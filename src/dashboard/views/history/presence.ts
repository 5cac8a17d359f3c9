// Durations of the past in words: how long somebody was there, and between which bounds callers waited. Pure.

export type PresenceParts =
  | { readonly kind: "none" | "underMinute" }
  | { readonly kind: "minutes"; readonly m: number }
  | { readonly kind: "hours"; readonly h: number; readonly m: string };

/** In hours, also when they are more than a day: that is how moderators count them. */
export function splitPresence(seconds: number): PresenceParts {
  if (seconds <= 0) return { kind: "none" };
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return { kind: "underMinute" };
  if (minutes < 60) return { kind: "minutes", m: minutes };
  return { kind: "hours", h: Math.floor(minutes / 60), m: String(minutes % 60).padStart(2, "0") };
}

export type Wait = { readonly unit: "seconds" | "minutes" | "hours"; readonly n: number };

/** Rounded so that it stays a bound: the lower one down, the upper one up. */
export function roundWait(seconds: number, round: "down" | "up"): Wait {
  const whole = round === "down" ? Math.floor : Math.ceil;
  const exact = whole(seconds);
  if (exact < 120 && exact % 60 !== 0) return { unit: "seconds", n: exact };
  if (exact === 0) return { unit: "seconds", n: 0 };
  const minutes = whole(seconds / 60);
  return minutes < 120 ? { unit: "minutes", n: minutes } : { unit: "hours", n: whole(seconds / 3_600) };
}

export type Median =
  | { readonly kind: "between"; readonly low: Wait; readonly high: Wait }
  | { readonly kind: "atMost"; readonly high: Wait }
  | { readonly kind: "exactly"; readonly low: Wait };

/** Undefined without answers. */
export function describeMedian(bounds: readonly number[] | null): Median | undefined {
  const [lowest, highest] = bounds ?? [];
  if (lowest === undefined || highest === undefined) return undefined;
  const low = roundWait(lowest, "down");
  const high = roundWait(highest, "up");
  if (low.n === high.n && low.unit === high.unit) return { kind: "exactly", low };
  return low.n === 0 ? { kind: "atMost", high } : { kind: "between", low, high };
}
