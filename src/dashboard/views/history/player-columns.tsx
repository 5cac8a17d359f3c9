// The columns of a player in tables about the past: the name, which opens the drawer, and the id.
import type { TFunction } from "i18next";
import { CopyablePlayer, CopyableText } from "../../parts/player-name.tsx";
import type { ShownColumn } from "../../parts/table-columns.ts";
import { parsePlayerRef } from "../../player-ref.ts";

type Named = { readonly player: string; readonly id: string };

export function makePlayerColumns<Row extends Named>(t: TFunction<"history">): readonly ShownColumn<Row>[] {
  return [
    {
      id: "name",
      title: t("playtime.column.name"),
      readValue: ({ player }) => parsePlayerRef(player).name,
      cell: ({ player, id }) => <CopyablePlayer player={{ name: parsePlayerRef(player).name, id }} />,
    },
    {
      id: "id",
      title: t("playtime.column.id"),
      width: "9.5rem",
      phone: "tap",
      isHiddenAtFirst: true,
      readValue: ({ id }) => id,
      cell: ({ id }) => <CopyableText text={id} isNumber />,
    },
  ];
}
