// Splits a duration into the two units that matter: seconds until an hour, minutes until a day, then hours. Pure.
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/durations.ts";

export type DurationParts =
  | { readonly unit: "seconds"; readonly s: string }
  | { readonly unit: "minutes"; readonly m: string; readonly s: string }
  | { readonly unit: "hours"; readonly h: string; readonly m: string }
  | { readonly unit: "days"; readonly d: string; readonly h: string };

const SECOND = 1_000;

/** A lower bound is rounded down, an upper bound up, so that both stay true. A negative duration is zero. */
export function splitDuration(ms: number, round: "down" | "up" = "down"): DurationParts {
  const step = ms < HOUR_MS ? SECOND : ms < DAY_MS ? MINUTE_MS : HOUR_MS;
  const steps = Math.max(0, ms) / step;
  const rounded = (round === "up" ? Math.ceil(steps) : Math.floor(steps)) * step;
  const count = (unit: number, within = Number.POSITIVE_INFINITY) => Math.floor((rounded % within) / unit);
  // The second number keeps its width, so that the text does not jump every second.
  const pad = (value: number) => String(value).padStart(2, "0");
  if (rounded < MINUTE_MS) return { unit: "seconds", s: String(count(SECOND)) };
  if (rounded < HOUR_MS)
    return { unit: "minutes", m: String(count(MINUTE_MS)), s: pad(count(SECOND, MINUTE_MS)) };
  if (rounded < DAY_MS)
    return { unit: "hours", h: String(count(HOUR_MS)), m: pad(count(MINUTE_MS, HOUR_MS)) };
  return { unit: "days", d: String(count(DAY_MS)), h: String(count(HOUR_MS, DAY_MS)) };
}
