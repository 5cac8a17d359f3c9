// Who played most in a period.
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { PlaytimeResource } from "../../../core/wire/history.ts";
import type { ShownColumn } from "../../parts/table-columns.ts";
import { useFormat } from "../../state/use-format.ts";
import { HistoryTable } from "../history/history-table.tsx";
import { makePlayerColumns } from "../history/player-columns.tsx";
import { usePresenceText } from "../history/presence-text.tsx";

const SORTING = { column: "seconds", isDescending: true };

export function Playtime() {
  const { t } = useTranslation(["history", "players"]);
  const format = useFormat();
  const writePresence = usePresenceText();
  const columns = useMemo(
    (): readonly ShownColumn<PlaytimeResource>[] => [
      ...makePlayerColumns<PlaytimeResource>(t),
      {
        id: "seconds",
        title: t("playtime.column.seconds"),
        phone: "side",
        readValue: ({ seconds }) => seconds,
        cell: ({ seconds }) => <span className="numbers">{writePresence(seconds)}</span>,
      },
      {
        id: "sessions",
        title: t("playtime.column.sessions"),
        phone: "tap",
        readValue: ({ sessions }) => sessions,
        cell: ({ sessions }) => <span className="numbers">{format.number(sessions)}</span>,
      },
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
