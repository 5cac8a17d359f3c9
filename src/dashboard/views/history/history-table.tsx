// A list about the past as a table, with its period, its downloads, and what there is instead of it.
import { Alert, Button, Group, Stack } from "@mantine/core";
import type { TFunction } from "i18next";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { HistoryAnswers, HistoryList } from "../../api/caller.ts";
import { Icon } from "../../parts/icon.tsx";
import { FailedState, ForbiddenNotice, LoadingState, Notice } from "../../parts/states.tsx";
import { DataTable } from "../../parts/table/data-table.tsx";
import { type ShownColumn, valueColumn } from "../../parts/table/table-columns.ts";
import type { Sorting } from "../../parts/table/table-rows.ts";
import { CopyablePlayer, CopyableText } from "../../parts/text/player-name.tsx";
import { parsePlayerRef } from "../../player-ref.ts";
import type { PeriodChoice } from "../../state/history/period.ts";
import { type HistoryProblem, useHistoryList, useHistoryProblem, useMayAsk } from "../../state/history/use-history.ts";
import { ExportButtons } from "./export-buttons.tsx";
import { PeriodField } from "./period-field.tsx";

const OFFERED = ["today", "week", "month"] as const;

type RankingList = Exclude<HistoryList, "sessions">;
type Item<Q extends RankingList> = HistoryAnswers[Q]["items"][number];

export function HistoryTable<Q extends RankingList>(props: {
  readonly question: Q;
  readonly label: string;
  readonly columns: readonly ShownColumn<Item<Q>>[];
  readonly sorting: Sorting;
  readonly emptyTitle: string;
}) {
  const [choice, setChoice] = useState<PeriodChoice>({ name: "week" });
  const { question } = props;
  const mayAsk = useMayAsk(question);
  const list = useHistoryList(question, choice, { isEnabled: mayAsk });
  const problem = useHistoryProblem(question, list.error);
  if (problem?.kind === "forbidden" || problem?.kind === "off") {
    return <HistoryProblemNotice problem={problem} onRetry={list.refresh} />;
  }
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-start">
        <PeriodField offered={OFFERED} choice={choice} onChange={setChoice} />
        <ExportButtons spec={list.period && { question, period: list.period }} />
      </Group>
      {list.value ? (
        <Rows {...props} list={{ ...list, value: list.value }} hasProblem={problem !== undefined} />
      ) : problem ? (
        <HistoryProblemNotice problem={problem} onRetry={list.refresh} />
      ) : (
        <LoadingState />
      )}
    </Stack>
  );
}

function Rows<Q extends RankingList>(
  props: Parameters<typeof HistoryTable<Q>>[0] & {
    readonly list: ReturnType<typeof useHistoryList<Q>> & { readonly value: readonly Item<Q>[] };
    readonly hasProblem: boolean;
  },
) {
  const { t } = useTranslation("history");
  const { list, hasProblem, question, ...table } = props;
  return (
    <Stack gap="sm">
      {hasProblem && <Alert color="orange" title={t("problem.stale")} icon={<Icon name="warning" />} />}
      <DataTable
        {...table}
        name={`history-${question}`}
        rows={list.value}
        isPart={list.hasMore}
        keyOf={({ id }) => id}
      />
      {list.hasMore && (
        <Group justify="center">
          <Button variant="default" loading={list.isLoadingMore} onClick={list.loadMore}>
            {t("playtime.more")}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

export function HistoryProblemNotice(props: { readonly problem: HistoryProblem; readonly onRetry: () => void }) {
  const { t } = useTranslation("history");
  const { problem, onRetry } = props;
  if (problem.kind === "forbidden") return <ForbiddenNotice sections={problem.sections} />;
  if (problem.kind === "failed") return <FailedState error={problem.error} onRetry={onRetry} />;
  return (
    <Notice icon={problem.kind === "off" ? "empty" : "warning"} title={t(`problem.${problem.kind}`)}>
      {t(problem.kind === "off" ? "problem.offText" : "problem.awayText")}
    </Notice>
  );
}

type Named = { readonly player: string; readonly id: string };

export function makePlayerColumns<Row extends Named>(t: TFunction<"history">): readonly ShownColumn<Row>[] {
  return [
    {
      id: "name",
      title: t("playtime.column.name"),
      readValue: ({ player }) => parsePlayerRef(player).name,
      cell: ({ player, id }) => <CopyablePlayer player={{ name: parsePlayerRef(player).name, id }} />,
    },
    valueColumn("id", t("playtime.column.id"), {
      value: ({ id }) => id,
      show: (id) => <CopyableText text={id} isNumber />,
      width: "9.5rem",
      phone: "tap",
      isHiddenAtFirst: true,
    }),
  ];
}
