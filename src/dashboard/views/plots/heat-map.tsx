// The week as a heat map: a table of days and hours, so that a screen reader reads it as one. On a phone the hours are the rows.

import { Group, NativeSelect, Paper, Stack, Text, useComputedColorScheme } from "@mantine/core";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { EmptyState } from "../../parts/states.tsx";
import { TableFrame, usePhone } from "../../parts/table/table-toolbar.tsx";
import { Heading } from "../../parts/text/plain-text.tsx";
import type { Period, PeriodChoice } from "../../state/history/period.ts";
import { useHistory } from "../../state/history/use-history.ts";
import { findRegion, useFormat } from "../../state/time/use-format.ts";
import { findBusiest, findStep, HEAT_LOOKS, listDayNames, listZones } from "./heat-steps.ts";
import "../history/history.css";

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
type Table = readonly (readonly (number | null)[])[];

export function HeatMap({ choice }: { readonly choice: PeriodChoice }) {
  const { t } = useTranslation("history");
  const [zone, setZone] = useState(OWN_ZONE);
  const { value, period, error, isOld } = useHistory("peaks", choice, { tz: zone });
  const zones = useMemo(() => listZones(OWN_ZONE, Intl.supportedValuesOf("timeZone")), []);
  const isLoading = isOld || !(value || error);
  const table = value?.table;
  const busiest = table && findBusiest(table);
  return (
    <Paper component="section" withBorder p="md" aria-label={t("heat.title")} aria-busy={isLoading}>
      <Group justify="space-between" align="flex-end" mb="sm">
        <Heading>{t("heat.title")}</Heading>
        <NativeSelect
          size="xs"
          label={t("heat.zone")}
          value={zone}
          onChange={(event) => setZone(event.currentTarget.value)}
        >
          {zones.map((name) => (
            <option key={name} value={name}>
              {name === OWN_ZONE ? t("heat.own", { zone: name }) : name}
            </option>
          ))}
        </NativeSelect>
      </Group>
      {table && period && busiest && (
        <Stack gap="xs">
          <Busiest {...busiest} />
          <WeekTable table={table} max={busiest.value} period={period} />
          <HeatKey max={busiest.value} />
        </Stack>
      )}
      {table && !busiest && <EmptyState title={t("heat.empty")} />}
    </Paper>
  );
}

function Busiest(props: { readonly day: number; readonly hour: number; readonly value: number }) {
  const { t, i18n } = useTranslation("history");
  const write = useAverageText();
  const { day, hour, value } = props;
  return (
    <Text size="sm">
      {t("heat.busiest", {
        day: listDayNames(i18n.language, "long")[day],
        from: writeHour(hour),
        to: writeHour(hour + 1),
        n: write(value),
      })}
    </Text>
  );
}

function WeekTable(props: { readonly table: Table; readonly max: number; readonly period: Period }) {
  const { t, i18n } = useTranslation("history");
  const isPhone = usePhone();
  const { table, max, period } = props;
  const shortDays = listDayNames(i18n.language, "short");
  const longDays = listDayNames(i18n.language, "long");
  const date = useMemo(
    () => new Intl.DateTimeFormat(findRegion(i18n.language), { dateStyle: "medium" }),
    [i18n.language],
  );
  const caption = t("heat.caption", { from: date.format(period.from), to: date.format(period.to) });
  const days = shortDays.map((name, index) => ({ index, name, abbr: longDays[index] }));
  const hours = HOURS.map((index) => {
    const time = writeHour(index);
    return isPhone ? { index, name: time, abbr: undefined } : { index, name: String(index), abbr: time };
  });
  const [rows, columns] = isPhone ? [hours, days] : [days, hours];
  const cellOf = (row: number, column: number) => {
    const [day, hour] = isPhone ? [column, row] : [row, column];
    const title = `${longDays[day]}, ${writeHour(hour)}–${writeHour(hour + 1)}`;
    return <HeatCell key={column} value={table[day]?.[hour] ?? null} max={max} title={title} />;
  };
  return (
    <TableFrame label={t("heat.title")}>
      <table className="heat-map">
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{isPhone ? t("heat.hour") : <span className="visually-hidden">{t("heat.hour")}</span>}</th>
            {columns.map(({ index, name, abbr }) => (
              <th key={index} scope="col" abbr={abbr}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ index, name, abbr }) => (
            <tr key={index}>
              <th scope="row" abbr={abbr}>
                {name}
              </th>
              {columns.map((column) => cellOf(index, column.index))}
            </tr>
          ))}
        </tbody>
      </table>
    </TableFrame>
  );
}

function HeatCell(props: { readonly value: number | null; readonly max: number; readonly title: string }) {
  const { t } = useTranslation("history");
  const write = useAverageText();
  const scheme = useComputedColorScheme("light");
  const { value, max, title } = props;
  if (value === null) {
    return (
      <td className="heat-unknown" title={`${title}: ${t("heat.unknown")}`}>
        <span className="visually-hidden">{t("heat.unknown")}</span>
      </td>
    );
  }
  return (
    <td style={HEAT_LOOKS[scheme][findStep(value, max)]} title={`${title}: ${write(value)}`}>
      {write(value)}
    </td>
  );
}

/** Which colour means what. */
function HeatKey({ max }: { readonly max: number }) {
  const { t } = useTranslation("history");
  const write = useAverageText();
  const scheme = useComputedColorScheme("light");
  return (
    <Group gap={4} aria-hidden>
      <Text size="xs" c="dimmed">
        0
      </Text>
      {HEAT_LOOKS[scheme].map((look) => (
        <span key={look.background} className="heat-key" style={look} />
      ))}
      <Text size="xs" c="dimmed" className="numbers">
        {write(max)}
      </Text>
      <span className="heat-key heat-unknown" style={{ marginInlineStart: "0.75rem" }} />
      <Text size="xs" c="dimmed">
        {t("heat.unknown")}
      </Text>
    </Group>
  );
}

/** Whole numbers from ten on, so that they fit into a cell. */
function useAverageText(): (value: number) => string {
  const format = useFormat();
  return (value) => format.number(value >= 10 ? Math.round(value) : Math.round(value * 10) / 10);
}

function writeHour(hour: number): string {
  return `${String(hour).padStart(2, "0")}:00`;
}
