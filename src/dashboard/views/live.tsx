// The view "live": the calls for a moderator that wait, and the server at a glance.
import {
  Anchor,
  Badge,
  Box,
  Group,
  Progress,
  SimpleGrid,
  Stack,
  Text,
  useComputedColorScheme,
} from "@mantine/core";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../core/sections.ts";
import type { JoinLog, Player } from "../../core/wire/server-info.ts";
import type { EmergencyCall, ServerState } from "../api/caller.ts";
import { GameText } from "../parts/game-text.tsx";
import { LazyView } from "../parts/lazy-view.tsx";
import { toMs, useRelativeTime } from "../parts/moment.tsx";
import { PlayerLink } from "../parts/player-name.tsx";
import { ServerStateGate } from "../parts/states.tsx";
import { TeamLabel, useTeamName } from "../parts/team.tsx";
import { ViewPage } from "../parts/view-page.tsx";
import { parsePlayerRef } from "../player-ref.ts";
import type { CallGroups } from "../state/mod-calls.ts";
import { useViewHref } from "../state/route.ts";
import { useFormat } from "../state/use-format.ts";
import { useLedger } from "../state/use-ledger.ts";
import { useCallGroups } from "../state/use-mod-calls.tsx";
import { useNow } from "../state/use-now.ts";
import { useServerState } from "../state/use-server-state.tsx";
import { TEAMS, teamColour } from "../team-colours.ts";
import { listOpenAlerts } from "./alerts/open-alerts.ts";
import { WaitingCalls } from "./calls/waiting-calls.tsx";
import { FreshnessCard } from "./live/freshness-card.tsx";
import "./live/live.css";
import { ListPanel, Panel } from "./live/panel.tsx";
import { ServerCard } from "./live/server-card.tsx";

const WANTED: readonly Section[] = ["Players", "Queue", "JoinLogs", "ModCalls", "EmergencyCalls"];
const ALERT_TYPES = "alert.raised,alert.cleared";
const loadRaisedAlerts = async () => (await import("./alerts/pages.ts")).RaisedAlerts;
const MOVES_SHOWN_MAX = 8;
const CALLS_SHOWN_MAX = 5;
const NAME_SHOWN_MAX = 24;
const TEXT_SHOWN_MAX = 80;
/** Ages in minutes do not need to be updated every second. */
const AGE_UPDATE_MS = 5_000;

export function LiveView() {
  const { t } = useTranslation("live");
  const view = useServerState(WANTED);
  const groups = useCallGroups();
  return (
    <ViewPage title={t("title")} summary={t("summary")}>
      <LiveAlerts />
      <ServerStateGate view={view}>
        {(state) => (
          <Stack gap="md">
            {groups && <LiveCalls groups={groups} players={state.Players} />}
            <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
              <ServerCard state={state} />
              <div className="live-stack">
                <FreshnessCard view={view} />
                <TeamsPanel players={state.Players} />
              </div>
            </SimpleGrid>
            <Lists state={state} />
          </Stack>
        )}
      </ServerStateGate>
    </ViewPage>
  );
}

/** The code that shows alerts is loaded with the first of them. */
function LiveAlerts() {
  const { list } = useLedger({ types: ALERT_TYPES });
  const open = useMemo(() => listOpenAlerts(list?.events ?? []), [list?.events]);
  return (
    // Screen readers announce what is added to a live region that is already there.
    <div role="status">
      {open.length > 0 && <LazyView load={loadRaisedAlerts} given={{ open }} placeholder={null} />}
    </div>
  );
}

/** The first of the calls that nobody has answered, and a link to all of them. */
function LiveCalls(props: { readonly groups: CallGroups; readonly players: readonly Player[] | undefined }) {
  const { t } = useTranslation("live");
  const hrefOf = useViewHref();
  const { groups, players } = props;
  const count = groups.waiting.length + groups.seen.length;
  return (
    <WaitingCalls
      groups={groups}
      players={players}
      shownMax={CALLS_SHOWN_MAX}
      footer={
        count > CALLS_SHOWN_MAX && (
          <Anchor href={hrefOf("calls")} size="sm">
            {t("all", { n: count })}
          </Anchor>
        )
      }
    />
  );
}

function Lists({ state }: { readonly state: ServerState }) {
  const { t } = useTranslation("live");
  const moves = sortNewestFirst(state.JoinLogs, ({ Timestamp }) => Timestamp);
  const emergencies = sortNewestFirst(state.EmergencyCalls, ({ StartedAt }) => StartedAt);
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
      <ListPanel
        title={t("emergencies.title")}
        empty={t("emergencies.empty")}
        items={emergencies}
        shownMax={CALLS_SHOWN_MAX}
        view="calls"
      >
        {(call, index) => <EmergencyRow key={`${call.Team} ${call.CallNumber} ${index}`} call={call} />}
      </ListPanel>
      <ListPanel
        title={t("moves.title")}
        empty={t("moves.empty")}
        items={moves}
        shownMax={MOVES_SHOWN_MAX}
        view="logs"
      >
        {(move, index) => <MoveRow key={`${move.Timestamp} ${move.Player} ${index}`} move={move} />}
      </ListPanel>
    </SimpleGrid>
  );
}

