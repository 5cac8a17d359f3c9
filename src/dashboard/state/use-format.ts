// Formats times, numbers and durations in the user's language and time zone.
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { findRegion } from "./region.ts";

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
