// The staff now: administrators, moderators and helpers, and which of them are on the server.
import { Text } from "@mantine/core";
import { memo, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../../core/sections.ts";
import type { Player, Staff } from "../../../core/wire/server-info.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { CopyablePlayer, CopyableText } from "../../parts/player-name.tsx";
import { ServerStateGate } from "../../parts/states.tsx";
import type { ShownColumn, ShownFilter } from "../../parts/table-columns.ts";
import { TeamName, useTeamSearchText } from "../../parts/team.tsx";
import { parsePlayerRef } from "../../player-ref.ts";
import { useServerState } from "../../state/use-server-state.tsx";

const WANTED: readonly Section[] = ["Staff", "Players"];
const ROLES = ["Admins", "Mods", "Helpers"] as const;
const SORTING = { column: "role", isDescending: false };

type Role = (typeof ROLES)[number];
type Row = {
  readonly role: Role;
  readonly id: string;
  readonly name: string;
  /** Undefined when the key may not read the players. */
  readonly isHere: boolean | undefined;
  readonly team: string | undefined;
};

export function StaffNow() {
  const view = useServerState(WANTED);
  return (
    <ServerStateGate view={view}>
      {(state) => state.Staff && <StaffTable staff={state.Staff} players={state.Players} />}
    </ServerStateGate>
  );
}

const StaffTable = memo(function StaffTable(props: {
  readonly staff: Staff;
  readonly players: readonly Player[] | undefined;
}) {
  const { t } = useTranslation("staff");
  const { staff, players } = props;
  const rows = useMemo(() => listRows(staff, players), [staff, players]);
  const knowsPlayers = players !== undefined;
  const searchTextOf = useTeamSearchText();

  const columns = useMemo((): readonly ShownColumn<Row>[] => {
    const always: readonly ShownColumn<Row>[] = [
      {
        id: "name",
        title: t("column.name"),
        readValue: ({ name }) => name,
        cell: ({ name, id }) => (name === "" ? undefined : <CopyablePlayer player={{ name, id }} />),
      },
      {
        id: "id",
        title: t("column.id"),
        phone: "tap",
        readValue: ({ id }) => id,
        cell: ({ id }) => <CopyableText text={id} isNumber />,
      },
      {
        id: "role",
        title: t("column.role"),
        phone: "line",
        // Sorted by rank; the name is added for the search.
        readValue: ({ role }) => `${ROLES.indexOf(role)} ${t(`role.${role}`)}`,
        cell: ({ role }) => (
          <Text size="sm" component="span">
            {t(`role.${role}`)}
          </Text>
        ),
      },
    ];
    if (!knowsPlayers) return always;
    return [
      ...always,
      {
        id: "here",
        title: t("column.here"),
        phone: "line",
        readValue: ({ isHere, team }) =>
          `${isHere ? 0 : 1} ${t(isHere ? "here" : "away")} ${searchTextOf(team) ?? ""}`,
        cell: ({ isHere, team }) =>
          isHere ? (
            <span className="team-name">
              {t("here")}
              {team !== undefined && <TeamName team={team} />}
            </span>
          ) : (
            <Text size="sm" component="span" c="dimmed">
              {t("away")}
            </Text>
          ),
      },
    ];
  }, [t, knowsPlayers, searchTextOf]);
  const filters = useMemo((): readonly ShownFilter<Row>[] => {
    const role: ShownFilter<Row> = {
      id: "role",
      label: t("column.role"),
      readValue: (row) => row.role,
      nameOf: (option) => t(`role.${option as Role}`),
    };
    const here: ShownFilter<Row> = {
      id: "here",
      label: t("column.here"),
      readValue: ({ isHere }) => (isHere ? "here" : "away"),
      nameOf: (option) => t(option === "here" ? "here" : "away"),
    };
    return knowsPlayers ? [role, here] : [role];
  }, [t, knowsPlayers]);

  return (
    <DataTable
      label={t("title")}
      name="staff"
      rows={rows}
      columns={columns}
      filters={filters}
      sorting={SORTING}
      keyOf={keyOfRow}
      emptyTitle={t("empty")}
    />
  );
});

function keyOfRow({ role, id }: Row): string {
  return `${role} ${id}`;
}

function listRows(staff: Staff, players: readonly Player[] | undefined): readonly Row[] {
  const here = new Map(players?.map(({ Player: text, Team }) => [parsePlayerRef(text).id, Team]));
  return ROLES.flatMap((role) =>
    Object.entries(staff[role] ?? {}).map(([id, name]) => ({
      role,
      id,
      name,
      isHere: players && here.has(id),
      team: here.get(id),
    })),
  );
}
