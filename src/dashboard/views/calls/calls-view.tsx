// The view "calls": the calls for a moderator that wait, those that were answered, and the emergency calls.
import { Stack, Text } from "@mantine/core";
import { memo, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../../core/sections.ts";
import type { ModCall } from "../../../core/wire/server-info.ts";
import type { EmergencyCall } from "../../api/caller.ts";
import type { Id } from "../../api/exact-json.ts";
import { ServerStateGate } from "../../parts/states.tsx";
import { DataTable } from "../../parts/table/data-table.tsx";
import { type ShownColumn, type ShownFilter, valueColumn } from "../../parts/table/table-columns.ts";
import { GameText } from "../../parts/text/game-text.tsx";
import { Heading, Note } from "../../parts/text/plain-text.tsx";
import { PlayerName } from "../../parts/text/player-name.tsx";
import { TeamName, useTeamName, useTeamSearchText } from "../../parts/text/team.tsx";
import { Moment, NowProvider, useExactDuration } from "../../parts/text/time.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { mapPlayerNames, type PlayerNames, parsePlayerRef } from "../../player-ref.ts";
import { type AnswerBounds, type AnsweredCall, listAnswered, listAnsweredNow } from "../../state/calls/mod-calls.ts";
import { useCallGroups } from "../../state/calls/use-mod-calls.tsx";
import { useLedger, useLedgerIsOff } from "../../state/ledger/use-ledger.ts";
import { useServerState } from "../../state/server/use-server-state.tsx";
import { LoadActContext } from "./player-shortcuts.tsx";
import { WaitingCalls } from "./waiting-calls.tsx";

const WANTED: readonly Section[] = ["EmergencyCalls", "ModCalls", "Players"];
const loadAct = async () => (await import("./player-act.tsx")).PlayerAct;
const NEWEST_FIRST = { column: "time", isDescending: true };
const PARTICIPANTS_MAX = 5;

export function CallsView() {
  const { t } = useTranslation("calls");
  const view = useServerState(WANTED);
  const groups = useCallGroups();
  const players = view.state?.Players;
  const names = useMemo(() => mapPlayerNames(players), [players]);
  return (
    <ViewPage title={t("title")}>
      <ServerStateGate view={view}>
        {(state) => (
          <NowProvider>
            {groups && (
              <>
                <LoadActContext value={loadAct}>
                  <WaitingCalls groups={groups} />
                </LoadActContext>
                <AnsweredCalls listed={state.ModCalls ?? NO_CALLS} />
              </>
            )}
            {state.EmergencyCalls && (
              <Stack component="section" gap="sm" aria-label={t("emergency.title")}>
                <Heading size="h3">{t("emergency.title")}</Heading>
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
      valueColumn("number", t("column.number"), {
        value: ({ CallNumber }) => CallNumber,
        show: (n) => (
          <Text component="span" size="sm" fw={600} className="numbers">
            {t("number", { n })}
          </Text>
        ),
      }),
      valueColumn("team", t("column.team"), {
        value: ({ Team }) => searchTextOf(Team),
        show: (_, { Team = "" }) => <TeamName team={Team} />,
      }),
      valueColumn("description", t("column.description"), {
        value: ({ Description }) => Description,
        show: (text) => <GameText text={text} max={120} />,
      }),
      valueColumn("place", t("column.place"), {
        value: (call) => [call.PositionDescriptor, describePosition(call)].filter(Boolean).join(" "),
        show: (_, call) => <Place call={call} />,
      }),
      valueColumn("caller", t("column.caller"), {
        value: ({ Caller }) => nameOf(Caller, names),
        show: (_, { Caller }) => <PlayerById id={Caller ?? 0} names={names} />,
      }),
      valueColumn("players", t("column.players"), {
        value: ({ Players }) => Players?.map((id) => nameOf(id, names)).join(" "),
        show: (_, { Players = [] }) => <Participants ids={Players} names={names} />,
      }),
      valueColumn("time", t("column.started"), {
        value: ({ StartedAt }) => StartedAt,
        show: (seconds) => <Moment seconds={seconds} />,
      }),
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

const LATEST_FIRST = { column: "time", isDescending: true };

const NO_CALLS: readonly ModCall[] = [];

/** `listed` is the game's own list, for where there is no ledger. */
const AnsweredCalls = memo(function AnsweredCalls({ listed }: { readonly listed: readonly ModCall[] }) {
  const { t } = useTranslation("calls");
  const isOff = useLedgerIsOff();
  const { list } = useLedger({ types: "modcall.answered" });
  const events = list?.events;
  const calls = useMemo(() => (isOff ? listAnsweredNow(listed) : listAnswered(events ?? [])), [isOff, listed, events]);
  const columns = useMemo(
    (): readonly ShownColumn<AnsweredCall>[] => [
      valueColumn("caller", t("column.caller"), {
        value: ({ call }) => call.Caller,
        show: (caller) => <PlayerName {...parsePlayerRef(caller)} />,
      }),
      valueColumn("moderator", t("column.moderator"), {
        value: ({ call }) => call.Moderator,
        show: (moderator) => <PlayerName {...parsePlayerRef(moderator)} />,
      }),
      valueColumn("after", t("moderator.after"), {
        value: ({ bounds }) => bounds?.toMs,
        show: (_, { bounds }) => <AnswerTime bounds={bounds} />,
      }),
      valueColumn("time", t("column.time"), {
        value: ({ call }) => call.Timestamp,
        show: (seconds) => <Moment seconds={seconds} />,
      }),
    ],
    [t],
  );
  if (calls.length === 0) {
    return <Note>{t("moderator.answeredNone")}</Note>;
  }
  return (
    <Stack component="section" gap="sm" aria-label={t("moderator.answered")}>
      <Heading size="h3">{t("moderator.answered")}</Heading>
      <DataTable
        label={t("moderator.answered")}
        rows={calls}
        columns={columns}
        sorting={LATEST_FIRST}
        keyOf={({ id }) => id}
        emptyTitle={t("moderator.answeredNone")}
      />
    </Stack>
  );
});

function AnswerTime({ bounds }: { readonly bounds: AnswerBounds | undefined }) {
  const { t } = useTranslation("calls");
  const write = useExactDuration();
  if (!bounds) return null;
  const from = write(bounds.fromMs, "down");
  const to = write(bounds.toMs, "up");
  const text =
    from === to ? to : bounds.fromMs === 0 ? t("moderator.within", { to }) : t("moderator.between", { from, to });
  return (
    <Text component="span" size="sm" className="moment numbers" title={t("moderator.afterHint")}>
      {text}
    </Text>
  );
}
