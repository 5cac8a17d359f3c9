// Everybody on the server now.
import { memo, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../../core/sections.ts";
import type { Player } from "../../../core/wire/server-info.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { GameText } from "../../parts/game-text.tsx";
import { describePlace, StarsCell, usePermissionName } from "../../parts/player-facts.tsx";
import { CopyablePlayer, CopyableText } from "../../parts/player-name.tsx";
import { ServerStateGate } from "../../parts/states.tsx";
import type { ShownColumn, ShownFilter } from "../../parts/table-columns.ts";
import { TeamName, useTeamName, useTeamSearchText } from "../../parts/team.tsx";
import { type PlayerRef, parsePlayerRef } from "../../player-ref.ts";
import { useServerState } from "../../state/use-server-state.tsx";

const WANTED: readonly Section[] = ["Players"];
const SORTING = { column: "name", isDescending: false };
const NORMAL = "Normal";

type Row = Player & { readonly ref: PlayerRef };

export function PlayersNow() {
  const view = useServerState(WANTED, true);
  return (
    <ServerStateGate view={view}>
      {(state) => state.Players && <PlayerTable players={state.Players} />}
    </ServerStateGate>
  );
}

const PlayerTable = memo(function PlayerTable({ players }: { readonly players: readonly Player[] }) {
  const { t } = useTranslation("players");
  const rows = useMemo(
    () => players.map((player): Row => ({ ...player, ref: parsePlayerRef(player.Player) })),
    [players],
  );
  const namePermission = usePermissionName();
  const nameTeam = useTeamName();
  const searchTextOf = useTeamSearchText();

  const columns = useMemo(
    (): readonly ShownColumn<Row>[] => [
      {
        id: "name",
        title: t("column.name"),
        readValue: ({ ref }) => ref.name,
        cell: ({ ref }) => (ref.name === "" ? undefined : <CopyablePlayer player={ref} />),
      },
      {
        id: "id",
        title: t("column.id"),
        width: "9.5rem",
        phone: "tap",
        readValue: ({ ref }) => ref.id,
        cell: ({ ref }) => (ref.id === undefined ? undefined : <CopyableText text={ref.id} isNumber />),
      },
      {
        id: "team",
        title: t("column.team"),
        width: "11rem",
        phone: "side",
        readValue: ({ Team }) => searchTextOf(Team),
        cell: ({ Team }) => (Team ? <TeamName team={Team} /> : undefined),
      },
      {
        id: "callsign",
        title: t("column.callsign"),
        width: "8rem",
        readValue: ({ Callsign }) => Callsign ?? undefined,
        cell: ({ Callsign }) => (Callsign ? <GameText text={Callsign} max={16} /> : undefined),
      },
      {
        id: "permission",
        title: t("column.permission"),
        width: "10rem",
        readValue: ({ Permission }) => (Permission === undefined ? undefined : namePermission(Permission)),
        cell: ({ Permission }) =>
          !Permission || Permission === NORMAL ? undefined : (
            <GameText text={namePermission(Permission)} max={32} />
          ),
      },
      {
        id: "wanted",
        title: t("column.wanted"),
        width: "7rem",
        phone: "side",
        readValue: ({ WantedStars }) => (WantedStars ? WantedStars : undefined),
        cell: ({ WantedStars }) => (WantedStars ? <StarsCell count={WantedStars} /> : undefined),
      },
      {
        id: "place",
        title: t("column.place"),
        phone: "line",
        readValue: ({ Location: place }) => describePlace(place),
        cell: ({ Location: place }) => {
          const text = describePlace(place);
          return text === undefined ? undefined : <GameText text={text} />;
        },
      },
    ],
    [t, namePermission, searchTextOf],
  );
  const filters = useMemo(
    (): readonly ShownFilter<Row>[] => [
      { id: "team", label: t("column.team"), readValue: ({ Team }) => Team, nameOf: nameTeam },
      {
        id: "permission",
        label: t("column.permission"),
        readValue: ({ Permission }) => Permission,
        nameOf: namePermission,
      },
    ],
    [t, namePermission, nameTeam],
  );

  return (
    <DataTable
      label={t("title")}
      name="players"
      rows={rows}
      columns={columns}
      filters={filters}
      sorting={SORTING}
      keyOf={keyOfRow}
      emptyTitle={t("empty")}
    />
  );
});

function keyOfRow({ ref, Player: text }: Row): string {
  return ref.id ?? text ?? "";
}
