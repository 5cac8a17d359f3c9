// The view "calls": the calls for a moderator that wait, those that were answered, and the emergency calls.
import { Stack, Text, Title } from "@mantine/core";
import { memo, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../core/sections.ts";
import type { EmergencyCall } from "../api/caller.ts";
import type { Id } from "../api/exact-json.ts";
import { DataTable } from "../parts/data-table.tsx";
import { GameText } from "../parts/game-text.tsx";
import { Moment, NowProvider } from "../parts/moment.tsx";
import { PlayerName } from "../parts/player-name.tsx";
import { ServerStateGate } from "../parts/states.tsx";
import type { ShownColumn, ShownFilter } from "../parts/table-columns.ts";
import { TeamName, useTeamName, useTeamSearchText } from "../parts/team.tsx";
import { ViewPage } from "../parts/view-page.tsx";
import { mapPlayerNames, type PlayerNames } from "../player-ref.ts";
import { useCallGroups } from "../state/use-mod-calls.tsx";
import { useServerState } from "../state/use-server-state.tsx";
import { AnsweredCalls } from "./calls/answered-calls.tsx";
import { WaitingCalls } from "./calls/waiting-calls.tsx";

const WANTED: readonly Section[] = ["EmergencyCalls", "ModCalls", "Players"];
const NEWEST_FIRST = { column: "time", isDescending: true };
const PARTICIPANTS_MAX = 5;

export function CallsView() {
  const { t } = useTranslation("calls");
  const view = useServerState(WANTED);
  const groups = useCallGroups();
  const players = view.state?.Players;
  const names = useMemo(() => mapPlayerNames(players), [players]);
  return (
    <ViewPage title={t("title")} summary={t("summary")}>
      <ServerStateGate view={view}>
        {(state) => (
          <NowProvider>
            {groups && (
              <>
                <WaitingCalls groups={groups} players={players} hasSeeAll />
                <AnsweredCalls calls={groups.answered} />
              </>
            )}
            {state.EmergencyCalls && (
              <Stack component="section" gap="sm" aria-label={t("emergency.title")}>
                <Title order={2} size="h3">
                  {t("emergency.title")}
                </Title>
                <EmergencyTable calls={state.EmergencyCalls} names={names} />
              </Stack>
            )}
          </NowProvider>
        )}
      </ServerStateGate>
    </ViewPage>
  );
}

const EmergencyTable = memo(function EmergencyTable(props: {
  readonly calls: readonly EmergencyCall[];
  readonly names: PlayerNames;
}) {
  const { t } = useTranslation("calls");
  const { calls, names } = props;
  const nameTeam = useTeamName();
  const searchTextOf = useTeamSearchText();
  const columns = useMemo(
    (): readonly ShownColumn<EmergencyCall>[] => [
      {
        id: "number",
        title: t("column.number"),
        readValue: ({ CallNumber }) => CallNumber,
        cell: ({ CallNumber }) =>
          CallNumber === undefined ? undefined : (
            <Text component="span" size="sm" fw={600} className="numbers">
              {t("number", { n: CallNumber })}
            </Text>
          ),
      },
      {
        id: "team",
        title: t("column.team"),
        readValue: ({ Team }) => searchTextOf(Team),
        cell: ({ Team }) => (Team ? <TeamName team={Team} /> : undefined),
      },
      {
        id: "description",
        title: t("column.description"),
        readValue: ({ Description }) => Description,
        cell: ({ Description }) => (Description ? <GameText text={Description} max={120} /> : undefined),
      },
      {
        id: "place",
        title: t("column.place"),
        readValue: (call) => [call.PositionDescriptor, describePosition(call)].filter(Boolean).join(" "),
        cell: (call) => (call.PositionDescriptor || call.Position ? <Place call={call} /> : undefined),
      },
      {
        id: "caller",
        title: t("column.caller"),
        readValue: ({ Caller }) => nameOf(Caller, names),
        cell: ({ Caller }) =>
          Caller === undefined || Caller === null ? undefined : <PlayerById id={Caller} names={names} />,
      },
      {
        id: "players",
        title: t("column.players"),
        readValue: ({ Players }) => Players?.map((id) => nameOf(id, names)).join(" "),
        cell: ({ Players }) =>
          Players && Players.length > 0 ? <Participants ids={Players} names={names} /> : undefined,
      },
      {
        id: "time",
        title: t("column.started"),
        readValue: ({ StartedAt }) => StartedAt,
        cell: ({ StartedAt }) => (StartedAt === undefined ? undefined : <Moment seconds={StartedAt} />),
      },
    ],
    [t, names, searchTextOf],
  );
  const filters = useMemo(
    (): readonly ShownFilter<EmergencyCall>[] => [
      { id: "team", label: t("column.team"), readValue: ({ Team }) => Team, nameOf: nameTeam },
    ],
    [t, nameTeam],
  );
  return (
    <DataTable
      label={t("emergency.title")}
      rows={calls}
      columns={columns}
      filters={filters}
      sorting={NEWEST_FIRST}
      keyOf={keyOfEmergency}
      emptyTitle={t("emergency.empty")}
    />
  );
});

/** Two teams can have the same call number. */
function keyOfEmergency({ Team, CallNumber, StartedAt }: EmergencyCall): string {
  return `${Team} ${CallNumber} ${StartedAt}`;
}

function nameOf(id: Id | null | undefined, names: PlayerNames): string | undefined {
  if (id === undefined || id === null) return undefined;
  return [names.get(String(id)), id].filter((part) => part !== undefined).join(" ");
}

function PlayerById({ id, names }: { readonly id: Id; readonly names: PlayerNames }) {
  const { t } = useTranslation("calls");
  return <PlayerName name={names.get(String(id)) ?? ""} id={String(id)} unknown={t("notHere")} />;
}

function Participants({ ids, names }: { readonly ids: readonly Id[]; readonly names: PlayerNames }) {
  const { t } = useTranslation("calls");
  const left = ids.length - PARTICIPANTS_MAX;
  return (
    <ul className="plain-list">
      {ids.slice(0, PARTICIPANTS_MAX).map((id, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the game may list a player twice
        <li key={index}>
          <PlayerById id={id} names={names} />
        </li>
      ))}
      {left > 0 && <li>{t("andMore", { n: left })}</li>}
    </ul>
  );
}

function describePosition({ Position }: EmergencyCall): string | undefined {
  if (!Array.isArray(Position)) return undefined;
  return Position.slice(0, 2)
    .map((part) => Math.round(Number(part)))
    .join(", ");
}

function Place({ call }: { readonly call: EmergencyCall }) {
  const position = describePosition(call);
  return (
    <span>
      {call.PositionDescriptor && <GameText text={call.PositionDescriptor} />}{" "}
      {position !== undefined && (
        <Text component="span" size="xs" c="dimmed" className="moment numbers">
          ({position})
        </Text>
      )}
    </span>
  );
}
