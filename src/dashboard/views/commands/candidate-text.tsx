// A player as completions and confirmations show them: name, id and team, without buttons, so that a label can hold it.
import { Text } from "@mantine/core";
import { cutText, MarkedText } from "../../parts/text/game-text.tsx";
import { TeamDot, useTeamName } from "../../parts/text/team.tsx";
import type { Candidate } from "./targets.ts";

const NAME_MAX = 48;
const TEAM_MAX = 24;

export function CandidateText({ player }: { readonly player: Candidate }) {
  const nameOf = useTeamName();
  const { name, id, team } = player;
  return (
    <span className="candidate">
      <CutText text={name} max={NAME_MAX} isStrong />
      {id !== undefined && (
        <Text span size="sm" c="dimmed" className="numbers">
          {id}
        </Text>
      )}
      {team !== undefined && (
        <Text span size="sm" className="candidate-team">
          <TeamDot team={team} />
          <CutText text={nameOf(team)} max={TEAM_MAX} />
        </Text>
      )}
    </span>
  );
}

function CutText(props: { readonly text: string; readonly max: number; readonly isStrong?: boolean }) {
  const { text, isCut } = cutText(props.text, props.max);
  return (
    <Text span fw={props.isStrong ? 600 : undefined} inherit={!props.isStrong}>
      <bdi className="untrusted">
        <MarkedText text={text} />
        {isCut && "…"}
      </bdi>
    </Text>
  );
}
