// How full the server was in a period: a plot, the busy hours of the week, and the numbers as a table.
import { Alert, Group, Stack, Text } from "@mantine/core";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { DAY_MS } from "../../../core/durations.ts";
import type { Section } from "../../../core/sections.ts";
import type { PlayersHistory, PlayersPoint } from "../../../core/wire/history.ts";
import { Icon } from "../../parts/icon.tsx";
import { EmptyState, ForbiddenNotice, LoadingState } from "../../parts/states.tsx";
import { SortedTable } from "../../parts/table/sorted-table.tsx";
import { type ShownColumn, valueColumn } from "../../parts/table/table-columns.ts";
import type { Period, PeriodChoice } from "../../state/history/period.ts";
import { useHistory, useHistoryProblem } from "../../state/history/use-history.ts";
import { useServerSession } from "../../state/session/session.ts";
import { findRegion, useFormat } from "../../state/time/use-format.ts";
import { ExportButtons } from "../history/export-buttons.tsx";
import { HistoryProblemNotice } from "../history/history-table.tsx";
import { HeatMap } from "./heat-map.tsx";
import { buildHistoryLines, describeLine, type Line, PLOT_COLOURS, summarise } from "./history-lines.ts";
import { LazyPlot, NumbersToggle } from "./lazy-plot.tsx";
import type { PlotBand, PlotSeries, PlotUse } from "./line-plot.tsx";

/** Without Players there is no line of the staff, without Queue none of the queue. */
const WANTED: readonly Section[] = ["Players", "Queue"];
/** The hours of a week need at least most of one. */
const HEAT_PERIOD_MIN_MS = 2 * DAY_MS;
/** With fewer there is no line to see. */
const KNOWN_POINTS_MIN = 3;
const SORTING = { column: "at", isDescending: true };

type Props = {
  readonly choice: PeriodChoice;
  readonly use: PlotUse;
  /** Between the plot and what follows, also when there is no plot to show. */
  readonly below: ReactNode;
};

export function HistoryPlots({ choice, use, below }: Props) {
  const { t } = useTranslation("history");
  const { value, period, error, isOld, refresh } = useHistory("players", choice);
  const problem = useHistoryProblem("players", error);
  const { sections } = useServerSession();
  const missing = WANTED.filter((section) => !sections.includes(section));
  if (!value || !period || problem?.kind === "off") {
    return (
      <>
        {problem ? <HistoryProblemNotice problem={problem} onRetry={refresh} /> : <LoadingState />}
        {below}
      </>
    );
  }
  return (
    <Stack gap="md" aria-busy={isOld} style={{ opacity: isOld ? 0.6 : 1 }}>
      <ForbiddenNotice sections={missing} />
      {problem && <Alert color="orange" title={t("problem.stale")} icon={<Icon name="warning" />} />}
      <Charts history={value} period={period} choice={choice} use={use} below={below} />
    </Stack>
  );
}

function Charts(props: Props & { readonly history: PlayersHistory; readonly period: Period }) {
  const { t } = useTranslation("history");
  const { history, period, choice } = props;
  const { points } = history;
  const lines = useMemo(() => buildHistoryLines(points), [points]);
  const summary = useMemo(() => summarise(points), [points]);
  const series = useMemo((): readonly PlotSeries[] => {
    const { queue, staff } = lines;
    return [
      { name: t("plots.average"), line: lines.average, whole: summary?.average ?? null, colour: PLOT_COLOURS.players },
      ...(queue ? [highestOf(t("plots.queue"), queue, PLOT_COLOURS.queue)] : []),
      ...(staff ? [highestOf(t("plots.staff"), staff, PLOT_COLOURS.staff)] : []),
    ];
  }, [lines, summary, t]);
  const band = useMemo(
    (): PlotBand => ({ name: t("plots.band"), low: lines.low, high: lines.high, colour: PLOT_COLOURS.players }),
    [lines, t],
  );
  const write = useTimeText(history);
  if (!summary || (summary.isBegun && summary.knownPoints < KNOWN_POINTS_MIN)) {
    return (
      <>
        <EmptyState title={t(summary ? "plots.young" : "plots.empty")}>
          {summary ? t("plots.youngText", { time: write(summary.firstAt) }) : t("plots.emptyText")}
        </EmptyState>
        {props.below}
      </>
    );
  }
  return (
    <>
      <LazyPlot
        title={t("plots.players")}
        times={lines.times}
        series={series}
        band={band}
        wholeName={t("plots.whole")}
        hasDates
        onUse={props.use}
      />
      {props.below}
      <Summary history={history} {...summary} />
      {period.to - period.from >= HEAT_PERIOD_MIN_MS && <HeatMap choice={choice} />}
      <Group justify="space-between">
        <ExportButtons spec={{ question: "players", period }} />
      </Group>
      <NumbersToggle label={t("plots.table")}>{() => <NumbersTable history={history} />}</NumbersToggle>
    </>
  );
}

