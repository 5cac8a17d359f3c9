// The view "live", a moderator's cockpit: one strip of numbers, alerts, calls, kills, joins; below, what changes seldom.

import { Anchor, Badge, Box, Progress, Text, useComputedColorScheme } from "@mantine/core";
import { memo, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../../core/sections.ts";
import type { JoinLog, KillLog, Player } from "../../../core/wire/server-info.ts";
import type { EmergencyCall, ServerState } from "../../api/caller.ts";
import { Icon } from "../../parts/icon.tsx";
import { LazyView } from "../../parts/lazy-view.tsx";
import { ForbiddenNotice, ServerStateGate } from "../../parts/states.tsx";
import { GameText, markInvisible } from "../../parts/text/game-text.tsx";
import { PlayerLink } from "../../parts/text/player-name.tsx";
import { TeamLabel, useTeamName } from "../../parts/text/team.tsx";
import { Ago, NowProvider, toMs } from "../../parts/text/time.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { parsePlayerRef } from "../../player-ref.ts";
import { useCallGroups } from "../../state/calls/use-mod-calls.tsx";
import { useViewHref } from "../../state/route.ts";
import type { Condition } from "../../state/server/server-poll.ts";
import { useServerState } from "../../state/server/use-server-state.tsx";
import { listTeams, teamColour } from "../../team-colours.ts";
import { useAlerts } from "../alerts/use-alerts.tsx";
import { LoadActContext } from "../calls/player-shortcuts.tsx";
import { WaitingCalls } from "../calls/waiting-calls.tsx";
import { listKills, MANY_SECONDS } from "./kill-feed.ts";
import { ListPanel, Panel, ServerCard, Strip } from "./live-cards.tsx";
import "./live.css";

const WANTED: readonly Section[] = ["Players", "Queue", "JoinLogs", "KillLogs", "ModCalls", "EmergencyCalls"];
const loadAlertRows = async () => (await import("../alerts/raised-alerts.tsx")).AlertRows;
const loadAct = async () => (await import("../calls/player-act.tsx")).PlayerAct;
/** The rules whose alerts say what the view itself says then. */
const SAID: Readonly<Partial<Record<Condition, string>>> = { offline: "offline", "game-error": "unreachable" };
const ALERTS_SHOWN_MAX = 3;
const CALLS_SHOWN_MAX = 4;
const EMERGENCIES_SHOWN_MAX = 4;
const KILLS_SHOWN_MAX = 7;
const MOVES_SHOWN_MAX = 5;
const NAME_SHOWN_MAX = 24;
const TEXT_SHOWN_MAX = 80;

export function LiveView() {
  const { t } = useTranslation("live");
  const view = useServerState(WANTED);
  // What the key may not read is left out; at the end the view says what that is.
  const shown = useMemo(() => ({ ...view, missing: [] }), [view]);
  return (
    <ViewPage title={t("title")}>
      <LoadActContext value={loadAct}>
        <NowProvider>
          {!view.state && <LiveAlerts />}
          <ServerStateGate view={shown}>
            {(state) => (
              <>
                <Cockpit state={state} />
                <ForbiddenNotice sections={view.missing} />
              </>
            )}
          </ServerStateGate>
        </NowProvider>
      </LoadActContext>
    </ViewPage>
  );
}

/** The code that shows alerts is loaded with the first of them. */
function LiveAlerts() {
  const { condition } = useServerState();
  const shown = useAlerts().shown.filter(({ rule, endedAt }) => endedAt !== undefined || rule !== SAID[condition]);
  const raised = shown.filter(({ endedAt }) => endedAt === undefined).length;
  // What is over takes one line at most; the bell has all.
  const shownMax = Math.max(1, Math.min(raised, ALERTS_SHOWN_MAX));
  return (
    // Screen readers announce what is added to a live region that is already there.
    <div role="status" className="live-alerts">
      {shown.length > 0 && <LazyView load={loadAlertRows} given={{ alerts: shown, shownMax }} placeholder={null} />}
    </div>
  );
}

/** Rendered again only when a reading brings something else. */
const Cockpit = memo(function Cockpit({ state }: { readonly state: ServerState }) {
  return (
    <div className="live-stack">
      <Strip state={state} />
      <LiveAlerts />
      <div className="live-columns">
        <div className="live-stack">
          <LiveCalls />
          <EmergencyPanel calls={state.EmergencyCalls} />
        </div>
        <div className="live-stack">
          <KillPanel kills={state.KillLogs} />
          <MovesPanel moves={state.JoinLogs} />
        </div>
      </div>
      <div className="live-columns">
        <ServerCard state={state} />
        <TeamsPanel players={state.Players} />
      </div>
    </div>
  );
});

/** The first of the calls, the newest, and a link to all of them. */
function LiveCalls() {
  const { t } = useTranslation("live");
  const hrefOf = useViewHref();
  const groups = useCallGroups();
  if (!groups) return null;
  const count = groups.open.length;
  return (
    <WaitingCalls
      groups={groups}
      shownMax={CALLS_SHOWN_MAX}
      footer={
        count > CALLS_SHOWN_MAX && (
          <Anchor href={hrefOf("calls")} size="sm" className="touch-link">
            {t("all", { n: count })}
          </Anchor>
        )
      }
    />
  );
}

const EmergencyPanel = memo(function EmergencyPanel(props: { readonly calls: readonly EmergencyCall[] | undefined }) {
  const { t } = useTranslation("live");
  const calls = useMemo(() => sortNewestFirst(props.calls, ({ StartedAt }) => StartedAt), [props.calls]);
  return (
    <ListPanel
      title={t("emergencies.title")}
      empty={t("emergencies.empty")}
      items={calls}
      shownMax={EMERGENCIES_SHOWN_MAX}
      view="calls"
    >
      {(call, index) => <EmergencyRow key={`${call.Team} ${call.CallNumber} ${index}`} call={call} />}
    </ListPanel>
  );
});

const KillPanel = memo(function KillPanel({ kills }: { readonly kills: readonly KillLog[] | undefined }) {
  const { t } = useTranslation("live");
  const feed = useMemo(() => kills && listKills(kills, kills.length), [kills]);
  return (
    <ListPanel title={t("kills.title")} empty={t("kills.empty")} items={feed} shownMax={KILLS_SHOWN_MAX} view="logs">
      {({ key, kill, many }) => (
        <li key={key} data-many={many}>
          <span className="live-row">
            {kill.Killer ? (
              <>
                <ShortPlayerName player={kill.Killer} />
                <span className="live-verb">
                  <Icon name="kill" size={14} />
                  <span className="visually-hidden">{t("kills.killed")}</span>
                </span>
                <ShortPlayerName player={kill.Killed} />
              </>
            ) : (
              <>
                <ShortPlayerName player={kill.Killed} />
                <Text span size="sm" c="dimmed">
                  {t("kills.died")}
                </Text>
              </>
            )}
            {many !== undefined && (
              <Badge size="sm" color="red" variant="filled" style={{ flex: "none" }}>
                {t("kills.many", { count: many, seconds: MANY_SECONDS })}
              </Badge>
            )}
          </span>
          <Age since={kill.Timestamp} />
        </li>
      )}
    </ListPanel>
  );
});

const MovesPanel = memo(function MovesPanel(props: { readonly moves: readonly JoinLog[] | undefined }) {
  const { t } = useTranslation("live");
  const moves = useMemo(() => sortNewestFirst(props.moves, ({ Timestamp }) => Timestamp), [props.moves]);
  return (
    <ListPanel title={t("moves.title")} empty={t("moves.empty")} items={moves} shownMax={MOVES_SHOWN_MAX} view="logs">
      {(move, index) => (
        <li key={`${move.Timestamp} ${move.Player} ${index}`}>
          <span className="live-row">
            <Badge size="sm" color={move.Join ? "teal" : "gray"} miw="4.5rem" style={{ flex: "none" }}>
              {t(move.Join ? "moves.joined" : "moves.left")}
            </Badge>
            <ShortPlayerName player={move.Player} />
          </span>
          <Age since={move.Timestamp} />
        </li>
      )}
    </ListPanel>
  );
});

const TeamsPanel = memo(function TeamsPanel({ players }: { readonly players: readonly Player[] | undefined }) {
  const { t } = useTranslation("live");
  const scheme = useComputedColorScheme("light");
  const nameOf = useTeamName();
  if (!players) return null;
  const counts = new Map<string, number>();
  for (const { Team = "" } of players) counts.set(Team, (counts.get(Team) ?? 0) + 1);
  const all = players.length;
  return (
    <Panel title={t("teams.title")}>
      {all === 0 ? (
        <Text size="sm" c="dimmed">
          {t("teams.empty")}
        </Text>
      ) : (
        <ul className="plain-list live-list">
          {listTeams(counts.keys()).map((team) => {
            const count = counts.get(team) ?? 0;
            return (
              <li key={team}>
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
});

function EmergencyRow({ call }: { readonly call: EmergencyCall }) {
  const { t } = useTranslation("live");
  const units = call.Players?.length ?? 0;
  return (
    <li>
      <Box miw={0}>
        <Text size="sm" component="div">
          <Text span inherit fw={600}>
            <TeamLabel team={call.Team} />
          </Text>{" "}
          {t("emergencies.number", { number: call.CallNumber ?? "?" })}
          {call.Description && ": "}
          {call.Description && <GameText text={call.Description} max={TEXT_SHOWN_MAX} />}
        </Text>
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
    <Text size="sm" component="span" miw={0} title={markInvisible(player ?? "")} className="live-name one-line">
      {name.trim() === "" ? t("unnamed") : <PlayerLink player={{ name, id }} max={NAME_SHOWN_MAX} />}
    </Text>
  );
}

/** `since` is in epoch seconds, like all times of the game. */
function Age({ since }: { readonly since: number | undefined }) {
  const ms = toMs(since);
  if (ms === undefined) return null;
  return (
    <Text size="xs" c="dimmed" component="span" style={{ flex: "none" }}>
      <Ago at={ms} />
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
