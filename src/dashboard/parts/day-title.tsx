// The heading of a day in a time line: "Today", "Yesterday" or the date.
import { Title } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { getFormats } from "../state/use-format.ts";
import { useSharedNow } from "./moment.tsx";

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
