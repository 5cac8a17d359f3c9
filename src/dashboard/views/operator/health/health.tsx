// The operator's view "health": readiness, and the metrics of relay, queue and process.
import { Alert, Progress, SimpleGrid, Stack, Text } from "@mantine/core";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { COMMAND_STATUSES } from "../../../../core/commands/command.ts";
import { Icon } from "../../../parts/icon.tsx";
import { LoadingState } from "../../../parts/states.tsx";
import { useCodeMeaning } from "../../../parts/text/game-error-text.ts";
import { ViewPage } from "../../../parts/view-page.tsx";
import { useAdmin, useAdminQuery } from "../../../state/session/use-admin.ts";
import { useFormat, useSecond } from "../../../state/time/use-format.ts";
import { Figure, PlainTable, useRefusalNames } from "../fields.tsx";
import { useLooseTexts } from "../form.tsx";
import { Hint, Section } from "../layout.tsx";
import { ReadinessAlert } from "./notices.tsx";

const POLL_INTERVAL_MS = 5_000;
const MEGABYTE_BYTES = 1_048_576;
/** Below this share of the calls, data may get older. */
const BUDGET_LOW_SHARE = 0.2;
/** A game API that is well answers within a second. */
const SLOW_CALL_MS = 2_000;
/** Commands wait their turn; this is longer than a few of them take. */
const LONG_WAIT_SECONDS = 60;

export function HealthView() {
  const { t } = useTranslation("operatorHealth");
  const format = useFormat();
  const now = useSecond();
  const admin = useAdmin();
  const reading = useAdminQuery(["metrics"], admin.readMetrics, POLL_INTERVAL_MS);
  const metrics = useMemo(() => reading.value !== undefined && new Metrics(reading.value), [reading.value]);
  return (
    <ViewPage
      title={t("title")}
      actions={
        reading.readAt > 0 && (
          <Text size="sm" c="dimmed" className="numbers">
            {t("readAt", { age: format.duration(now - reading.readAt) })}
          </Text>
        )
      }
    >
      <ReadinessAlert />
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

/** A number with the texts of its name, its `hint` and its `todo`. */
type NamedFigure = readonly [name: string, value: ReactNode, isBad?: boolean];

function Figures({ figures, columns = 4 }: { readonly figures: readonly NamedFigure[]; readonly columns?: number }) {
  const translate = useLooseTexts();
  const find = (key: string) => translate(`operatorHealth:${key}`, "") || undefined;
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: columns }} spacing="xs">
      {figures.map(([name, value, isBad]) => (
        <Figure
          key={name}
          label={find(name) ?? name}
          note={find(`hint.${name}`)}
          todo={find(`todo.${name}`)}
          isBad={isBad}
        >
          {value}
        </Figure>
      ))}
    </SimpleGrid>
  );
}

