// The calls for a moderator that were answered: by whom, and after how long as far as the ledger knows it.
import { Stack, Text, Title } from "@mantine/core";
import { memo, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { ModCall } from "../../../core/wire/server-info.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { Moment } from "../../parts/moment.tsx";
import { PlayerName } from "../../parts/player-name.tsx";
import type { ShownColumn } from "../../parts/table-columns.ts";
import { useExactDuration } from "../../parts/waiting-time.tsx";
import { parsePlayerRef } from "../../player-ref.ts";
import { type AnswerBounds, keyOfCall, listAnswerBounds } from "../../state/mod-calls.ts";
import { useLedger } from "../../state/use-ledger.ts";

const NEWEST_FIRST = { column: "time", isDescending: true };

export const AnsweredCalls = memo(function AnsweredCalls({ calls }: { readonly calls: readonly ModCall[] }) {
  const { t } = useTranslation("calls");
  const { list } = useLedger({ types: "modcall.answered", isEnabled: calls.length > 0 });
  const bounds = useMemo(() => listAnswerBounds(list?.events ?? []), [list?.events]);
  const columns = useMemo(
    (): readonly ShownColumn<ModCall>[] => [
      {
        id: "caller",
        title: t("column.caller"),
        readValue: ({ Caller }) => Caller,
        cell: ({ Caller }) => (Caller ? <PlayerName {...parsePlayerRef(Caller)} /> : undefined),
      },
      {
        id: "moderator",
        title: t("column.moderator"),
        readValue: ({ Moderator }) => Moderator ?? undefined,
        cell: ({ Moderator }) => (Moderator ? <PlayerName {...parsePlayerRef(Moderator)} /> : undefined),
      },
      {
        id: "after",
        title: t("moderator.after"),
        readValue: (call) => bounds.get(keyOfCall(call))?.toMs,
        cell: (call) => {
          const found = bounds.get(keyOfCall(call));
          return found && <AnswerTime bounds={found} />;
        },
      },
      {
        id: "time",
        title: t("column.time"),
        readValue: ({ Timestamp }) => Timestamp,
        cell: ({ Timestamp }) => (Timestamp === undefined ? undefined : <Moment seconds={Timestamp} />),
      },
    ],
    [t, bounds],
  );
  if (calls.length === 0) {
    return (
      <Text c="dimmed" size="sm">
        {t("moderator.answeredNone")}
      </Text>
    );
  }
  return (
    <Stack component="section" gap="sm" aria-label={t("moderator.answered")}>
      <Title order={2} size="h3">
        {t("moderator.answered")}
      </Title>
      <DataTable
        label={t("moderator.answered")}
        rows={calls}
        columns={columns}
        sorting={NEWEST_FIRST}
        keyOf={keyOfCall}
        emptyTitle={t("moderator.answeredNone")}
      />
    </Stack>
  );
});

function AnswerTime({ bounds }: { readonly bounds: AnswerBounds }) {
  const { t } = useTranslation("calls");
  const write = useExactDuration();
  const from = write(bounds.fromMs, "down");
  const to = write(bounds.toMs, "up");
  const text =
    from === to
      ? to
      : bounds.fromMs === 0
        ? t("moderator.within", { to })
        : t("moderator.between", { from, to });
  return (
    <Text component="span" size="sm" className="moment numbers" title={t("moderator.afterHint")}>
      {text}
    </Text>
  );
}
