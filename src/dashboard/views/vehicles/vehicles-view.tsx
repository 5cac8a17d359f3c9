// The view "vehicles": every vehicle on the server, with its colour as a swatch.
import { memo, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../../core/sections.ts";
import type { Player, Vehicle as RelayedVehicle } from "../../../core/wire/server-info.ts";
import { ServerStateGate } from "../../parts/states.tsx";
import { DataTable } from "../../parts/table/data-table.tsx";
import { type ShownColumn, type ShownFilter, valueColumn } from "../../parts/table/table-columns.ts";
import { GameText } from "../../parts/text/game-text.tsx";
import { CopyablePlayer, CopyableText } from "../../parts/text/player-name.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { findPlayerByName } from "../../player-ref.ts";
import { useServerState } from "../../state/server/use-server-state.tsx";

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
    <ViewPage title={t("title")}>
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
    const plate = valueColumn("plate", t("column.plate"), {
      value: plateOf,
      show: (text) => <CopyableText text={text} />,
      width: "9rem",
      phone: "side",
    });
    return [
      valueColumn("name", t("column.name"), {
        value: ({ Name }) => Name,
        show: (name) => <CopyableText text={name} isStrong />,
      }),
      valueColumn("owner", t("column.owner"), {
        value: ({ Owner }) => Owner,
        show: (owner) => <CopyablePlayer player={findPlayerByName(owner, players)} />,
      }),
      ...(hasPlates ? [plate] : []),
      valueColumn("texture", t("column.texture"), {
        value: ({ Texture }) => Texture,
        show: (texture) => <GameText text={texture} max={24} />,
        width: "9rem",
        phone: "tap",
      }),
      valueColumn("colour", t("column.colour"), {
        value: ({ ColorName, ColorHex }) => [ColorName, ColorHex].filter(Boolean).join(" "),
        show: (_, { ColorName, ColorHex }) => <Colour name={ColorName ?? ""} hex={ColorHex ?? ""} />,
        phone: "side",
      }),
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
