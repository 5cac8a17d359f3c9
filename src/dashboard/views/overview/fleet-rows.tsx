// The servers of the overview: a table on a desktop, two lines for each server on a phone.

import { Anchor, Box, Button, Group, Stack, Table, Text, UnstyledButton } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { Spark } from "../../parts/spark.tsx";
import { TableFrame, usePhone } from "../../parts/table/table-toolbar.tsx";
import { GameText, NameText } from "../../parts/text/game-text.tsx";
import { Small } from "../../parts/text/plain-text.tsx";
import { type FleetCounts, hasOldCounts, type Ranked, sumFleet } from "../../state/server/fleet-order.ts";
import { useFormat } from "../../state/time/use-format.ts";
import { StandingBadge } from "./standing.tsx";

export type FleetRow = Ranked &
  FleetCounts & {
    readonly id: string;
    /** In epoch milliseconds; null when nothing was read yet. */
    readonly readAt: number | null;
    /** The most players in each of the last hours; null where unknown. */
    readonly day?: readonly (number | null)[] | undefined;
    /** Since when the server is not fine, where that is known. */
    readonly since?: number | undefined;
    /** Why the server is not fine, in words; it may quote the game API. */
    readonly reason?: string | undefined;
    /** Where the server opens; a key is switched to instead. */
    readonly href?: string;
    readonly onOpen?: (() => void) | undefined;
    readonly isShown?: boolean;
    /** Buttons for a key that cannot be used. */
    readonly actions?: ReactNode;
  };

const ROWS_AT_ONCE = 200;
const REASON_MAX = 160;
const UNKNOWN = "–";

