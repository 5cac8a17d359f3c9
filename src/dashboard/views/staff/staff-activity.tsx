// What the staff did in a period: how long they were there, in which teams, and how they answered.
import { Text } from "@mantine/core";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { StaffResource } from "../../../core/wire/history.ts";
import { GameText } from "../../parts/game-text.tsx";
import type { ShownColumn } from "../../parts/table-columns.ts";
import { useTeamName } from "../../parts/team.tsx";
import { useFormat } from "../../state/use-format.ts";
import { HistoryTable } from "../history/history-table.tsx";
import { makePlayerColumns } from "../history/player-columns.tsx";
import { sortTeams, useMedianText, usePresenceText } from "../history/presence-text.tsx";

const TEAMS_LENGTH_MAX = 300;
const SORTING = { column: "seconds", isDescending: true };

export function StaffActivity() {
  const { t } = useTranslation(["history", "staff"]);
  const format = useFormat();
  const writePresence = usePresenceText();
  const writeMedian = useMedianText();
  const nameTeam = useTeamName();
  const columns = useMemo((): readonly ShownColumn<StaffResource>[] => {
    const count = (
      id: "commands" | "answered",
      read: (row: StaffResource) => number,
    ): ShownColumn<StaffResource> => ({
      id,
      title: t(`staff.column.${id}`),
      width: "9.5rem",
      phone: "tap",
      readValue: read,
      cell: (row) =>
        read(row) === 0 ? undefined : <span className="numbers">{format.number(read(row))}</span>,
    });
    // Plain text, because a table cuts it where the column ends.
    const writeTeams = (teams: StaffResource["teams"]) =>
      sortTeams(teams)
        .map(([team, seconds]) => `${nameTeam(team)} ${writePresence(seconds)}`)
        .join(", ");
    return [
      ...makePlayerColumns<StaffResource>(t),
      {
        id: "seconds",
        title: t("staff.column.seconds"),
        width: "9rem",
        phone: "side",
        readValue: ({ seconds }) => seconds,
        cell: ({ seconds }) => <span className="numbers">{writePresence(seconds)}</span>,
      },
      {
        id: "teams",
        title: t("staff.column.teams"),
        phone: "line",
        readValue: ({ teams }) => writeTeams(teams),
        cell: ({ teams }) => {
          const text = writeTeams(teams);
          return text === "" ? undefined : <GameText text={text} max={TEAMS_LENGTH_MAX} />;
        },
      },
      count("commands", ({ commands }) => commands),
      count("answered", ({ modcalls_answered }) => modcalls_answered),
      {
        id: "median",
        title: t("staff.column.median"),
        width: "13rem",
        phone: "tap",
        readValue: ({ median_between }) => median_between?.[1],
        cell: ({ median_between }) => writeMedian(median_between),
      },
    ];
  }, [t, format, writePresence, writeMedian, nameTeam]);
  return (
    <>
      <HistoryTable
        question="staff"
        label={t("staff:activity")}
        columns={columns}
        sorting={SORTING}
        emptyTitle={t("staff.empty")}
      />
      <Text size="sm" c="dimmed">
        {t("staff.medianHint")}
      </Text>
    </>
  );
}
