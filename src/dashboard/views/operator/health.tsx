// The operator's view "health": readiness, and what the metrics say about relay, queue and process.
import { Alert, List, Progress, SimpleGrid, Stack, Table, Text, Title } from "@mantine/core";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { COMMAND_STATUSES } from "../../../core/command.ts";
import type { Readiness } from "../../../core/wire/health.ts";
import { parseMetrics, type Sample } from "../../api/metrics-text.ts";
import type { ApiError } from "../../api/request.ts";
import { Icon } from "../../parts/icon.tsx";
import { LoadingState } from "../../parts/states.tsx";
import { TableFrame } from "../../parts/table-frame.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { useAdmin, useAdminQuery } from "../../state/use-admin.ts";
import { useFormat } from "../../state/use-format.ts";
import { useNow } from "../../state/use-now.ts";
import { Figure } from "./figure.tsx";
import { useRefusalNames } from "./refusal-names.ts";

const EVERY_MS = 5_000;
const MEGABYTE = 1_048_576;

export function HealthView() {
  const { t } = useTranslation("operatorHealth");
  const format = useFormat();
  const now = useNow();
  const admin = useAdmin();
  const readiness = useAdminQuery(["readiness"], admin.readReadiness, EVERY_MS);
  const metrics = useAdminQuery(["metrics"], admin.readMetrics, EVERY_MS);
  const meter = useMemo(
    () => metrics.value !== undefined && new Meter(parseMetrics(metrics.value)),
    [metrics.value],
  );
  return (
    <ViewPage
      title={t("title")}
      summary={t("summary")}
      actions={
        metrics.readAt > 0 && (
          <Text size="sm" c="dimmed" className="numbers">
            {t("readAt", { age: format.duration(now - metrics.readAt) })}
          </Text>
        )
      }
    >
      <ReadinessNote readiness={readiness.error ? undefined : readiness.value} error={readiness.error} />
      {metrics.error && (
        <Alert color="orange" icon={<Icon name="warning" />}>
          {t("noMetrics", { message: metrics.error.message, code: metrics.error.code })}
        </Alert>
      )}
      {meter ? (
        <Stack gap="lg">
          <RelayPart meter={meter} />
          <QueuePart meter={meter} />
          <ProcessPart meter={meter} />
        </Stack>
      ) : (
        metrics.isLoading && <LoadingState />
      )}
    </ViewPage>
  );
}

/** Finds numbers among the samples; what is not there is 0. */
class Meter {
  readonly #byName: ReadonlyMap<string, readonly Sample[]>;

  constructor(samples: readonly Sample[]) {
    this.#byName = Map.groupBy(samples, ({ name }) => name);
  }

  list(name: string): readonly Sample[] {
    return this.#byName.get(`gatehouse_${name}`) ?? this.#byName.get(name) ?? [];
  }

  value(name: string): number {
    return this.list(name)[0]?.value ?? 0;
  }

  /** Sums by a label, the greatest first. */
  sums(name: string, label: string): [string, number][] {
    const sums = new Map<string, number>();
    for (const { labels, value } of this.list(name)) {
      const of = labels[label] ?? "";
      sums.set(of, (sums.get(of) ?? 0) + value);
    }
    return [...sums].toSorted(([, a], [, b]) => b - a);
  }
}

function ReadinessNote(props: {
  readonly readiness: Readiness | undefined;
  readonly error: ApiError | undefined;
}) {
  const { t } = useTranslation(["operatorHealth", "status"]);
  const { readiness, error } = props;
  if (error) {
    const isUnreachable = error.code === 0;
    return (
      <Alert
        role="alert"
        color="red"
        icon={<Icon name="warning" />}
        title={t(isUnreachable ? "status:title.unreachable" : "notReady")}
      >
        {Object.entries(error.details ?? {}).map(([part, what]) => (
          <Text size="sm" key={part} lang="en">
            {part}: {what}
          </Text>
        ))}
      </Alert>
    );
  }
  if (!readiness) return null;
  const { notices } = readiness;
  return (
    <Alert
      color={notices.length === 0 ? "teal" : "yellow"}
      icon={<Icon name={notices.length === 0 ? "check" : "warning"} />}
      title={t("ready")}
    >
      {t("readyText")} {notices.length > 0 && t("notices")}
      {notices.length > 0 && (
        <List size="sm" mt={4} lang="en" className="untrusted">
          {notices.map((notice) => (
            <List.Item key={notice}>{notice}</List.Item>
          ))}
        </List>
      )}
    </Alert>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Stack gap="sm" component="section" aria-label={title}>
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  );
}

