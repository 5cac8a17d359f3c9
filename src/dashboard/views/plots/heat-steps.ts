// The steps of the heat map, and what it says in words. Pure.
import { DAY_MS } from "../../../core/durations.ts";
import type { Scheme } from "../../team-colours.ts";

export const HEAT_STEPS = 6;

type Look = { readonly background: string; readonly color: string };

/** From the fewest players to the most. Every text has a contrast of at least 4.5 to its background. */
export const HEAT_LOOKS: Readonly<Record<Scheme, readonly Look[]>> = {
  light: [
    { background: "#f1f3f5", color: "#1b1f3b" },
    { background: "#dbe4ff", color: "#1b1f3b" },
    { background: "#bac8ff", color: "#1b1f3b" },
    { background: "#91a7ff", color: "#11142b" },
    { background: "#3b5bdb", color: "#fff" },
    { background: "#22338a", color: "#fff" },
  ],
  dark: [
    { background: "#25262b", color: "#e9ecef" },
    { background: "#232a4d", color: "#e9ecef" },
    { background: "#2f3c80", color: "#fff" },
    { background: "#3b5bdb", color: "#fff" },
    { background: "#91a7ff", color: "#11142b" },
    { background: "#dbe4ff", color: "#11142b" },
  ],
};

/** The step of a value, from 0 to 5. The busiest hour has the highest one. */
export function findStep(value: number, max: number): number {
  if (max <= 0 || value <= 0) return 0;
  return Math.min(HEAT_STEPS - 1, Math.max(1, Math.ceil((value / max) * (HEAT_STEPS - 1))));
}

export type BusyHour = { readonly day: number; readonly hour: number; readonly value: number };

/** The busiest hour of the week; undefined when nothing is known or nobody was ever there. */
export function findBusiest(table: readonly (readonly (number | null)[])[]): BusyHour | undefined {
  let best: BusyHour | undefined;
  for (const [day, hours] of table.entries()) {
    for (const [hour, value] of hours.entries()) {
      if (value !== null && value > (best?.value ?? 0)) best = { day, hour, value };
    }
  }
  return best;
}

/** The names of the days, Monday first. */
export function listDayNames(language: string, style: "short" | "long"): readonly string[] {
  const format = new Intl.DateTimeFormat(language, { weekday: style, timeZone: "UTC" });
  // 5 January 1970 was a Monday.
  return Array.from({ length: 7 }, (_, day) => format.format((day + 4) * DAY_MS));
}

/** The browser's own zone and UTC first. */
export function listZones(own: string, all: readonly string[]): readonly string[] {
  return [...new Set([own, "UTC", ...all])];
}