function RelaySection({ metrics }: { readonly metrics: Metrics }) {
  const { t } = useTranslation("operatorHealth");
  const format = useFormat();
  const limit = metrics.value("upstream_budget_limit");
  const left = metrics.value("upstream_budget_remaining");
  const isLow = limit > 0 && left / limit < BUDGET_LOW_SHARE;
  const pauseSeconds = metrics.value("upstream_pause_seconds");
  const breakers = metrics.value("breakers_open");
  const refusedKeys = metrics.value("refused_server_keys");
  const meaningOf = useCodeMeaning();
  const calls = metrics.sumBy("upstream_calls_total", "outcome").map(([outcome, count]): [string, number] => {
    if (outcome === "ok") return [t("callOk"), count];
    const meaning = meaningOf(Number(outcome));
    return [meaning === undefined ? t("callOther") : t("callCode", { code: outcome, meaning }), count];
  });
  const callCount = metrics.value("upstream_call_duration_seconds_count");
  const meanMs = (metrics.value("upstream_call_duration_seconds_sum") / callCount) * 1000;
  const budget = (
    <>
      <Text size="sm">
        {limit === 0 ? t("budgetUnknown") : t("budgetLeft", { left: format.number(left), limit: format.number(limit) })}
      </Text>
      {limit > 0 && (
        <Progress mt={6} value={(left / limit) * 100} color={isLow ? "orange" : "teal"} aria-label={t("budget")} />
      )}
    </>
  );
  return (
    <Section title={t("relay")}>
      <Figures
        figures={[
          ["budget", budget, isLow],
          ["pause", pauseSeconds > 0 ? format.duration(pauseSeconds * 1000) : t("noPause"), pauseSeconds > 0],
          ["breakers", format.number(breakers), breakers > 0],
          ["refusedKeys", format.number(refusedKeys), refusedKeys > 0],
          ["activeServers", format.number(metrics.value("active_servers"))],
          ["snapshotAge", format.duration(metrics.value("snapshot_age_seconds") * 1000)],
          [
            "callTime",
            callCount > 0 ? t("milliseconds", { n: format.number(Math.round(meanMs)) }) : "–",
            meanMs > SLOW_CALL_MS,
          ],
          ["misfits", format.number(metrics.value("misfits_total"))],
        ]}
      />
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
    </Section>
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
  const isLong = waiting > 0 && oldestSeconds > LONG_WAIT_SECONDS;
  return (
    <Section title={t("queue")}>
      <Figures
        figures={[
          ["waiting", format.number(waiting)],
          ["oldest", waiting > 0 ? format.duration(oldestSeconds * 1000) : "–", isLong],
        ]}
      />
      <CountTable title={t("outcomes")} rows={outcomes} empty={t("noneYet")} />
    </Section>
  );
}

function ProcessSection({ metrics }: { readonly metrics: Metrics }) {
  const { t } = useTranslation("operatorHealth");
  const translate = useLooseTexts();
  const format = useFormat();
  const nameRefusal = useRefusalNames();
  const answerCount = metrics.list("requests_total").reduce((sum, { value }) => sum + value, 0);
  const refusals = metrics
    .sumBy("requests_total", "code")
    .filter(([code]) => code !== "0")
    .map(([code, count]): [string, number] => [nameRefusal(Number(code)), count]);
  const megabytes = Math.round(metrics.value("process_resident_memory_bytes") / MEGABYTE_BYTES);
  const blocked = metrics.value("blocked_keys");
  const ceilings = new Map(metrics.list("size_max").map(({ labels, value }) => [labels.of, value]));
  return (
    <Section title={t("process")}>
      <Figures
        columns={5}
        figures={[
          ["version", metrics.list("info")[0]?.labels.version ?? "–"],
          ["memory", t("megabytes", { n: format.number(megabytes) })],
          ["uptime", format.duration(metrics.value("process_uptime_seconds") * 1000)],
          ["blocked", format.number(blocked), blocked > 0],
          ["requests", format.number(answerCount)],
        ]}
      />
      <CountTable title={t("refusals")} rows={refusals} empty={t("noRefusals")} />
      <Hint>{`${t("sizes")}. ${t("hint.sizes")}`}</Hint>
      <PlainTable
        label={t("sizes")}
        titles={[t("collection"), t("size"), t("ceiling")]}
        isNumeric
        rows={metrics.list("size").map(({ labels: { of = "" }, value }) => [
          // Not every list of /metrics has a name for people.
          translate(`operatorHealth:list.${of}`, of.replaceAll("_", " ")),
          format.number(value),
          format.number(ceilings.get(of) ?? 0),
        ])}
      />
    </Section>
  );
}

function CountTable(props: {
  readonly title: string;
  readonly rows: readonly (readonly [string, number])[];
  readonly empty?: string;
}) {
  const format = useFormat();
  const rows = props.rows.map(([name, count]): [string, string] => [name, format.number(count)]);
  return <PlainTable label={props.title} titles={[props.title]} rows={rows} isNumeric empty={props.empty ?? ""} />;
}

type Sample = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

const LINE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const ESCAPES: Readonly<Record<string, string>> = { "\\n": "\n", '\\"': '"', "\\\\": "\\" };

function parseMetrics(text: string): Sample[] {
  return text.split("\n").flatMap((line) => {
    const [, name, labelText = "", valueText = ""] = LINE.exec(line) ?? [];
    if (name === undefined) return [];
    const labels = Object.fromEntries(
      Array.from(labelText.matchAll(LABEL), ([, label = "", raw = ""]) => {
        return [label, raw.replace(/\\./g, (escaped) => ESCAPES[escaped] ?? escaped)];
      }),
    );
    const value = valueText === "+Inf" ? Number.POSITIVE_INFINITY : Number(valueText);
    return [{ name, labels, value }];
  });
}

class Metrics {
  readonly #byName: ReadonlyMap<string, readonly Sample[]>;

  constructor(text: string) {
    this.#byName = Map.groupBy(parseMetrics(text), ({ name }) => name);
  }

  /** All samples of a metric; the prefix `gatehouse_` can be left out. */
  list(name: string): readonly Sample[] {
    return this.#byName.get(`gatehouse_${name}`) ?? this.#byName.get(name) ?? [];
  }

  /** The first value of a metric; 0 when there is no sample. */
  value(name: string): number {
    return this.list(name)[0]?.value ?? 0;
  }

  /** The sums for each value of a label, largest first. */
  sumBy(name: string, label: string): [string, number][] {
    const sums = new Map<string, number>();
    for (const { labels, value } of this.list(name)) {
      const key = labels[label] ?? "";
      sums.set(key, (sums.get(key) ?? 0) + value);
    }
    return [...sums].toSorted(([, a], [, b]) => b - a);
  }
}
