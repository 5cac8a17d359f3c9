// The players of the last 24 hours as one line, with a hole where nothing is known.
import { Text } from "@mantine/core";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { PlayersPoint } from "../../../core/wire/history.ts";
import { useHistory, useMayAsk } from "../../state/history/use-history.ts";
import { useViewHref } from "../../state/route.ts";
import { useFormat } from "../../state/time/use-format.ts";

const DAY = { name: "day" } as const;
const WIDTH = 240;
const HEIGHT = 40;

/** Nothing for who may not ask, and without an archive. */
export function DaySparkline() {
  const { t } = useTranslation("live");
  const format = useFormat();
  const hrefOf = useViewHref();
  const mayAsk = useMayAsk("players");
  const { value } = useHistory("players", DAY, { isEnabled: mayAsk });
  const points = value?.points;
  const max = useMemo(() => points?.reduce((most, point) => Math.max(most, point.max ?? 0), 0) ?? 0, [points]);
  const path = useMemo(() => drawLine(points ?? [], max), [points, max]);
  if (!mayAsk || !points || path === "") return null;
  return (
    <a className="live-tile live-day" href={hrefOf("plots")}>
      <Text span size="xs" c="dimmed" className="live-tile-name">
        {t("strip.day", { max: format.number(max) })}
      </Text>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={t("strip.dayLabel")}>
        <path d={path} />
      </svg>
    </a>
  );
}

/** Each known point is one step; an unknown one lifts the pen. */
export function drawLine(points: readonly Pick<PlayersPoint, "avg">[], max: number): string {
  const step = WIDTH / Math.max(points.length - 1, 1);
  let isDown = false;
  let path = "";
  for (const [index, { avg }] of points.entries()) {
    if (avg !== null) {
      const y = HEIGHT - 1 - (avg / Math.max(max, 1)) * (HEIGHT - 2);
      path += `${isDown ? "L" : "M"}${(index * step).toFixed(1)} ${y.toFixed(1)}`;
    }
    isDown = avg !== null;
  }
  return path;
}
