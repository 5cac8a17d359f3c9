// Details of one key: its usage as bars by hour and as a table by hour or day, its refusals and its rights.
import { Box, Group, SegmentedControl, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { type PointerEvent, type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { HOUR_MS } from "../../../../core/durations.ts";
import type { KeyResource, KeyWithUsage, UsageResource } from "../../../../core/wire/key.ts";
import { FailedState, LoadingState } from "../../../parts/states.tsx";
import { NameText } from "../../../parts/text/game-text.tsx";
import { useAdmin, useAdminQuery } from "../../../state/session/use-admin.ts";
import { findRegion, useFormat } from "../../../state/time/use-format.ts";
import { CopiedId, Facts, FieldValue, Figure, PlainTable, useRefusalNames } from "../fields.tsx";
import { Hint, Section } from "../layout.tsx";
import { NEW_RIGHTS } from "./key-form.tsx";

const POLL_INTERVAL_MS = 15_000;
const RIGHTS = Object.keys(NEW_RIGHTS) as (keyof typeof NEW_RIGHTS)[];

export function KeyDetails({ keyId, serverName }: { readonly keyId: string; readonly serverName: string }) {
  const admin = useAdmin();
  const { value, isLoading, error, refresh, readAt } = useAdminQuery(
    ["keys", "one", keyId],
    () => admin.showKey(keyId),
    POLL_INTERVAL_MS,
  );
  if (value) {
    return (
      <Stack gap="lg">
        <UsageSection apiKey={value} usage={value.usage} readAt={readAt} />
        <RightsSection apiKey={value} serverName={serverName} />
      </Stack>
    );
  }
  return isLoading ? <LoadingState /> : error ? <FailedState error={error} onRetry={refresh} /> : null;
}

function UsageSection(props: { readonly apiKey: KeyResource; readonly usage: UsageResource; readonly readAt: number }) {
  const { t } = useTranslation("operatorKeys");
  const format = useFormat();
  const nameRefusal = useRefusalNames();
  const { apiKey, usage } = props;
  const refusals = Object.entries(usage.refusals).toSorted(([, a], [, b]) => b - a);
  const refused = refusals.reduce((total, [, count]) => total + count, 0);
  return (
    <Stack gap="sm" component="section" aria-label={t("usage.title")}>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="xs">
        <Figure label={t("usage.total")}>{format.number(usage.requests)}</Figure>
        <Figure label={t("usage.refused")}>{format.number(refused)}</Figure>
        <Figure label={t("usage.last")}>
          <Text size="sm">{apiKey.last_used_at === null ? t("neverUsed") : format.dateTime(apiKey.last_used_at)}</Text>
        </Figure>
      </SimpleGrid>
      <UsageChart usage={usage} now={props.readAt} />
      <Title order={3} size="h5">
        {t("usage.refusals")}
      </Title>
      {refusals.length === 0 ? (
        <Hint>{t("usage.noRefusals")}</Hint>
      ) : (
        <PlainTable
          label={t("usage.refusals")}
          titles={[t("usage.code"), t("usage.count")]}
          rows={refusals.map(([code, count]) => [nameRefusal(Number(code)), format.number(count)])}
          isNumeric
        />
      )}
    </Stack>
  );
}

function RightsSection({ apiKey, serverName }: { readonly apiKey: KeyWithUsage; readonly serverName: string }) {
  const { t } = useTranslation(["operatorKeys", "operator"]);
  const format = useFormat();
  const { grace_tokens: oldTokens } = apiKey;
  return (
    <Section title={t("right.title")} isInDialog>
      <Facts
        facts={[
          [t("right.id"), <CopiedId key="id" id={apiKey.key_id} label={t("right.id")} />],
          [t("operator:fields.server_id"), <NameText key="server" text={serverName} />],
          ...RIGHTS.map((field): [string, ReactNode] => [
            t(`operator:fields.${field}`),
            <FieldValue key={field} field={field} value={apiKey[field]} everything={t("right.all")} />,
          ]),
          [
            t("right.oldTokens"),
            oldTokens.length === 0
              ? t("operator:nothing")
              : oldTokens.map(({ valid_until: end }, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: two tokens can end at the same time
                  <div key={index}>{t("right.oldUntil", { time: format.dateTime(end) })}</div>
                )),
          ],
        ]}
      />
    </Section>
  );
}

const RANGES = { day: 24, week: 168, month: 720 } as const;
type Range = keyof typeof RANGES;
const HEIGHT = 120;

type Bar = { readonly at: number; readonly requests: number; readonly refused: number };

/** `now` is when the usage was read. */
function UsageChart({ usage, now }: { readonly usage: UsageResource; readonly now: number }) {
  const { t, i18n } = useTranslation("operatorKeys");
  const format = useFormat();
  const [range, setRange] = useState<Range>("month");
  const [hovered, setHovered] = useState<number>();
  const bars = useMemo(() => listBars(usage, now, RANGES[range]), [usage, now, range]);
  const max = Math.max(...bars.map(({ requests }) => requests));
  const requests = sum(bars, "requests");
  const refused = sum(bars, "refused");
  const description = t("usage.description", {
    requests: format.number(requests),
    refused: format.number(refused),
    max: format.number(max),
  });
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
          aria-label={`${t("usage.chart")}. ${description}`}
          onPointerMove={hover}
          onPointerLeave={() => setHovered(undefined)}
        >
          {hovered !== undefined && <rect x={hovered} y={0} width={1} height={HEIGHT} className="usage-hovered" />}
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
              : description}
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
  const rows = useMemo(() => (isByHour ? bars : sumDays(bars)).filter((row) => row.requests > 0), [bars, isByHour]);
  const day = new Intl.DateTimeFormat(findRegion(i18n.language), { dateStyle: "medium" });
  return (
    <details>
      <summary>{t("usage.table")}</summary>
      <PlainTable
        label={t("usage.chart")}
        titles={[t(isByHour ? "usage.tableHour" : "usage.tableDay"), t("usage.tableRequests"), t("usage.refused")]}
        rows={rows
          .toReversed()
          .map(({ at, requests, refused }) => [
            isByHour ? format.dateTime(at) : day.format(at),
            format.number(requests),
            format.number(refused),
          ])}
        isNumeric
      />
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
