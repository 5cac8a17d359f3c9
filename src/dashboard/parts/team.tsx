// A team: its name in the reader's language, and its colour as a dot that only repeats the name.
import { Group, Text, useComputedColorScheme } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { isTeam, teamColour } from "../team-colours.ts";

/** Teams that the page does not know keep the name that the game gives them. */
export function useTeamName(): (team: string | undefined) => string {
  const { t } = useTranslation("map");
  return (team) => (!team ? t("facts.noTeam") : isTeam(team) ? t(`teams.${team}`) : team);
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
