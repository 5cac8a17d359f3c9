// Shows a time of the game in the user's time zone, and how long ago it was.
import { Text } from "@mantine/core";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { getFormats, useFormat } from "../state/use-format.ts";
import { useNow } from "../state/use-now.ts";

/** The largest time that a Date can hold. */
const DATE_MAX_MS = 8.64e15;
const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;
/** Often enough for "3 min. ago". */
const TICK_MS = 10_000;

const NowContext = createContext<number | undefined>(undefined);

/** Updates all moments of a view together, without rendering anything else again. */
export function NowProvider({ children }: { readonly children: ReactNode }) {
  return <NowContext value={useNow(TICK_MS)}>{children}</NowContext>;
}

export function useSharedNow(): number {
  const now = useContext(NowContext);
  if (now === undefined) throw new Error("there is no NowProvider around this component");
  return now;
}

/** Converts the game's epoch seconds to milliseconds; undefined when that is not a valid time. */
export function toMs(seconds: unknown): number | undefined {
  const ms = typeof seconds === "number" ? seconds * 1000 : Number.NaN;
  return Math.abs(ms) <= DATE_MAX_MS ? ms : undefined;
}

export function useRelativeTime(): (ms: number, now: number) => string {
  const { language } = useTranslation().i18n;
  return useMemo(() => {
    const format = getFormats(language).relative;
    return (ms, now) => {
      // The game's clock may be a few seconds ahead: a time in the future is shown as now.
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
  /** Leaves out the date, because a heading shows it. */
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
      {/* Plain elements: lists have hundreds of these, which are all rendered again as time goes by. */}
      <span className="moment-time">{isTimeOnly || isToday ? format.time(ms) : format.dateTime(ms)}</span>{" "}
      <span className="moment-ago">{relative(ms, now)}</span>
    </time>
  );
}
