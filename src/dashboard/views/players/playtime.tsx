// Who played most in a period.
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { PlaytimeResource } from "../../../core/wire/history.ts";
import { type ShownColumn, valueColumn } from "../../parts/table/table-columns.ts";
import { useFormat } from "../../state/time/use-format.ts";
import { HistoryTable, makePlayerColumns } from "../history/history-table.tsx";
import { usePresenceText } from "../history/presence-text.tsx";

const SORTING = { column: "seconds", isDescending: true };

export function Playtime() {
  const { t } = useTranslation(["history", "players"]);
  const format = useFormat();
  const writePresence = usePresenceText();
  const columns = useMemo(
    (): readonly ShownColumn<PlaytimeResource>[] => [
      ...makePlayerColumns<PlaytimeResource>(t),
      valueColumn("seconds", t("playtime.column.seconds"), {
        value: ({ seconds }) => seconds,
        show: (seconds) => <span className="numbers">{writePresence(seconds)}</span>,
        phone: "side",
        isNumber: true,
      }),
      valueColumn("sessions", t("playtime.column.sessions"), {
        value: ({ sessions }) => sessions,
        show: (sessions) => <span className="numbers">{format.number(sessions)}</span>,
        phone: "tap",
        isNumber: true,
      }),
    ],
    [t, format, writePresence],
  );
  return (
    <HistoryTable
      question="playtime"
      label={t("players:playtime")}
      columns={columns}
      sorting={SORTING}
      emptyTitle={t("playtime.empty")}
    />
  );
}