function RelayPart({ meter }: { readonly meter: Meter }) {
  const { t } = useTranslation("operatorHealth");
  const format = useFormat();
  const limit = meter.value("upstream_budget_limit");
  const left = meter.value("upstream_budget_remaining");
  const pauseSeconds = meter.value("upstream_pause_seconds");
  const calls = meter.sums("upstream_calls_total", "outcome");
  const callCount = meter.value("upstream_call_duration_seconds_count");
  const meanMs = (meter.value("upstream_call_duration_seconds_sum") / callCount) * 1000;
  return (
    <Part title={t("relay")}>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 4 }} spacing="xs">
        <Figure label={t("budget")}>
          <Text size="sm">
            {limit === 0
              ? t("budgetUnknown")
              : t("budgetLeft", { left: format.number(left), limit: format.number(limit) })}
          </Text>
          {limit > 0 && (
            <Progress
              mt={6}
              value={(left / limit) * 100}
              color={left / limit < 0.2 ? "orange" : "teal"}
              aria-label={t("budget")}
            />
          )}
        </Figure>
        <Figure label={t("pause")} isBad={pauseSeconds > 0}>
          {pauseSeconds > 0 ? format.duration(pauseSeconds * 1000) : t("noPause")}
        </Figure>
        <Figure label={t("breakers")} isBad={meter.value("breakers_open") > 0}>
          {format.number(meter.value("breakers_open"))}
        </Figure>
        <Figure label={t("refusedKeys")} isBad={meter.value("refused_server_keys") > 0}>
          {format.number(meter.value("refused_server_keys"))}
        </Figure>
        <Figure label={t("activeServers")} note={t("activeHint")}>
          {format.number(meter.value("active_servers"))}
        </Figure>
        <Figure label={t("snapshotAge")}>
          {format.duration(meter.value("snapshot_age_seconds") * 1000)}
        </Figure>
        <Figure label={t("callTime")}>
          {callCount > 0 ? t("milliseconds", { n: format.number(Math.round(meanMs)) }) : "–"}
        </Figure>
        <Figure label={t("misfits")}>{format.number(meter.value("misfits_total"))}</Figure>
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
        <CountTable
          title={t("cache")}
          rows={[
            [t("hits"), meter.value("cache_hits_total")],
            [t("staleHits"), meter.value("cache_stale_hits_total")],
            [t("coalesced"), meter.value("coalesced_reads_total")],
          ]}
        />
        <CountTable title={t("calls")} rows={calls} empty={t("noCalls")} />
      </SimpleGrid>
    </Part>
  );
}

function QueuePart({ meter }: { readonly meter: Meter }) {
  const { t } = useTranslation(["operatorHealth", "commands"]);
  const format = useFormat();
  const waiting = meter.value("commands_waiting");
  const outcomes = meter.sums("commands_total", "outcome").map(([outcome, count]): [string, number] => {
    const status = COMMAND_STATUSES.find((known) => known === outcome);
    if (status) return [t(`commands:status.${status}`), count];
    return [outcome === "confirmed" ? t("commands:confirmed") : outcome, count];
  });
  return (
    <Part title={t("queue")}>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 4 }} spacing="xs">
        <Figure label={t("waiting")}>{format.number(waiting)}</Figure>
        <Figure label={t("oldest")}>
          {waiting > 0 ? format.duration(meter.value("commands_oldest_seconds") * 1000) : "–"}
        </Figure>
      </SimpleGrid>
      <CountTable title={t("outcomes")} rows={outcomes} empty={t("noneYet")} />
    </Part>
  );
}

function ProcessPart({ meter }: { readonly meter: Meter }) {
  const { t } = useTranslation("operatorHealth");
  const format = useFormat();
  const nameRefusal = useRefusalNames();
  const answers = meter.list("requests_total").reduce((sum, { value }) => sum + value, 0);
  const refusals = meter
    .sums("requests_total", "code")
    .filter(([code]) => code !== "0")
    .map(([code, count]): [string, number] => [nameRefusal(Number(code)), count]);
  const ceilings = new Map(meter.list("size_max").map(({ labels, value }) => [labels.of, value]));
  return (
    <Part title={t("process")}>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="xs">
        <Figure label={t("version")}>{meter.list("info")[0]?.labels.version ?? "–"}</Figure>
        <Figure label={t("memory")}>
          {t("megabytes", {
            n: format.number(Math.round(meter.value("process_resident_memory_bytes") / MEGABYTE)),
          })}
        </Figure>
        <Figure label={t("uptime")}>{format.duration(meter.value("process_uptime_seconds") * 1000)}</Figure>
        <Figure label={t("blocked")}>{format.number(meter.value("blocked_keys"))}</Figure>
        <Figure label={t("requests")}>{format.number(answers)}</Figure>
      </SimpleGrid>
      <CountTable title={t("refusals")} rows={refusals} empty={t("noRefusals")} />
      <TableFrame label={t("sizes")}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t("collection")}</Table.Th>
              <Table.Th ta="right">{t("size")}</Table.Th>
              <Table.Th ta="right">{t("ceiling")}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody className="numbers">
            {meter.list("size").map(({ labels: { of = "" }, value }) => (
              <Table.Tr key={of}>
                <Table.Td>{of.replaceAll("_", " ")}</Table.Td>
                <Table.Td ta="right">{format.number(value)}</Table.Td>
                <Table.Td ta="right">{format.number(ceilings.get(of) ?? 0)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </TableFrame>
    </Part>
  );
}

function CountTable(props: {
  readonly title: string;
  readonly rows: readonly (readonly [string, number])[];
  readonly empty?: string;
}) {
  const format = useFormat();
  return (
    <TableFrame label={props.title}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th colSpan={2}>{props.title}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody className="numbers">
          {props.rows.length === 0 && (
            <Table.Tr>
              <Table.Td colSpan={2}>{props.empty}</Table.Td>
            </Table.Tr>
          )}
          {props.rows.map(([name, count]) => (
            <Table.Tr key={name}>
              <Table.Td>{name}</Table.Td>
              <Table.Td ta="right">{format.number(count)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </TableFrame>
  );
}
