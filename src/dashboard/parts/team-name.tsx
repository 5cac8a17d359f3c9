// A team with its colour. The colour only repeats what the name says.
import { useComputedColorScheme } from "@mantine/core";
import { teamColour } from "../team-colours.ts";
import { GameText } from "./game-text.tsx";

export function TeamName({ team }: { readonly team: string }) {
  const scheme = useComputedColorScheme("light");
  return (
    <span className="team-name">
      <span className="team-dot" style={{ background: teamColour(team, scheme) }} aria-hidden />
      <GameText text={team} max={24} />
    </span>
  );
}
