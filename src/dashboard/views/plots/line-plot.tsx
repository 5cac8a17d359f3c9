// A plot of lines over time that resizes with its frame. uPlot draws new data into the existing canvas; React renders the
// legend below it.

import { Group, Paper, Text, UnstyledButton, useComputedColorScheme } from "@mantine/core";
import { type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import uPlot from "uplot";
import { Heading, Small } from "../../parts/text/plain-text.tsx";
import { findRegion, useFormat } from "../../state/time/use-format.ts";
import type { Scheme } from "../../team-colours.ts";
import { describeLine, type Line, listLoneIndexes } from "./history-lines.ts";

export type PlotSeries = {
  readonly name: string;
  readonly line: Line;
  /** What the name says, over the whole plot. Without it the last value stands for the line. */
  readonly whole?: number | null;
  readonly colour: Readonly<Record<Scheme, string>>;
  readonly isFilled?: boolean;
  /** Dashes tell lines apart without colours. */
  readonly isDashed?: boolean;
};

/** The area between two lines. */
export type PlotBand = {
  readonly name: string;
  readonly low: Line;
  readonly high: Line;
  readonly colour: Readonly<Record<Scheme, string>>;
};

export type LinePlotProps = {
  readonly title: string;
  readonly times: readonly number[];
  readonly series: readonly PlotSeries[];
  /** Below the lines. */
  readonly band?: PlotBand;
  /** Whether the times are of more than one day, so that dates are shown too. */
  readonly hasDates?: boolean;
  /** What the values are about while the cursor is elsewhere; "now" by default. */
  readonly wholeName?: string;
  /** For a pointer; views offer the same to a keyboard. */
  readonly onUse?: PlotUse | undefined;
};

/** What a pointer does on a plot. Times are in epoch milliseconds. */
export type PlotUse = {
  /** A click at a moment. */
  readonly pick: (at: number) => void;
  /** A drag over a period. */
  readonly zoom: (from: number, to: number) => void;
  /** A double click. */
  readonly back: () => void;
};

const HEIGHT = 240;
const DAY_SECONDS = 86_400;
const AXIS_COLOURS = {
  light: { text: "#495057", line: "#e9ecef" },
  dark: { text: "#b3b8bd", line: "#34373c" },
} as const;
const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
/** The axis of a line that is always 0 still needs a height. */
const AXIS_TOP_MIN = 4;
const AXIS_SPACE_PX = 90;
/** A shorter drag is a click of an unsteady hand. */
const DRAG_MIN_PX = 8;

/** The edges of a band are no lines of their own. */
const BAND_EDGE: uPlot.Series = { stroke: "transparent", width: 0, points: { show: false } };

export function LinePlot(props: LinePlotProps) {
  const { title, times, series, band, hasDates = false } = props;
  const { t, i18n } = useTranslation("history");
  const format = useFormat();
  const scheme = useComputedColorScheme("light");
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const [cursor, setCursor] = useState<number | null>(null);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const data = useMemo(
    () => [times, ...series.map(({ line }) => line), ...(band ? [band.high, band.low] : [])] as uPlot.AlignedData,
    [times, series, band],
  );
  const latest = useRef(data);
  latest.current = data;
  const styleKey = JSON.stringify(
    series.map(({ name, colour, isFilled, isDashed }) => [name, colour[scheme], isFilled, isDashed]),
  );
  const bandColour = band?.colour[scheme];
  const use = useRef(props.onUse);
  use.current = props.onUse;
  const isUsable = props.onUse !== undefined;

  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const lines = JSON.parse(styleKey) as [string, string, boolean?, boolean?][];
    const made = new uPlot(
      buildOptions(
        lines,
        bandColour,
        scheme,
        i18n.language,
        element.clientWidth,
        setCursor,
        isUsable ? use : undefined,
      ),
      latest.current,
      element,
    );
    if (isUsable) {
      made.over.style.cursor = "crosshair";
      made.over.addEventListener("click", ({ offsetX }) => use.current?.pick(made.posToVal(offsetX, "x") * 1000));
      made.over.addEventListener("dblclick", () => use.current?.back());
    }
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [styleKey, bandColour, scheme, i18n.language, isUsable]);
  useEffect(() => plot.current?.setData(data), [data]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new plot shows all of its lines
  useEffect(() => {
    const names = [...series.map(({ name }) => name), ...(band ? [band.name, band.name] : [])];
    for (const [index, name] of names.entries()) {
      const show = !hidden.has(name);
      if (plot.current && plot.current.series[index + 1]?.show !== show) plot.current.setSeries(index + 1, { show });
    }
  }, [hidden, styleKey, bandColour, scheme, i18n.language, isUsable]);

  const write = (value: number | null | undefined) =>
    value === null || value === undefined ? t("live.noValue") : format.number(Math.round(value * 10) / 10);
  const descriptions = series.flatMap(({ name, line, whole }) => {
    const range = describeLine(line);
    if (!range) return [];
    const [low, high] = [write(range.low), write(range.high)];
    return whole === undefined
      ? t("live.described", { name, now: write(range.now), low, high })
      : t("plots.described", { name, whole: write(whole), low, high });
  });
  const bandText = band && describeBand(band, cursor, write);
  const at = cursor === null ? undefined : times[cursor];
  return (
    <Paper component="section" withBorder p="md" aria-label={title}>
      <Group justify="space-between" mb="xs" wrap="nowrap" align="baseline">
        <Heading>{title}</Heading>
        <Text size="sm" c="dimmed" className="numbers" style={{ flex: "none" }}>
          {at === undefined
            ? (props.wholeName ?? t("live.now"))
            : hasDates
              ? format.dateTime(at * 1000)
              : t("live.at", { time: format.time(at * 1000) })}
        </Text>
      </Group>
      <div ref={frame} role="img" aria-label={`${title}. ${descriptions.join(". ")}`} style={{ minHeight: HEIGHT }} />
      <Group gap="0 var(--mantine-spacing-lg)" mt="xs">
        {series.map(({ name, line, whole, colour, isDashed }) => {
          const ofPlot = whole === undefined ? describeLine(line)?.now : whole;
          const value = cursor === null ? ofPlot : line[cursor];
          return (
            <LegendItem
              key={name}
              name={name}
              value={write(value)}
              colour={colour[scheme]}
              look={isDashed ? "dashed" : "line"}
              isHidden={hidden.has(name)}
              onClick={() => setHidden(toggle(hidden, name))}
            />
          );
        })}
        {band && bandText !== undefined && (
          <LegendItem
            name={band.name}
            value={bandText}
            colour={band.colour[scheme]}
            look="band"
            isHidden={hidden.has(band.name)}
            onClick={() => setHidden(toggle(hidden, band.name))}
          />
        )}
      </Group>
    </Paper>
  );
}

function LegendItem(props: {
  readonly name: string;
  readonly value: string;
  readonly colour: string;
  readonly look: "line" | "dashed" | "band";
  readonly isHidden: boolean;
  readonly onClick: () => void;
}) {
  const { t } = useTranslation("history");
  const { name, look, isHidden } = props;
  return (
    <UnstyledButton
      aria-pressed={!isHidden}
      title={t(isHidden ? "live.show" : "live.hide", { name })}
      onClick={props.onClick}
      opacity={isHidden ? 0.65 : 1}
      py={4}
      className="touch-link"
    >
      <Group gap={8} wrap="nowrap">
        <svg width="22" height="8" aria-hidden="true">
          <line
            x1="0"
            x2="22"
            y1="4"
            y2="4"
            stroke={props.colour}
            strokeOpacity={look === "band" ? 0.35 : 1}
            strokeWidth={look === "band" ? 8 : 3}
            strokeDasharray={look === "dashed" ? "5 3" : undefined}
          />
        </svg>
        <Small td={isHidden ? "line-through" : undefined}>{name}</Small>
        <Text span size="sm" fw={650} className="numbers" miw="2.5ch">
          {props.value}
        </Text>
      </Group>
    </UnstyledButton>
  );
}

/** The values of a band under the cursor, or of the whole plot. */
function describeBand(
  { low, high }: PlotBand,
  cursor: number | null,
  write: (value: number | null | undefined) => string,
): string {
  if (cursor !== null) return low[cursor] === null ? write(null) : `${write(low[cursor])}–${write(high[cursor])}`;
  return `${write(describeLine(low)?.low)}–${write(describeLine(high)?.high)}`;
}

function buildOptions(
  lines: readonly [string, string, boolean?, boolean?][],
  bandColour: string | undefined,
  scheme: Scheme,
  language: string,
  width: number,
  onCursor: (index: number | null) => void,
  use: RefObject<PlotUse | undefined> | undefined,
): uPlot.Options {
  const colours = AXIS_COLOURS[scheme];
  const region = findRegion(language);
  const minutes = new Intl.DateTimeFormat(region, { timeStyle: "short" });
  const seconds = new Intl.DateTimeFormat(region, { timeStyle: "medium" });
  const days = new Intl.DateTimeFormat(region, { day: "numeric", month: "short" });
  const writeTick = (at: number, step: number) => {
    if (step < 60) return seconds.format(at * 1000);
    // Midnight tells the day instead, because the hours around it tell that it is midnight.
    const isDay = step >= DAY_SECONDS || new Date(at * 1000).getHours() + new Date(at * 1000).getMinutes() === 0;
    return (isDay ? days : minutes).format(at * 1000);
  };
  const number = new Intl.NumberFormat(region);
  const axis: uPlot.Axis = {
    stroke: colours.text,
    font: FONT,
    grid: { stroke: colours.line, width: 1 },
    ticks: { stroke: colours.line, width: 1 },
  };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: use !== undefined, y: false, setScale: false, dist: DRAG_MIN_PX },
      points: { size: 7 },
    },
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(AXIS_TOP_MIN, Math.ceil((high ?? 0) * 1.1))] } },
    axes: [
      {
        ...axis,
        size: 34,
        space: AXIS_SPACE_PX,
        values: (_plot, splits, _axis, _space, step) => splits.map((at) => writeTick(at, step)),
      },
      {
        ...axis,
        size: 44,
        // Whole numbers only, because there is no half player.
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
        values: (_plot, splits) => splits.map((value) => number.format(value)),
      },
    ],
    series: [
      {},
      ...lines.map(
        ([label, stroke, isFilled, isDashed]): uPlot.Series => ({
          label,
          stroke,
          width: 2,
          points: { show: () => false, filter: filterLone, size: 5, fill: stroke },
          ...(isFilled && { fill: `${stroke}22` }),
          ...(isDashed && { dash: [6, 4] }),
        }),
      ),
      ...(bandColour === undefined ? [] : [BAND_EDGE, BAND_EDGE]),
    ],
    ...(bandColour !== undefined && {
      bands: [{ series: [lines.length + 1, lines.length + 2], fill: `${bandColour}40` }],
    }),
    hooks: {
      setCursor: [(plot) => onCursor(plot.cursor.idx ?? null)],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width < DRAG_MIN_PX) return;
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          use?.current?.zoom(plot.posToVal(left, "x") * 1000, plot.posToVal(left + width, "x") * 1000);
        },
      ],
    },
  };
}

/** Draws a dot only where no line is. */
function filterLone(plot: uPlot, index: number): number[] {
  return listLoneIndexes(plot.data[index] ?? []);
}

function toggle(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  return names.has(name) ? names.difference(new Set([name])) : names.union(new Set([name]));
}
