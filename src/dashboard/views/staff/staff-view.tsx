// The view "staff": who they are and which of them are on the server, and what they did in a period.

import { memo, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../../core/sections.ts";
import type { Player, Staff } from "../../../core/wire/server-info.ts";
import { ServerStateGate } from "../../parts/states.tsx";
import { DataTable } from "../../parts/table/data-table.tsx";
import { type ShownColumn, type ShownFilter, valueColumn } from "../../parts/table/table-columns.ts";
import { Note, Small } from "../../parts/text/plain-text.tsx";
import { CopyablePlayer, CopyableText } from "../../parts/text/player-name.tsx";
import { TeamName, useTeamSearchText } from "../../parts/text/team.tsx";
import { SplitView } from "../../parts/view-page.tsx";
import { parsePlayerRef } from "../../player-ref.ts";
import { useServerState } from "../../state/server/use-server-state.tsx";

const loadActivity = async () => (await import("../plots/pages.ts")).StaffActivity;

export function StaffView() {
  const { t } = useTranslation("staff");
  return (
    <SplitView
      name="staff"
      title={t("title")}
      now={{ content: <StaffNow /> }}
      past={{ name: "activity", title: t("activity"), load: loadActivity }}
    />
  );
}

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
      valueColumn("name", t("column.name"), {
        value: ({ name }) => name,
        show: (name, { id }) => <CopyablePlayer player={{ name, id }} />,
      }),
      valueColumn("id", t("column.id"), {
        value: ({ id }) => id,
        show: (id) => <CopyableText text={id} isNumber />,
        phone: "tap",
      }),
      valueColumn("role", t("column.role"), {
        // Sorted by rank; the name is added for the search.
        value: ({ role }) => `${ROLES.indexOf(role)} ${t(`role.${role}`)}`,
        show: (_, { role }) => <Small>{t(`role.${role}`)}</Small>,
        phone: "line",
      }),
    ];
    if (!knowsPlayers) return always;
    return [
      ...always,
      valueColumn("here", t("column.here"), {
        value: ({ isHere, team }) => `${isHere ? 0 : 1} ${t(isHere ? "here" : "away")} ${searchTextOf(team) ?? ""}`,
        show: (_, { isHere, team }) =>
          isHere ? (
            <span className="team-name">
              {t("here")} {team !== undefined && <TeamName team={team} />}
            </span>
          ) : (
            <Note span>{t("away")}</Note>
          ),
        phone: "line",
      }),
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
