// The operator's view "health": readiness, and the metrics of relay, queue and process.
import { Alert, List, Progress, SimpleGrid, Stack, Table, Text, Title } from "@mantine/core";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { COMMAND_STATUSES } from "../../../core/command.ts";
import type { Readiness } from "../../../core/wire/health.ts";
import { parseMetrics } from "../../api/metrics-text.ts";
import type { ApiError } from "../../api/request.ts";
import { useCodeMeaning } from "../../parts/game-error-text.ts";
import { Icon } from "../../parts/icon.tsx";
import { LoadingState } from "../../parts/states.tsx";
import { TableFrame } from "../../parts/table-frame.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { useAdmin, useAdminQuery } from "../../state/use-admin.ts";
import { useFormat } from "../../state/use-format.ts";
import { useNow } from "../../state/use-now.ts";
import { Figure } from "./figure.tsx";
import { Metrics } from "./metrics.ts";
import { useRefusalNames } from "./refusal-names.ts";

const POLL_INTERVAL_MS = 5_000;
const MEGABYTE_BYTES = 1_048_576;
/** Below this share of the calls, data may get older. */
const BUDGET_LOW_SHARE = 0.2;
/** A game API that is well answers within a second. */
const SLOW_CALL_MS = 2_000;
/** Commands wait their turn; this is longer than a few of them take. */
const LONG_WAIT_SECONDS = 60;

/** The lists of /metrics that have a name for people. */
const LISTS = [
  "known_authorization_headers",
  "known_accept_encodings",
  "known_urls",
  "guessing_addresses",
  "guessing_browsers",
  "signing_in_keys",
  "known_sessions",
  "unsent_bytes",
  "unsaved_usage",
  "waiting_events",
  "unauthenticated_sockets",
  "held_webhook_bytes",
  "seen_webhooks",
] as const;

export function HealthView() {
  const { t } = useTranslation("operatorHealth");
  const format = useFormat();
  const now = useNow();
  const admin = useAdmin();
  const readiness = useAdminQuery(["readiness"], admin.readReadiness, POLL_INTERVAL_MS);
  const reading = useAdminQuery(["metrics"], admin.readMetrics, POLL_INTERVAL_MS);
  const metrics = useMemo(
    () => reading.value !== undefined && new Metrics(parseMetrics(reading.value)),
    [reading.value],
  );
  return (
    <ViewPage
      title={t("title")}
      summary={t("summary")}
      actions={
        reading.readAt > 0 && (
          <Text size="sm" c="dimmed" className="numbers">
            {t("readAt", { age: format.duration(now - reading.readAt) })}
          </Text>
        )
      }
    >
      <ReadinessAlert readiness={readiness.error ? undefined : readiness.value} error={readiness.error} />
      {reading.error && (
        <Alert color="orange" icon={<Icon name="warning" />}>
          {t("noMetrics", { message: reading.error.message, code: reading.error.code })}
        </Alert>
      )}
      {metrics ? (
        <Stack gap="lg">
          <RelaySection metrics={metrics} />
          <QueueSection metrics={metrics} />
          <ProcessSection metrics={metrics} />
        </Stack>
      ) : (
        reading.isLoading && <LoadingState />
      )}
    </ViewPage>
  );
}

function ReadinessAlert(props: {
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

function HealthSection({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Stack gap="sm" component="section" aria-label={title}>
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  );
}

function RelaySection({ metrics }: { readonly metrics: Metrics }) {
  const { t } = useTranslation("operatorHealth");
  const format = useFormat();
  const limit = metrics.value("upstream_budget_limit");
  const left = metrics.value("upstream_budget_remaining");
  const pauseSeconds = metrics.value("upstream_pause_seconds");
  const meaningOf = useCodeMeaning();
  const calls = metrics.sumBy("upstream_calls_total", "outcome").map(([outcome, count]): [string, number] => {
    if (outcome === "ok") return [t("callOk"), count];
    const meaning = meaningOf(Number(outcome));
    return [meaning === undefined ? t("callOther") : t("callCode", { code: outcome, meaning }), count];
  });
  const callCount = metrics.value("upstream_call_duration_seconds_count");
  const meanMs = (metrics.value("upstream_call_duration_seconds_sum") / callCount) * 1000;
  return (
    <HealthSection title={t("relay")}>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 4 }} spacing="xs">
        <Figure
          label={t("budget")}
          note={t("hint.budget")}
          isBad={limit > 0 && left / limit < BUDGET_LOW_SHARE}
          todo={t("todo.budget")}
        >
          <Text size="sm">
            {limit === 0
              ? t("budgetUnknown")
              : t("budgetLeft", { left: format.number(left), limit: format.number(limit) })}
          </Text>
          {limit > 0 && (
            <Progress
              mt={6}
              value={(left / limit) * 100}
              color={left / limit < BUDGET_LOW_SHARE ? "orange" : "teal"}
              aria-label={t("budget")}
            />
          )}
        </Figure>
        <Figure label={t("pause")} note={t("hint.pause")} isBad={pauseSeconds > 0} todo={t("todo.pause")}>
          {pauseSeconds > 0 ? format.duration(pauseSeconds * 1000) : t("noPause")}
        </Figure>
        <Figure
          label={t("breakers")}
          note={t("hint.breakers")}
          isBad={metrics.value("breakers_open") > 0}
          todo={t("todo.breakers")}
        >
          {format.number(metrics.value("breakers_open"))}
        </Figure>
        <Figure
          label={t("refusedKeys")}
          note={t("hint.refusedKeys")}
          isBad={metrics.value("refused_server_keys") > 0}
          todo={t("todo.refusedKeys")}
        >
          {format.number(metrics.value("refused_server_keys"))}
        </Figure>
        <Figure label={t("activeServers")} note={t("activeHint")}>
          {format.number(metrics.value("active_servers"))}
        </Figure>
        <Figure label={t("snapshotAge")} note={t("hint.snapshotAge")}>
          {format.duration(metrics.value("snapshot_age_seconds") * 1000)}
        </Figure>
        <Figure
          label={t("callTime")}
          note={t("hint.callTime")}
          isBad={meanMs > SLOW_CALL_MS}
          todo={t("todo.callTime")}
        >
          {callCount > 0 ? t("milliseconds", { n: format.number(Math.round(meanMs)) }) : "–"}
        </Figure>
        <Figure label={t("misfits")} note={t("hint.misfits")}>
          {format.number(metrics.value("misfits_total"))}
        </Figure>
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
        <CountTable
          title={t("cache")}
          rows={[
            [t("hits"), metrics.value("cache_hits_total")],
            [t("staleHits"), metrics.value("cache_stale_hits_total")],
            [t("coalesced"), metrics.value("coalesced_reads_total")],
          ]}
        />
        <CountTable title={t("calls")} rows={calls} empty={t("noCalls")} />
      </SimpleGrid>
    </HealthSection>
  );
}

