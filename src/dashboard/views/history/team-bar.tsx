// Shows the time in teams as a bar: each team has a part as long as its share, in its colour.
import { type CSSProperties, useCallback } from "react";
import { markInvisible } from "../../parts/text/game-text.tsx";
import { useTeamName } from "../../parts/text/team.tsx";
import { teamColour } from "../../team-colours.ts";
import { sortTeams, usePresenceText } from "./presence-text.tsx";
import "./history.css";

type Teams = Readonly<Record<string, number>>;

/** More teams are in the text only. */
const PARTS_MAX = 8;

/** `text` says the same in words. */
export function TeamBar({ teams, text }: { readonly teams: Teams; readonly text: string }) {
  return (
    <span className="team-bar" role="img" aria-label={text} title={text}>
      {sortTeams(teams)
        .slice(0, PARTS_MAX)
        .map(([team, seconds]) => {
          // Both colours, because asking for the scheme in every row takes long.
          const colours = { "--light": teamColour(team, "light"), "--dark": teamColour(team, "dark") };
          return <span key={team} className="team-dot" style={{ ...colours, flexGrow: seconds } as CSSProperties} />;
        })}
    </span>
  );
}

/** The longest time first. */
export function useTeamTimesText(): (teams: Teams) => string {
  const nameTeam = useTeamName();
  const writePresence = usePresenceText();
  return useCallback(
    (teams) =>
      sortTeams(teams)
        .map(([team, seconds]) => `${markInvisible(nameTeam(team))} ${writePresence(seconds)}`)
        .join(", "),
    [nameTeam, writePresence],
  );
}
