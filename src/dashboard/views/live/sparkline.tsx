// The players of the last 24 hours as one line, with a hole where nothing is known.
import { Text } from "@mantine/core";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { Spark } from "../../parts/spark.tsx";
import { useHistory, useMayAsk } from "../../state/history/use-history.ts";
import { useViewHref } from "../../state/route.ts";
import { useFormat } from "../../state/time/use-format.ts";

const DAY = { name: "day" } as const;
/** Each is of five minutes. */
const POINTS_MIN = 12;

/** Nothing for who may not ask, without an archive, and in the first hour, of which a line would be a dot. */
export function DaySparkline() {
  const { t } = useTranslation("live");
  const format = useFormat();
  const hrefOf = useViewHref();
  const mayAsk = useMayAsk("players");
  const { value } = useHistory("players", DAY, { isEnabled: mayAsk });
  const points = value?.points;
  const averages = useMemo(() => points?.map(({ avg }) => avg) ?? [], [points]);
  if (!mayAsk || averages.filter((avg) => avg !== null).length < POINTS_MIN) return null;
  const max = points?.reduce((most, point) => Math.max(most, point.max ?? 0), 0) ?? 0;
  return (
    <a className="live-tile live-day" href={hrefOf("plots")}>
      <Text span size="xs" c="dimmed" className="live-tile-name">
        {t("strip.day", { max: format.number(max) })}
      </Text>
      <Spark values={averages} label={t("strip.dayLabel")} />
    </a>
  );
}
