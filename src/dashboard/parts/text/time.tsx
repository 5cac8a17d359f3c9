// Shows times in the user's time zone: a moment and how long ago it was, a day, and how long somebody has waited.
import { Text, Title } from "@mantine/core";
import { createContext, type ReactNode, useCallback, useContext, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { useLiveStream } from "../../state/ledger/use-live-stream.tsx";
import { getFormats, splitDuration, useFormat, useNow, useSecond } from "../../state/time/use-format.ts";

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

/** `at` is in epoch milliseconds. */
export function Ago({ at }: { readonly at: number }) {
  const format = useFormat();
  const relative = useRelativeTime();
  const now = useSharedNow();
  return (
    <time dateTime={new Date(at).toISOString()} title={format.dateTime(at)} className="moment numbers">
      {relative(at, now)}
    </time>
  );
}

/** `at` is any time of the day in epoch milliseconds. */
export function DayTitle(props: { readonly at: number | undefined; readonly order?: 2 | 4 }) {
  const { at, order = 2 } = props;
  return (
    <Title order={order} size="h5" className="day-title">
      {useDayName(at)}
    </Title>
  );
}

function useDayName(at: number | undefined): string {
  const now = useSharedNow();
  const { t, i18n } = useTranslation("logs");
  if (at === undefined) return t("unknownDay");
  const name = getFormats(i18n.language).day.format(at);
  const dayOf = (ms: number) => new Date(ms).toDateString();
  if (dayOf(at) === dayOf(now)) return t("today", { day: name });
  const yesterday = new Date(now);
  yesterday.setDate(yesterday.getDate() - 1);
  if (dayOf(at) === yesterday.toDateString()) return t("yesterday", { day: name });
  // In Russian the name of a weekday has a small letter.
  return name.charAt(0).toLocaleUpperCase(i18n.language) + name.slice(1);
}

/** Writes a duration: "12 s", "4 min 05 s", "1 h 30 min". */
export function useExactDuration(): (ms: number, round?: "down" | "up") => string {
  const { t } = useTranslation("calls");
  return useCallback(
    (ms, round) => {
      const { unit, ...parts } = splitDuration(ms, round);
      return t(`duration.${unit}`, parts);
    },
    [t],
  );
}

/** `since` is in epoch milliseconds; undefined when the game does not say it. */
export function WaitingTime({ since }: { readonly since: number | undefined }) {
  const { t } = useTranslation("calls");
  const format = useFormat();
  const write = useExactDuration();
  const stream = useLiveStream();
  const second = useSecond();
  if (since === undefined) return t("moderator.waitsUnknown");
  // The clock of this machine may be wrong; the stream knows the clock of Gatehouse.
  const now = stream?.serverNow ?? second;
  return (
    <time
      dateTime={new Date(since).toISOString()}
      title={t("moderator.since", { time: format.dateTime(since) })}
      className="numbers"
    >
      {t("moderator.waits", { duration: write(now - since) })}
    </time>
  );
}