function QueueSection({ metrics }: { readonly metrics: Metrics }) {
  const { t } = useTranslation(["operatorHealth", "commands"]);
  const format = useFormat();
  const waiting = metrics.value("commands_waiting");
  const oldestSeconds = metrics.value("commands_oldest_seconds");
  const outcomes = metrics.sumBy("commands_total", "outcome").map(([outcome, count]): [string, number] => {
    const status = COMMAND_STATUSES.find((known) => known === outcome);
    if (status) return [t(`commands:status.${status}`), count];
    return [outcome === "confirmed" ? t("commands:confirmed") : outcome, count];
  });
  return (
    <HealthSection title={t("queue")}>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 4 }} spacing="xs">
        <Figure label={t("waiting")} note={t("hint.waiting")}>
          {format.number(waiting)}
        </Figure>
        <Figure
          label={t("oldest")}
          note={t("hint.oldest")}
          isBad={waiting > 0 && oldestSeconds > LONG_WAIT_SECONDS}
          todo={t("todo.oldest")}
        >
          {waiting > 0 ? format.duration(oldestSeconds * 1000) : "–"}
        </Figure>
      </SimpleGrid>
      <CountTable title={t("outcomes")} rows={outcomes} empty={t("noneYet")} />
    </HealthSection>
  );
}

function ProcessSection({ metrics }: { readonly metrics: Metrics }) {
  const { t } = useTranslation("operatorHealth");
  const format = useFormat();
  const nameRefusal = useRefusalNames();
  const answerCount = metrics.list("requests_total").reduce((sum, { value }) => sum + value, 0);
  const refusals = metrics
    .sumBy("requests_total", "code")
    .filter(([code]) => code !== "0")
    .map(([code, count]): [string, number] => [nameRefusal(Number(code)), count]);
  const nameList = (name: string) => {
    const known = LISTS.find((other) => other === name);
    return known ? t(`list.${known}`) : name.replaceAll("_", " ");
  };
  const ceilings = new Map(metrics.list("size_max").map(({ labels, value }) => [labels.of, value]));
  return (
    <HealthSection title={t("process")}>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="xs">
        <Figure label={t("version")}>{metrics.list("info")[0]?.labels.version ?? "–"}</Figure>
        <Figure label={t("memory")} note={t("hint.memory")}>
          {t("megabytes", {
            n: format.number(Math.round(metrics.value("process_resident_memory_bytes") / MEGABYTE_BYTES)),
          })}
        </Figure>
        <Figure label={t("uptime")}>{format.duration(metrics.value("process_uptime_seconds") * 1000)}</Figure>
        <Figure
          label={t("blocked")}
          note={t("hint.blocked")}
          isBad={metrics.value("blocked_keys") > 0}
          todo={t("todo.blocked")}
        >
          {format.number(metrics.value("blocked_keys"))}
        </Figure>
        <Figure label={t("requests")} note={t("hint.requests")}>
          {format.number(answerCount)}
        </Figure>
      </SimpleGrid>
      <CountTable title={t("refusals")} rows={refusals} empty={t("noRefusals")} />
      <Text size="sm" c="dimmed">
        {t("sizes")}. {t("hint.sizes")}
      </Text>
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
            {metrics.list("size").map(({ labels: { of = "" }, value }) => (
              <Table.Tr key={of}>
                <Table.Td>{nameList(of)}</Table.Td>
                <Table.Td ta="right">{format.number(value)}</Table.Td>
                <Table.Td ta="right">{format.number(ceilings.get(of) ?? 0)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </TableFrame>
    </HealthSection>
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