function TeamsPanel({ players }: { readonly players: readonly Player[] | undefined }) {
  const { t } = useTranslation("live");
  const scheme = useComputedColorScheme("light");
  const nameOf = useTeamName();
  const counts = new Map<string, number>();
  for (const { Team = "" } of players ?? []) counts.set(Team, (counts.get(Team) ?? 0) + 1);
  const known: readonly string[] = TEAMS;
  const teams = [...TEAMS, ...Array.from(counts.keys()).filter((team) => !known.includes(team))];
  const all = players?.length ?? 0;
  return (
    <Panel title={t("teams.title")}>
      {all === 0 ? (
        <Text c="dimmed" size="sm">
          {players ? t("teams.empty") : t("forbidden")}
        </Text>
      ) : (
        <ul className="live-list">
          {teams.map((team) => {
            const count = counts.get(team) ?? 0;
            return (
              <li key={team} style={{ alignItems: "center" }}>
                <Text size="sm" component="span" w="9.5rem" style={{ flex: "none" }}>
                  <TeamLabel team={team} />
                </Text>
                <Progress.Root size="md" style={{ flex: 1 }}>
                  <Progress.Section
                    value={(count / all) * 100}
                    color={teamColour(team, scheme)}
                    withAria={false}
                    role="progressbar"
                    aria-label={nameOf(team)}
                    aria-valuemin={0}
                    aria-valuemax={all}
                    aria-valuenow={count}
                    aria-valuetext={t("teams.count", { count })}
                  />
                </Progress.Root>
                <Text size="sm" component="span" className="numbers" w="2rem" ta="end" aria-hidden>
                  {count}
                </Text>
              </li>
            );
          })}
        </ul>
      )}
    </Panel>
  );
}

function MoveRow({ move }: { readonly move: JoinLog }) {
  const { t } = useTranslation("live");
  return (
    <li>
      <Group gap="xs" wrap="nowrap" miw={0}>
        <Badge
          variant="light"
          color={move.Join ? "teal" : "gray"}
          tt="none"
          miw="4.5rem"
          style={{ flex: "none" }}
        >
          {t(move.Join ? "moves.joined" : "moves.left")}
        </Badge>
        <ShortPlayerName player={move.Player} />
      </Group>
      <Age since={move.Timestamp} />
    </li>
  );
}

function EmergencyRow({ call }: { readonly call: EmergencyCall }) {
  const { t } = useTranslation("live");
  const units = call.Players?.length ?? 0;
  return (
    <li>
      <Box miw={0}>
        <Text size="sm" fw={600} component="div">
          <TeamLabel team={call.Team} /> · {t("emergencies.number", { number: call.CallNumber ?? "?" })}
        </Text>
        {call.Description && (
          <Text size="sm" component="div">
            <GameText text={call.Description} max={TEXT_SHOWN_MAX} />
          </Text>
        )}
        <Text size="xs" c="dimmed" component="div">
          {call.PositionDescriptor && <GameText text={call.PositionDescriptor} max={TEXT_SHOWN_MAX} />}
          {call.PositionDescriptor && units > 0 && " · "}
          {units > 0 && t("emergencies.units", { count: units })}
        </Text>
      </Box>
      <Age since={call.StartedAt} />
    </li>
  );
}

function ShortPlayerName({ player }: { readonly player: string | undefined }) {
  const { t } = useTranslation("live");
  const { name, id } = parsePlayerRef(player);
  return (
    <Text size="sm" component="span" miw={0} title={id}>
      {name.trim() === "" ? t("unnamed") : <PlayerLink player={{ name, id }} max={NAME_SHOWN_MAX} />}
    </Text>
  );
}

/** `since` is in epoch seconds, like all times of the game. */
function Age({ since }: { readonly since: number | undefined }) {
  const format = useFormat();
  const relative = useRelativeTime();
  const now = useNow(AGE_UPDATE_MS);
  const ms = toMs(since);
  if (ms === undefined) return null;
  return (
    <Text
      size="sm"
      c="dimmed"
      component="time"
      className="numbers"
      style={{ flex: "none" }}
      title={format.dateTime(ms)}
    >
      {relative(ms, now)}
    </Text>
  );
}

/** The game does not promise an order of its logs. */
function sortNewestFirst<T>(
  items: readonly T[] | undefined,
  timeOf: (item: T) => number | undefined,
): readonly T[] | undefined {
  return items?.toSorted((a, b) => (timeOf(b) ?? 0) - (timeOf(a) ?? 0));
}
