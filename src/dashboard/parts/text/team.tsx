// Shows a team: its name in the user's language, and its colour as a dot.
import { Group, Text, useComputedColorScheme } from "@mantine/core";
import { type CSSProperties, useCallback } from "react";
import { useTranslation } from "react-i18next";
import { isTeam, teamColour } from "../../team-colours.ts";
import { GameText } from "./game-text.tsx";

/** An unknown team keeps the name that the game gives it. */
export function useTeamName(): (team: string | undefined) => string {
  const { t } = useTranslation("map");
  return useCallback((team) => (!team ? t("facts.noTeam") : isTeam(team) ? t(`teams.${team}`) : team), [t]);
}

/** The text to sort and search a team by: the name that is shown, then the name of the game, which players know too. */
export function useTeamSearchText(): (team: string | undefined) => string | undefined {
  const nameOf = useTeamName();
  return useCallback(
    (team) => {
      const name = team && nameOf(team);
      return name === team ? team : `${name} ${team}`;
    },
    [nameOf],
  );
}

export function TeamDot({ team }: { readonly team: string | undefined }) {
  const scheme = useComputedColorScheme("light");
  return <span className="status-dot" style={{ background: teamColour(team ?? "", scheme) }} aria-hidden />;
}

export function TeamLabel({ team }: { readonly team: string | undefined }) {
  const nameOf = useTeamName();
  return (
    <Group gap={6} wrap="nowrap" component="span" display="inline-flex" miw={0}>
      <TeamDot team={team} />
      <Text span inherit className="untrusted" lineClamp={1}>
        {nameOf(team)}
      </Text>
    </Group>
  );
}

/** For tables: long names are cut and invisible characters are marked. */
export function TeamName({ team }: { readonly team: string }) {
  const nameOf = useTeamName();
  // Both colours, because asking for the scheme in every row takes long.
  const colours = { "--light": teamColour(team, "light"), "--dark": teamColour(team, "dark") };
  return (
    <span className="team-name">
      <span className="team-dot" style={colours as CSSProperties} aria-hidden />
      <GameText text={nameOf(team)} max={24} />
    </span>
  );
}
