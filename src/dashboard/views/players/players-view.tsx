// The view "players": everybody on the server, and who played most in a period.

import { memo, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../../core/sections.ts";
import type { Player } from "../../../core/wire/server-info.ts";
import { ServerStateGate } from "../../parts/states.tsx";
import { DataTable } from "../../parts/table/data-table.tsx";
import { type ShownColumn, type ShownFilter, valueColumn } from "../../parts/table/table-columns.ts";
import { GameText } from "../../parts/text/game-text.tsx";
import {
  CopyablePlayer,
  CopyableText,
  describePlace,
  StarsCell,
  usePermissionName,
} from "../../parts/text/player-name.tsx";
import { TeamName, useTeamName, useTeamSearchText } from "../../parts/text/team.tsx";
import { SplitView } from "../../parts/view-page.tsx";
import { type PlayerRef, parsePlayerRef } from "../../player-ref.ts";
import { useServerState } from "../../state/server/use-server-state.tsx";
import { SeenBefore } from "./seen-before.tsx";

const loadPlaytime = async () => (await import("../plots/pages.ts")).Playtime;

export function PlayersView() {
  const { t } = useTranslation("players");
  return (
    <SplitView
      name="players"
      title={t("title")}
      now={{ content: <PlayersNow /> }}
      past={{ name: "playtime", title: t("playtime"), load: loadPlaytime }}
    />
  );
}

const WANTED: readonly Section[] = ["Players"];
const SORTING = { column: "name", isDescending: false };
const NORMAL = "Normal";

type Row = Player & { readonly ref: PlayerRef };

export function PlayersNow() {
  const view = useServerState(WANTED, true);
  return (
    <ServerStateGate view={view}>{(state) => state.Players && <PlayerTable players={state.Players} />}</ServerStateGate>
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
      valueColumn("name", t("column.name"), {
        value: ({ ref }) => ref.name,
        show: (_, { ref }) => <CopyablePlayer player={ref} />,
      }),
      valueColumn("id", t("column.id"), {
        value: ({ ref }) => ref.id,
        show: (id) => <CopyableText text={id} isNumber />,
        width: "9.5rem",
        phone: "tap",
      }),
      valueColumn("team", t("column.team"), {
        value: ({ Team }) => searchTextOf(Team),
        show: (_, { Team = "" }) => <TeamName team={Team} />,
        width: "9.5rem",
        phone: "side",
      }),
      valueColumn("callsign", t("column.callsign"), {
        value: ({ Callsign }) => Callsign,
        show: (callsign) => <GameText text={callsign} max={16} />,
        width: "6.8rem",
      }),
      valueColumn("permission", t("column.permission"), {
        value: ({ Permission }) => Permission && namePermission(Permission),
        show: (name, { Permission }) => (Permission === NORMAL ? undefined : <GameText text={name} max={32} />),
        width: "8.5rem",
      }),
      valueColumn("wanted", t("column.wanted"), {
        value: ({ WantedStars }) => WantedStars || undefined,
        show: (count) => <StarsCell count={count} />,
        width: "5.8rem",
        phone: "side",
      }),
      valueColumn("place", t("column.place"), {
        value: ({ Location: place }) => describePlace(place),
        show: (text) => <GameText text={text} />,
        phone: "line",
      }),
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
      below={(search) => <SeenBefore search={search} />}
    />
  );
});

function keyOfRow({ ref, Player: text }: Row): string {
  return ref.id ?? text ?? "";
}
