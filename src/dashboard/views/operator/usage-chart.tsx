// The usage of a key: bars by hour, and the same numbers as a table by hour or day.
import { Box, Group, SegmentedControl, Stack, Table, Text } from "@mantine/core";
import { type PointerEvent, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { HOUR_MS } from "../../../core/durations.ts";
import type { UsageResource } from "../../../core/wire/key.ts";
import { TableFrame } from "../../parts/table-frame.tsx";
import { findRegion } from "../../state/region.ts";
import { useFormat } from "../../state/use-format.ts";

const RANGES = { day: 24, week: 168, month: 720 } as const;
type Range = keyof typeof RANGES;
const HEIGHT = 120;

type Bar = { readonly at: number; readonly requests: number; readonly refused: number };

/** `now` is when the usage was read. */
export function UsageChart({ usage, now }: { readonly usage: UsageResource; readonly now: number }) {
  const { t, i18n } = useTranslation("operatorKeys");
  const format = useFormat();
  const [range, setRange] = useState<Range>("month");
  const [hovered, setHovered] = useState<number>();
  const bars = useMemo(() => listBars(usage, now, RANGES[range]), [usage, now, range]);
  const max = Math.max(...bars.map(({ requests }) => requests));
  const requests = sum(bars, "requests");
  const refused = sum(bars, "refused");
  const days = useMemo(
    () => new Intl.DateTimeFormat(findRegion(i18n.language), { day: "numeric", month: "short" }),
    [i18n.language],
  );
  const bar = hovered === undefined ? undefined : bars[hovered];

  function hover(event: PointerEvent<SVGSVGElement>) {
    const box = event.currentTarget.getBoundingClientRect();
    const index = Math.floor(((event.clientX - box.left) / box.width) * bars.length);
    setHovered(Math.min(Math.max(index, 0), bars.length - 1));
  }

  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <Text fw={600}>{t("usage.chart")}</Text>
        <SegmentedControl
          size="xs"
          aria-label={t("usage.range")}
          value={range}
          onChange={(value) => setRange(value as Range)}
          data={(Object.keys(RANGES) as Range[]).map((value) => ({ value, label: t(`usage.${value}`) }))}
        />
      </Group>
      <Box pos="relative">
        <svg
          className="usage-chart"
          viewBox={`0 0 ${bars.length} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${t("usage.chart")}. ${t("usage.description", {
            requests: format.number(requests),
            refused: format.number(refused),
            max: format.number(max),
          })}`}
          onPointerMove={hover}
          onPointerLeave={() => setHovered(undefined)}
        >
          {hovered !== undefined && (
            <rect x={hovered} y={0} width={1} height={HEIGHT} className="usage-hovered" />
          )}
          <path className="usage-answered" d={drawBars(bars, max, ({ requests: n }) => n)} />
          <path className="usage-refused" d={drawBars(bars, max, ({ refused: n }) => n)} />
        </svg>
        {max > 0 && (
          <Text size="xs" c="dimmed" className="usage-max numbers" aria-hidden>
            {format.number(max)}
          </Text>
        )}
      </Box>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="xs" c="dimmed" className="numbers">
          {days.format(bars[0]?.at)}
        </Text>
        <Text size="xs" ta="center" className="numbers">
          {bar
            ? t("usage.hour", {
                time: format.dateTime(bar.at),
                requests: format.number(bar.requests),
                refused: format.number(bar.refused),
              })
            : requests === 0
              ? t("usage.none")
              : t("usage.description", {
                  requests: format.number(requests),
                  refused: format.number(refused),
                  max: format.number(max),
                })}
        </Text>
        <Text size="xs" c="dimmed" className="numbers">
          {days.format(now)}
        </Text>
      </Group>
      {requests > 0 && <UsageTable bars={bars} isByHour={range === "day"} />}
    </Stack>
  );
}

function UsageTable({ bars, isByHour }: { readonly bars: readonly Bar[]; readonly isByHour: boolean }) {
  const { t, i18n } = useTranslation("operatorKeys");
  const format = useFormat();
  const rows = useMemo(
    () => (isByHour ? bars : sumDays(bars)).filter((row) => row.requests > 0),
    [bars, isByHour],
  );
  const day = new Intl.DateTimeFormat(findRegion(i18n.language), { dateStyle: "medium" });
  return (
    <details>
      <summary>{t("usage.table")}</summary>
      <TableFrame label={t("usage.chart")}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t(isByHour ? "usage.tableHour" : "usage.tableDay")}</Table.Th>
              <Table.Th ta="right">{t("usage.tableRequests")}</Table.Th>
              <Table.Th ta="right">{t("usage.tableRefused")}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody className="numbers">
            {rows.toReversed().map((row) => (
              <Table.Tr key={row.at}>
                <Table.Td>{isByHour ? format.dateTime(row.at) : day.format(row.at)}</Table.Td>
                <Table.Td ta="right">{format.number(row.requests)}</Table.Td>
                <Table.Td ta="right">{format.number(row.refused)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </TableFrame>
    </details>
  );
}

/** Every hour of the range, oldest first, including hours without requests. */
function listBars(usage: UsageResource, now: number, count: number): Bar[] {
  const byHour = new Map(usage.hours.map((hour) => [hour.hour, hour]));
  const last = now - (now % HOUR_MS);
  return Array.from({ length: count }, (_, index) => {
    const at = last - (count - 1 - index) * HOUR_MS;
    const hour = byHour.get(at);
    const refused = Object.values(hour?.refusals ?? {}).reduce((total, n) => total + n, 0);
    return { at, requests: hour?.requests ?? 0, refused };
  });
}

/** Sums by days in the user's time zone. */
function sumDays(bars: readonly Bar[]): Bar[] {
  const days = new Map<number, Bar>();
  for (const { at, requests, refused } of bars) {
    const day = new Date(at).setHours(0, 0, 0, 0);
    const old = days.get(day);
    days.set(day, {
      at: day,
      requests: requests + (old?.requests ?? 0),
      refused: refused + (old?.refused ?? 0),
    });
  }
  return [...days.values()];
}

/** One path for all bars, because hundreds of elements would be slow. */
function drawBars(bars: readonly Bar[], max: number, measure: (bar: Bar) => number): string {
  const gap = bars.length > 200 ? 0 : 0.12;
  return bars
    .map((bar, index) => {
      const value = measure(bar);
      if (value === 0) return "";
      // Even the smallest bar must be visible.
      const height = Math.max((value / max) * HEIGHT, 2);
      return `M${index + gap} ${HEIGHT}v${-height}h${1 - 2 * gap}v${height}z`;
    })
    .join("");
}

function sum(bars: readonly Bar[], field: "requests" | "refused"): number {
  return bars.reduce((total, bar) => total + bar[field], 0);
}