/** A line of highest values, which stands for the highest of them. */
function highestOf(name: string, line: Line, colour: PlotSeries["colour"]): PlotSeries {
  return { name, line, whole: describeLine(line)?.high ?? null, colour, isDashed: true };
}

function Summary(props: { readonly history: PlayersHistory } & NonNullable<ReturnType<typeof summarise>>) {
  const { t, i18n } = useTranslation("history");
  const write = useTimeText(props.history);
  const percent = useMemo(
    () => new Intl.NumberFormat(findRegion(i18n.language), { style: "percent" }),
    [i18n.language],
  );
  const { known, max, maxAt, isBegun, firstAt } = props;
  return (
    <Text size="sm" c="dimmed" className="numbers">
      {max > 0 && `${t("plots.busiest", { max, time: write(maxAt) })} `}
      {t(`plots.step.${props.history.resolution}`)} {t("plots.known", { percent: percent.format(known) })}{" "}
      {known < 1 && t("plots.gaps")} {isBegun && t("plots.begun", { time: write(firstAt) })}
    </Text>
  );
}

/** Writes when a point begins; a point of a whole day is written as that day of UTC. */
function useTimeText({ resolution }: Pick<PlayersHistory, "resolution">): (at: number) => string {
  const { i18n } = useTranslation();
  return useMemo(() => {
    const region = findRegion(i18n.language);
    const format =
      resolution === "1d"
        ? new Intl.DateTimeFormat(region, { dateStyle: "medium", timeZone: "UTC" })
        : new Intl.DateTimeFormat(region, { dateStyle: "medium", timeStyle: "short" });
    return (at) => format.format(at);
  }, [i18n.language, resolution]);
}

function NumbersTable({ history }: { readonly history: PlayersHistory }) {
  const { t, i18n } = useTranslation("history");
  const format = useFormat();
  const writeTime = useTimeText(history);
  const columns = useMemo((): readonly ShownColumn<PlayersPoint>[] => {
    const percent = new Intl.NumberFormat(findRegion(i18n.language), { style: "percent" });
    const count = (
      id: "average" | "min" | "max" | "queue" | "staff",
      value: (point: PlayersPoint) => number | null | undefined,
    ): ShownColumn<PlayersPoint> =>
      valueColumn(id, t(`plots.column.${id}`), {
        value,
        show: (n) => format.number(Math.round(n * 10) / 10),
        isNumber: true,
        phone: "tap",
      });
    const { points } = history;
    return [
      valueColumn("at", t("plots.column.at"), { value: ({ at }) => at, show: writeTime, width: "12rem" }),
      { ...count("average", ({ avg }) => avg), phone: "side" },
      count("min", ({ min }) => min),
      count("max", ({ max }) => max),
      ...(points.some(({ queue_max }) => queue_max !== undefined)
        ? [count("queue", ({ queue_max }) => queue_max)]
        : []),
      ...(points.some(({ staff_max }) => staff_max !== undefined)
        ? [count("staff", ({ staff_max }) => staff_max)]
        : []),
      valueColumn("known", t("plots.column.known"), {
        value: ({ known }) => known,
        show: (known) => percent.format(known),
        isNumber: true,
        phone: "tap",
      }),
    ];
  }, [t, i18n.language, format, writeTime, history]);
  return (
    <SortedTable
      label={t("plots.table")}
      rows={history.points}
      columns={columns}
      sorting={SORTING}
      keyOf={({ at }) => String(at)}
    />
  );
}
