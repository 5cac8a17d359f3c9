// The readings since the page was opened, as lines and as a table for screen readers.
import { Stack, Table, Text } from "@mantine/core";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { HOUR_MS } from "../../../core/durations.ts";
import type { Section } from "../../../core/sections.ts";
import { EmptyState, ServerStateGate } from "../../parts/states.tsx";
import { TableFrame } from "../../parts/table/table-toolbar.tsx";
import type { HistoryPoint } from "../../state/server/server-history.ts";
import { useServerHistory, useServerState } from "../../state/server/use-server-state.tsx";
import { findRegion, useFormat } from "../../state/time/use-format.ts";
import { buildLines, listMinutes, PLOT_COLOURS } from "./history-lines.ts";
import { LazyPlot, NumbersToggle } from "./lazy-plot.tsx";
import type { PlotSeries, PlotUse } from "./line-plot.tsx";

const WANTED: readonly Section[] = ["Queue", "JoinLogs"];
/** Older readings are shown only when nothing else remembers them. */
const SHOWN_MS = HOUR_MS;

/** With `isRecorded` the readings of the last hour, otherwise all that the page has seen. */
export function LivePlots(props: {
  readonly isRecorded: boolean;
  readonly use?: PlotUse;
  /** Between the plots and what follows, also when there is no plot to show. */
  readonly below?: ReactNode;
}) {
  const { isRecorded } = props;
  const { t } = useTranslation("history");
  const view = useServerState(WANTED);
  const all = useServerHistory();
  const points = useMemo(() => (isRecorded ? listRecent(all) : all), [all, isRecorded]);
  const isShown = view.state !== undefined && view.isComplete && points.length > 1;
  return (
    <>
      <ServerStateGate view={view}>
        {() =>
          isShown ? (
            <Plots points={points} missing={view.missing} use={props.use} below={props.below} />
          ) : (
            <EmptyState title={t("live.waiting")}>{t("live.waitingText")}</EmptyState>
          )
        }
      </ServerStateGate>
      {!isShown && props.below}
    </>
  );
}

function listRecent(points: readonly HistoryPoint[]): readonly HistoryPoint[] {
  const from = (points.at(-1)?.at ?? 0) - SHOWN_MS;
  return points.filter(({ at }) => at > from);
}

function Plots(props: {
  readonly points: readonly HistoryPoint[];
  readonly missing: readonly Section[];
  readonly use: PlotUse | undefined;
  readonly below: ReactNode;
}) {
  const { points, missing, use } = props;
  const { t } = useTranslation("history");
  const format = useFormat();
  const lines = useMemo(() => buildLines(points), [points]);
  const hasQueue = !missing.includes("Queue");
  const presence = useMemo<PlotSeries[]>(
    () => [
      { name: t("live.players"), line: lines.players, colour: PLOT_COLOURS.players, isFilled: true },
      ...(hasQueue ? [{ name: t("live.queue"), line: lines.queue, colour: PLOT_COLOURS.queue, isDashed: true }] : []),
    ],
    [lines, hasQueue, t],
  );
  const moves = useMemo<PlotSeries[]>(
    () => [
      { name: t("live.joins"), line: lines.joins, colour: PLOT_COLOURS.joins },
      { name: t("live.leaves"), line: lines.leaves, colour: PLOT_COLOURS.leaves, isDashed: true },
    ],
    [lines, t],
  );
  return (
    <Stack gap="md">
      <LazyPlot title={t("live.presence")} times={lines.times} series={presence} onUse={use} />
      {!missing.includes("JoinLogs") && (
        <LazyPlot title={t("live.moves")} times={lines.times} series={moves} onUse={use} />
      )}
      {props.below}
      <Text size="sm" c="dimmed" className="numbers">
        {t("live.span", { time: format.time(points[0]?.at ?? 0), readings: format.number(points.length) })}
      </Text>
      <NumbersToggle label={t("live.table")}>{() => <NumbersTable points={points} />}</NumbersToggle>
    </Stack>
  );
}

function NumbersTable({ points }: { readonly points: readonly HistoryPoint[] }) {
  const { t, i18n } = useTranslation("history");
  const format = useFormat();
  const minute = useMemo(
    () => new Intl.DateTimeFormat(findRegion(i18n.language), { timeStyle: "short" }),
    [i18n.language],
  );
  const rows = useMemo(() => listMinutes(points), [points]);
  const write = (value: number | undefined) => (value === undefined ? t("live.noValue") : format.number(value));
  return (
    <TableFrame label={t("live.table")}>
      <Table className="numbers" captionSide="top" striped>
        <Table.Caption>{t("live.tableCaption")}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{t("live.time")}</Table.Th>
            {(["players", "queue", "joinsCount", "leavesCount"] as const).map((name) => (
              <Table.Th key={name} scope="col" ta="end">
                {t(`live.${name}`)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ at, players, queue, joins, leaves }) => (
            <Table.Tr key={at}>
              <Table.Th scope="row" fw={400}>
                {minute.format(at)}
              </Table.Th>
              <Table.Td ta="end">{write(players)}</Table.Td>
              <Table.Td ta="end">{write(queue)}</Table.Td>
              <Table.Td ta="end">{write(joins)}</Table.Td>
              <Table.Td ta="end">{write(leaves)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </TableFrame>
  );
}
