// Splits a duration into the two units that matter: seconds until an hour, minutes until a day, then hours. Pure.

export type DurationParts =
  | { readonly unit: "seconds"; readonly s: string }
  | { readonly unit: "minutes"; readonly m: string; readonly s: string }
  | { readonly unit: "hours"; readonly h: string; readonly m: string }
  | { readonly unit: "days"; readonly d: string; readonly h: string };

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A lower bound is rounded down, an upper bound up, so that both stay true. A negative duration is zero. */
export function splitDuration(ms: number, round: "down" | "up" = "down"): DurationParts {
  const step = ms < HOUR ? SECOND : ms < DAY ? MINUTE : HOUR;
  const steps = Math.max(0, ms) / step;
  const rounded = (round === "up" ? Math.ceil(steps) : Math.floor(steps)) * step;
  const count = (unit: number, within = Number.POSITIVE_INFINITY) => Math.floor((rounded % within) / unit);
  // The second number keeps its width, so that the text does not jump every second.
  const pad = (value: number) => String(value).padStart(2, "0");
  if (rounded < MINUTE) return { unit: "seconds", s: String(count(SECOND)) };
  if (rounded < HOUR) return { unit: "minutes", m: String(count(MINUTE)), s: pad(count(SECOND, MINUTE)) };
  if (rounded < DAY) return { unit: "hours", h: String(count(HOUR)), m: pad(count(MINUTE, HOUR)) };
  return { unit: "days", d: String(count(DAY)), h: String(count(HOUR, DAY)) };
}
