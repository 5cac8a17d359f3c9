// The view "vehicles": every vehicle on the server, with its colour as a swatch.
import { memo, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../core/sections.ts";
import type { Player, Vehicle as RelayedVehicle } from "../../core/wire/server-info.ts";
import { DataTable } from "../parts/data-table.tsx";
import { GameText } from "../parts/game-text.tsx";
import { CopyablePlayer, CopyableText } from "../parts/player-name.tsx";
import { ServerStateGate } from "../parts/states.tsx";
import type { ShownColumn, ShownFilter } from "../parts/table-columns.ts";
import { ViewPage } from "../parts/view-page.tsx";
import { findPlayerByName } from "../player-ref.ts";
import { useServerState } from "../state/use-server-state.tsx";

const WANTED: readonly Section[] = ["Vehicles"];
/** Asked for apart: without the right to it the view is still complete. */
const FOR_OWNERS: readonly Section[] = ["Players"];
const SORTING = { column: "name", isDescending: false };
const COLOUR_SHAPE = /^#[0-9a-f]{6}$/i;

/** The specification has no plate; Gatehouse passes it on when the operator allows unknown fields. */
type Vehicle = RelayedVehicle & { readonly Plate?: unknown };

export function VehiclesView() {
  const { t } = useTranslation("vehicles");
  const view = useServerState(WANTED);
  const players = useServerState(FOR_OWNERS).state?.Players;
  return (
    <ViewPage title={t("title")} summary={t("summary")}>
      <ServerStateGate view={view}>
        {(state) => state.Vehicles && <VehicleTable vehicles={state.Vehicles} players={players} />}
      </ServerStateGate>
    </ViewPage>
  );
}

const VehicleTable = memo(function VehicleTable(props: {
  readonly vehicles: readonly Vehicle[];
  readonly players: readonly Player[] | undefined;
}) {
  const { t } = useTranslation("vehicles");
  const { vehicles, players } = props;
  const hasPlates = vehicles.some((vehicle) => plateOf(vehicle) !== undefined);
  const columns = useMemo((): readonly ShownColumn<Vehicle>[] => {
    const plate: ShownColumn<Vehicle> = {
      id: "plate",
      title: t("column.plate"),
      width: "9rem",
      phone: "side",
      readValue: plateOf,
      cell: (vehicle) => {
        const text = plateOf(vehicle);
        return text === undefined ? undefined : <CopyableText text={text} />;
      },
    };
    return [
      {
        id: "name",
        title: t("column.name"),
        readValue: ({ Name }) => Name,
        cell: ({ Name }) => (Name ? <CopyableText text={Name} isStrong /> : undefined),
      },
      {
        id: "owner",
        title: t("column.owner"),
        readValue: ({ Owner }) => Owner,
        cell: ({ Owner }) =>
          Owner ? <CopyablePlayer player={findPlayerByName(Owner, players)} /> : undefined,
      },
      ...(hasPlates ? [plate] : []),
      {
        id: "texture",
        title: t("column.texture"),
        width: "9rem",
        phone: "tap",
        readValue: ({ Texture }) => Texture ?? undefined,
        cell: ({ Texture }) => (Texture ? <GameText text={Texture} max={24} /> : undefined),
      },
      {
        id: "colour",
        title: t("column.colour"),
        phone: "side",
        readValue: ({ ColorName, ColorHex }) => [ColorName, ColorHex].filter(Boolean).join(" "),
        cell: ({ ColorName, ColorHex }) =>
          ColorName || ColorHex ? <Colour name={ColorName ?? ""} hex={ColorHex ?? ""} /> : undefined,
      },
    ];
  }, [t, hasPlates, players]);
  const filters = useMemo(
    (): readonly ShownFilter<Vehicle>[] => [
      { id: "name", label: t("column.name"), readValue: ({ Name }) => Name },
      { id: "colour", label: t("column.colour"), readValue: ({ ColorName }) => ColorName },
    ],
    [t],
  );
  return (
    <DataTable
      label={t("title")}
      name="vehicles"
      rows={vehicles}
      columns={columns}
      filters={filters}
      sorting={SORTING}
      keyOf={keyOfVehicle}
      emptyTitle={t("empty")}
    />
  );
});

function keyOfVehicle(vehicle: Vehicle): string {
  return `${vehicle.Owner} ${vehicle.Name} ${plateOf(vehicle)}`;
}

function plateOf({ Plate }: Vehicle): string | undefined {
  return typeof Plate === "string" && Plate !== "" ? Plate : undefined;
}

/** Only a valid colour is used as a style. */
function Colour({ name, hex }: { readonly name: string; readonly hex: string }) {
  return (
    <span className="team-name">
      {COLOUR_SHAPE.test(hex) && <span className="swatch" style={{ background: hex }} aria-hidden />}
      {name !== "" && <GameText text={name} max={24} />}
      {hex !== "" && (
        <span className="colour-hex">
          <GameText text={hex} max={12} />
        </span>
      )}
    </span>
  );
}