export function FleetRows(props: { readonly rows: readonly FleetRow[]; readonly now: number }) {
  const { t } = useTranslation("fleet");
  const isPhone = usePhone();
  const [max, setMax] = useState(ROWS_AT_ONCE);
  const shown = props.rows.slice(0, max);
  const left = props.rows.length - shown.length;
  return (
    <Stack gap="sm">
      {props.rows.length > 1 && <Totals rows={props.rows} />}
      {isPhone ? <PhoneRows rows={shown} now={props.now} /> : <TableRows rows={shown} now={props.now} />}
      {left > 0 && (
        <Group justify="center">
          <Button variant="light" onClick={() => setMax(max + ROWS_AT_ONCE)}>
            {t("more", { n: left })}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

type RowsProps = { readonly rows: readonly FleetRow[]; readonly now: number };

/** What is true of all servers together, without counts from before. */
function Totals({ rows }: { readonly rows: readonly FleetRow[] }) {
  const { t } = useTranslation("fleet");
  const format = useFormat();
  const totals = sumFleet(rows);
  const parts = [
    t("totals.servers", { count: rows.length, n: format.number(rows.length) }),
    totals.unreadable > 0 && t("totals.unreadable", { n: format.number(totals.unreadable) }),
    t("totals.players", { n: format.number(totals.players), max: format.number(totals.playersMax) }),
    totals.queue > 0 && t("short.queue", { n: format.number(totals.queue) }),
    totals.openModCalls > 0 && t("short.modCalls", { n: format.number(totals.openModCalls) }),
    totals.openCalls > 0 && t("short.calls", { n: format.number(totals.openCalls) }),
  ];
  return <Text className="numbers">{parts.filter(Boolean).join(" · ")}</Text>;
}

function TableRows({ rows, now }: RowsProps) {
  const { t } = useTranslation("fleet");
  // A single hour is no line.
  const hasDays = rows.some(({ day }) => day && day.filter((players) => players !== null).length > 1);
  return (
    <TableFrame label={t("servers")}>
      <Table verticalSpacing={6} horizontalSpacing="sm" highlightOnHover aria-label={t("servers")}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w="32%">{t("column.server")}</Table.Th>
            <Table.Th>{t("column.state")}</Table.Th>
            <Table.Th ta="right">{t("column.players")}</Table.Th>
            {hasDays && <Table.Th w="8rem">{t("column.day")}</Table.Th>}
            <Table.Th ta="right">{t("column.queue")}</Table.Th>
            <Table.Th ta="right">{t("column.modCalls")}</Table.Th>
            <Table.Th ta="right">{t("column.calls")}</Table.Th>
            <Table.Th ta="right">{t("column.age")}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody className="numbers">
          {rows.map((row) => (
            <Table.Tr key={row.id} data-standing={row.standing} data-old={hasOldCounts(row) || undefined}>
              <Table.Th scope="row" fw={400}>
                <ServerName row={row} />
                <Reason row={row} />
                {row.actions}
              </Table.Th>
              <Table.Td>
                <StandingBadge standing={row.standing} />
              </Table.Td>
              <Table.Td ta="right" className="fleet-number">
                <Players row={row} />
              </Table.Td>
              {hasDays && (
                <Table.Td>
                  <Day row={row} />
                </Table.Td>
              )}
              <Table.Td ta="right" className="fleet-number">
                <Count value={row.queue} />
              </Table.Td>
              <Table.Td ta="right" className="fleet-number">
                <Count value={row.openModCalls} isBad />
              </Table.Td>
              <Table.Td ta="right" className="fleet-number">
                <Count value={row.openCalls} />
              </Table.Td>
              <Table.Td ta="right" className="fleet-number">
                <Age row={row} now={now} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </TableFrame>
  );
}

function PhoneRows({ rows, now }: RowsProps) {
  const { t } = useTranslation("fleet");
  return (
    <ul className="plain-list framed" aria-label={t("servers")}>
      {rows.map((row) => (
        <li key={row.id} className="fleet-row" data-standing={row.standing} data-old={hasOldCounts(row) || undefined}>
          <Group gap="xs" wrap="nowrap" justify="space-between">
            <Box miw={0}>
              <ServerName row={row} />
            </Box>
            <Box flex="none">
              <StandingBadge standing={row.standing} />
            </Box>
          </Group>
          <PhoneCounts row={row} now={now} />
          <Reason row={row} />
          {row.actions}
        </li>
      ))}
    </ul>
  );
}

/** One line: what is not known and what there is none of is left out. */
function PhoneCounts({ row, now }: { readonly row: FleetRow; readonly now: number }) {
  const { t } = useTranslation("fleet");
  const format = useFormat();
  const { queue, openModCalls, openCalls } = row;
  return (
    <Group gap="xs" className="numbers fleet-counts" style={{ rowGap: 0 }}>
      {row.players !== null && (
        <Text size="sm" component="span">
          {t("column.players")} <Players row={row} />
        </Text>
      )}
      {queue !== null && queue > 0 && <Small>{t("short.queue", { n: format.number(queue) })}</Small>}
      {openModCalls !== null && openModCalls > 0 && (
        <Text size="sm" component="span" fw={700} c="var(--mantine-color-error)">
          {t("short.modCalls", { n: format.number(openModCalls) })}
        </Text>
      )}
      {openCalls !== null && openCalls > 0 && <Small>{t("short.calls", { n: format.number(openCalls) })}</Small>}
      {row.readAt !== null && <Age row={row} now={now} />}
    </Group>
  );
}

function ServerName({ row }: { readonly row: FleetRow }) {
  const { t } = useTranslation("fleet");
  const name = <NameText text={row.name ?? t("unknownServer")} />;
  if (row.href !== undefined) return <Anchor href={row.href}>{name}</Anchor>;
  if (!row.onOpen) return <Text fw={650}>{name}</Text>;
  return (
    <UnstyledButton className="fleet-open" onClick={row.onOpen} aria-current={row.isShown || undefined}>
      {name}
    </UnstyledButton>
  );
}

function Reason({ row }: { readonly row: FleetRow }) {
  const { t } = useTranslation("fleet");
  const format = useFormat();
  if (row.reason === undefined) return null;
  return (
    <Text size="sm" c="dimmed" className="untrusted" maw={520}>
      <GameText text={row.reason} max={REASON_MAX} />
      {row.since !== undefined && ` (${t("since", { time: format.dateTime(row.since) })})`}
    </Text>
  );
}

function Players({ row }: { readonly row: FleetRow }) {
  const { t } = useTranslation("fleet");
  const format = useFormat();
  if (row.players === null) return UNKNOWN;
  if (row.playersMax === null) return format.number(row.players);
  return t("playersOf", { n: format.number(row.players), max: format.number(row.playersMax) });
}

function Day({ row }: { readonly row: FleetRow }) {
  const { t } = useTranslation("fleet");
  const format = useFormat();
  const max = row.day?.reduce<number>((most, players) => Math.max(most, players ?? 0), 0) ?? 0;
  return <Spark values={row.day ?? []} label={t("day", { max: format.number(max) })} />;
}

function Count({ value, isBad = false }: { readonly value: number | null; readonly isBad?: boolean }) {
  const format = useFormat();
  if (value === null) return UNKNOWN;
  if (!isBad || value === 0) return format.number(value);
  return (
    <Text component="span" size="sm" fw={700} c="var(--mantine-color-error)">
      {format.number(value)}
    </Text>
  );
}

function Age({ row, now }: { readonly row: FleetRow; readonly now: number }) {
  const { t } = useTranslation("fleet");
  const format = useFormat();
  if (row.readAt === null) return UNKNOWN;
  return (
    <Text component="span" size="sm" c="dimmed" title={format.dateTime(row.readAt)}>
      {t("ago", { age: format.duration(now - row.readAt) })}
    </Text>
  );
}
