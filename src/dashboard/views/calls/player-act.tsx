// The commands for a player below a row of a list, as in the player's drawer.
import { Box } from "@mantine/core";
import { useMemo } from "react";
import type { Section } from "../../../core/sections.ts";
import { player as en } from "../../locales/en/player.ts";
import { player as ru } from "../../locales/ru/player.ts";
import { addTexts } from "../../locales/translation.ts";
import { type PlayerRef, parsePlayerRef } from "../../player-ref.ts";
import { useServerState } from "../../state/server/use-server-state.tsx";
import { PlayerActions } from "../player/player-actions.tsx";

addTexts({ en: { player: en }, ru: { player: ru } });

const PLAYERS: readonly Section[] = ["Players"];

export function PlayerAct({ player }: { readonly player: PlayerRef }) {
  const { state, condition } = useServerState(PLAYERS);
  const players = state?.Players;
  const here = useMemo(() => players?.map(({ Player }) => parsePlayerRef(Player)), [players]);
  const { id, name } = player;
  if (id === undefined) return null;
  const index = here?.findIndex((other) => other.id === id) ?? -1;
  return (
    <Box className="player-act">
      <PlayerActions
        player={{ id, name }}
        presence={here ? (index < 0 ? "away" : "here") : "unknown"}
        team={players?.[index]?.Team}
        // An old reading does not tell who else is there now.
        here={condition === "ok" ? here : undefined}
      />
    </Box>
  );
}
