// A moment of the game: in the reader's zone to the second, and how long ago that was.
import { Text } from "@mantine/core";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { findRegion } from "../state/region.ts";
import { useFormat } from "../state/use-format.ts";
import { useNow } from "../state/use-now.ts";

/** The last moment that a Date can be. */
const DATE_MAX_MS = 8.64e15;
const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;
/** Often enough for "3 min. ago". */
const TICK_MS = 10_000;

const Now = createContext<number | undefined>(undefined);

/** Around a view with moments: they grow older together, and nothing else is drawn again for it. */
export function NowProvider({ children }: { readonly children: ReactNode }) {
  return <Now value={useNow(TICK_MS)}>{children}</Now>;
}

export function useSharedNow(): number {
  const now = useContext(Now);
  if (now === undefined) throw new Error("there is no NowProvider around this component");
  return now;
}

/** Epoch milliseconds of the game's seconds; undefined when that is no moment. */
export function toMs(seconds: unknown): number | undefined {
  const ms = typeof seconds === "number" ? seconds * 1000 : Number.NaN;
  return Math.abs(ms) <= DATE_MAX_MS ? ms : undefined;
}

export function useRelativeTime(): (ms: number, now: number) => string {
  const { language } = useTranslation().i18n;
  return useMemo(() => {
    const format = new Intl.RelativeTimeFormat(findRegion(language), { numeric: "auto", style: "short" });
    return (ms, now) => {
      // The game's clock may be ahead of ours: nothing is said to be in the future for a few seconds.
      const seconds = Math.min(0, Math.round((ms - now) / 1000));
      if (seconds > -MINUTE) return format.format(seconds, "second");
      if (seconds > -HOUR) return format.format(Math.round(seconds / MINUTE), "minute");
      if (seconds > -2 * DAY) return format.format(Math.round(seconds / HOUR), "hour");
      return format.format(Math.round(seconds / DAY), "day");
    };
  }, [language]);
}

export function Moment(props: {
  readonly seconds: unknown;
  /** Leaves the date out, where it stands above. */
  readonly isTimeOnly?: boolean;
}) {
  const { t } = useTranslation("table");
  const format = useFormat();
  const relative = useRelativeTime();
  const now = useSharedNow();
  const { seconds, isTimeOnly = false } = props;
  const ms = toMs(seconds);
  if (ms === undefined) return <Text size="sm">{t("unknownTime")}</Text>;
  const isToday = new Date(ms).toDateString() === new Date(now).toDateString();
  return (
    <time dateTime={new Date(ms).toISOString()} title={format.dateTime(ms)} className="moment numbers">
      <Text component="span" size="sm">
        {isTimeOnly || isToday ? format.time(ms) : format.dateTime(ms)}
      </Text>{" "}
      <Text component="span" size="xs" c="dimmed">
        {relative(ms, now)}
      </Text>
    </time>
  );
}
