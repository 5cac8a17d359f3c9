// The current time, and how times, numbers and durations are written in the user's language, region and time zone.
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../core/durations.ts";
import { SecondTicker, setPageTimer } from "./throttle.ts";

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3_600;
/** The largest time that a Date can hold; the game may send larger numbers. */
const DATE_MAX_MS = 8.64e15;
const NO_DATE = "—";

type Formats = ReturnType<typeof makeFormats>;
const made = new Map<string, Formats>();

function makeFormats(region: string) {
  return {
    time: new Intl.DateTimeFormat(region, { timeStyle: "medium" }),
    dateTime: new Intl.DateTimeFormat(region, { dateStyle: "medium", timeStyle: "medium" }),
    day: new Intl.DateTimeFormat(region, { dateStyle: "full" }),
    shortDateTime: new Intl.DateTimeFormat(region, {
      day: "numeric",
      month: "short",
      hour: "numeric",
      minute: "2-digit",
    }),
    number: new Intl.NumberFormat(region),
    relative: new Intl.RelativeTimeFormat(region, { numeric: "auto", style: "short" }),
  };
}

/** Made once for each language of the page: such an object takes some 100 KB, and each row of a list needs several. */
export function getFormats(language: string): Formats {
  const formats = made.get(language) ?? makeFormats(findRegion(language));
  made.set(language, formats);
  return formats;
}

export function useFormat() {
  const { t, i18n } = useTranslation("status");
  const { language } = i18n;
  return useMemo(() => {
    const { time, dateTime, number } = getFormats(language);
    return {
      /** Takes epoch milliseconds; the game sends seconds. */
      time: (ms: number) => (isDate(ms) ? time.format(ms) : NO_DATE),
      dateTime: (ms: number) => (isDate(ms) ? dateTime.format(ms) : NO_DATE),
      number: (value: number) => number.format(value),
      /** "12 s", "3 min", "2 h". */
      duration(ms: number): string {
        const seconds = Math.max(0, Math.round(ms / 1000));
        if (seconds < 2 * MINUTE_SECONDS) return t("seconds", { n: seconds });
        if (seconds < 2 * HOUR_SECONDS) return t("minutes", { n: Math.round(seconds / MINUTE_SECONDS) });
        return t("hours", { n: Math.round(seconds / HOUR_SECONDS) });
      },
    };
  }, [language, t]);
}

function isDate(ms: number): boolean {
  return Math.abs(ms) <= DATE_MAX_MS;
}

/** The browser's first locale in that language, or else the language with the region of the browser's first locale. */
export function findRegion(
  language: string,
  preferred: readonly string[] = globalThis.navigator?.languages ?? [],
): string {
  const known = preferred.filter(isLocale);
  const own = known.find((name) => name.toLowerCase().split("-")[0] === language);
  if (own !== undefined) return own;
  const region = known[0] === undefined ? undefined : new Intl.Locale(known[0]).region;
  return region === undefined ? language : `${language}-${region}`;
}

/** Some systems report a locale that Intl does not accept, such as "en-US@posix". */
function isLocale(name: string): boolean {
  try {
    return Intl.getCanonicalLocales(name).length === 1;
  } catch {
    return false;
  }
}

const ticker = new SecondTicker({
  setTimer: setPageTimer,
  isHidden: () => document.hidden,
  onVisibility(run) {
    document.addEventListener("visibilitychange", run);
    return () => document.removeEventListener("visibilitychange", run);
  },
});

/** The time, each second. All that counts seconds changes together, so that the page is painted once. */
export function useSecond(): number {
  const ticks = useSyncExternalStore(ticker.subscribe, () => ticker.ticks);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each tick means that time has passed
  return useMemo(() => Date.now(), [ticks]);
}

export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const tick = () => {
      if (!document.hidden) setNow(Date.now());
    };
    const timer = setInterval(tick, everyMs);
    document.addEventListener("visibilitychange", tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", tick);
    };
  }, [everyMs]);
  return now;
}

export type DurationParts =
  | { readonly unit: "seconds"; readonly s: string }
  | { readonly unit: "minutes"; readonly m: string; readonly s: string }
  | { readonly unit: "hours"; readonly h: string; readonly m: string }
  | { readonly unit: "days"; readonly d: string; readonly h: string };

const SECOND_MS = 1_000;

/** A lower bound is rounded down, an upper bound up, so that both stay true. A negative duration is zero. */
export function splitDuration(ms: number, round: "down" | "up" = "down"): DurationParts {
  const step = ms < HOUR_MS ? SECOND_MS : ms < DAY_MS ? MINUTE_MS : HOUR_MS;
  const steps = Math.max(0, ms) / step;
  const rounded = (round === "up" ? Math.ceil(steps) : Math.floor(steps)) * step;
  const count = (unit: number, within = Number.POSITIVE_INFINITY) => Math.floor((rounded % within) / unit);
  // The second number keeps its width, so that the text does not jump every second.
  const pad = (value: number) => String(value).padStart(2, "0");
  if (rounded < MINUTE_MS) return { unit: "seconds", s: String(count(SECOND_MS)) };
  if (rounded < HOUR_MS) return { unit: "minutes", m: String(count(MINUTE_MS)), s: pad(count(SECOND_MS, MINUTE_MS)) };
  if (rounded < DAY_MS) return { unit: "hours", h: String(count(HOUR_MS)), m: pad(count(MINUTE_MS, HOUR_MS)) };
  return { unit: "days", d: String(count(DAY_MS)), h: String(count(HOUR_MS, DAY_MS)) };
}
