// The view "activity": the events of the server, newest first, and the page of one player.
import { Alert, Chip, Group, Stack, Text, VisuallyHidden } from "@mantine/core";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../core/errors.ts";
import type { Section } from "../../core/sections.ts";
import type { EventResource } from "../../core/wire/event.ts";
import type { ApiError } from "../api/request.ts";
import { DayTitle } from "../parts/day-title.tsx";
import { Icon } from "../parts/icon.tsx";
import { LazyView } from "../parts/lazy-view.tsx";
import { Moment, NowProvider } from "../parts/moment.tsx";
import { CopyablePlayer } from "../parts/player-name.tsx";
import { EmptyState, FailedState, LoadingState, Notice } from "../parts/states.tsx";
import { CountLine, Toolbar } from "../parts/table-toolbar.tsx";
import { ViewPage } from "../parts/view-page.tsx";
import { isPlayerId, mapPlayerNames } from "../player-ref.ts";
import type { EventList as EventListState } from "../state/event-pages.ts";
import { useRouteId } from "../state/route.ts";
import { useServerSession } from "../state/session.ts";
import { type LedgerView, useFirstTime, useLedger } from "../state/use-ledger.ts";
import { useServerState } from "../state/use-server-state.tsx";
import { readGap } from "./activity/describe-event.ts";
import {
  type Group as EventGroup,
  listGroups,
  listPlayerGroups,
  writeTypes,
} from "./activity/event-groups.ts";
import { EventLine, LoadAlertContext, PlayerNamesContext } from "./activity/event-line.tsx";
import { type KnownPlayer, listKnownPlayers } from "./activity/find-player.ts";
import { LedgerEnd } from "./activity/ledger-end.tsx";
import { NewerEvents } from "./activity/newer-events.tsx";
import { AllActivityLink, PlayerFinder } from "./activity/player-finder.tsx";
import { groupByDay } from "./logs/time-line.ts";

/** Some events name players by their ids alone: custom commands and emergency calls. */
const FOR_NAMES: readonly Section[] = ["Players"];
const loadAlertText = async () => (await import("./alerts/pages.ts")).AlertText;
const NO_EVENTS: readonly EventResource[] = [];
const loadSessions = async () => (await import("./plots.ts")).PlayerSessions;

export function ActivityView() {
  const { t } = useTranslation("shell");
  const id = useRouteId("activity");
  if (id && !isPlayerId(id)) return <Notice icon="search" title={t("notFound")} />;
  return (
    <LoadAlertContext value={loadAlertText}>
      {id ? <PlayerActivity key={id} player={id} /> : <ServerActivity />}
    </LoadAlertContext>
  );
}

function ServerActivity() {
  const { t } = useTranslation("activity");
  const { sections } = useServerSession();
  const [groups, setGroups] = useState<readonly string[]>([]);
  const ledger = useLedger({ types: writeTypes(groups) });
  const events = ledger.list?.events ?? NO_EVENTS;
  const known = useMemo(() => listKnownPlayers(events), [events]);
  return (
    <ViewPage title={t("title")} summary={t("summary")}>
      <NowProvider>
        {!isOff(ledger) && (
          <Toolbar>
            <PlayerFinder known={known} />
            <GroupChips offered={listGroups(sections)} chosen={groups} onChange={setGroups} />
          </Toolbar>
        )}
        <EventList
          ledger={ledger}
          known={known}
          filter={groups.join()}
          empty={<EmptyState title={t("empty")}>{t("emptyText")}</EmptyState>}
        />
      </NowProvider>
    </ViewPage>
  );
}

function PlayerActivity({ player }: { readonly player: string }) {
  const { t } = useTranslation("activity");
  const { sections } = useServerSession();
  const [groups, setGroups] = useState<readonly string[]>([]);
  const ledger = useLedger({ types: writeTypes(groups), player });
  const { list } = ledger;
  const events = list?.events ?? NO_EVENTS;
  const known = useMemo(() => listKnownPlayers(events), [events]);
  const facts = useFacts(player, known, groups.length === 0 ? list : undefined);
  return (
    <ViewPage title={t("player.title", { id: player })} actions={<AllActivityLink />}>
      <NowProvider>
        {facts && !isOff(ledger) && <PlayerFacts player={player} {...facts} />}
        {!isOff(ledger) && (
          <LazyView load={loadSessions} given={{ id: player, order: 2 }} placeholder={null} />
        )}
        {facts && !isOff(ledger) && (
          <>
            <GroupChips offered={listPlayerGroups(sections)} chosen={groups} onChange={setGroups} />
            <Text size="sm" c="dimmed">
              {t("player.leftOut")}
            </Text>
          </>
        )}
        <EventList
          ledger={ledger}
          known={known}
          filter={groups.join()}
          empty={<EmptyState title={t("player.never")}>{t("player.neverText")}</EmptyState>}
        />
      </NowProvider>
    </ViewPage>
  );
}

type Facts = {
  readonly name: string;
  readonly firstAt: number;
  readonly lastAt: number;
  /** Whether there may be older events of the player. */
  readonly hasOlder: boolean;
};

/** What the events tell about the player. Kept while `list` is undefined, because only some kinds are shown or loaded. */
function useFacts(
  player: string,
  known: readonly KnownPlayer[],
  list: EventListState | undefined,
): Facts | undefined {
  const [facts, setFacts] = useState<Facts>();
  useEffect(() => {
    if (!list || list.events.length === 0) return;
    const times = [...list.waiting, ...list.events].map(({ at }) => at);
    const name = known.find(({ id }) => id === player)?.name ?? "";
    setFacts({ name, firstAt: Math.min(...times), lastAt: Math.max(...times), hasOlder: list.hasOlder });
  }, [player, known, list]);
  return facts;
}

function PlayerFacts(props: Facts & { readonly player: string }) {
  const { t } = useTranslation("activity");
  const { name, firstAt, hasOlder } = props;
  const foundAt = useFirstTime(props.player, hasOlder);
  const isFirst = foundAt !== undefined || !hasOlder;
  return (
    <Stack gap="xs">
      {name === "" ? (
        <Text c="dimmed">{t("player.unnamed")}</Text>
      ) : (
        <span>
          <CopyablePlayer player={{ name, id: props.player }} />
        </span>
      )}
      <dl className="facts player-facts">
        <dt>{t("player.first")}</dt>
        <dd data-testid="first-seen">
          <Moment seconds={Math.min(foundAt ?? firstAt, firstAt) / 1000} />{" "}
          {!isFirst && t("player.orEarlier")}
        </dd>
        <dt>{t("player.last")}</dt>
        <dd data-testid="last-seen">
          <Moment seconds={props.lastAt / 1000} />
        </dd>
      </dl>
    </Stack>
  );
}

/** No chosen group means everything. */
function GroupChips(props: {
  readonly offered: readonly EventGroup[];
  readonly chosen: readonly string[];
  readonly onChange: (groups: readonly string[]) => void;
}) {
  const { t } = useTranslation("activity");
  const { chosen, onChange } = props;
  return (
    <fieldset className="chips">
      <VisuallyHidden component="legend">{t("kinds")}</VisuallyHidden>
      <Group gap={6}>
        <Chip checked={chosen.length === 0} onChange={() => onChange([])} variant="light" size="sm">
          {t("everything")}
        </Chip>
        <Chip.Group multiple value={[...chosen]} onChange={onChange}>
          {props.offered.map((group) => (
            <Chip key={group} value={group} variant="light" size="sm">
              {t(`group.${group}`)}
            </Chip>
          ))}
        </Chip.Group>
      </Group>
    </fieldset>
  );
}

function EventList(props: {
  readonly ledger: LedgerView;
  readonly known: readonly KnownPlayer[];
  /** The chosen kinds, to announce the number of events when they change. */
  readonly filter: string;
  /** Shown when there is nothing of any kind. */
  readonly empty: ReactNode;
}) {
  const { t } = useTranslation("activity");
  const { ledger, known, filter } = props;
  const { list, error } = ledger;
  const frame = useRef<HTMLDivElement>(null);
  const days = useMemo(() => groupByDay(list?.events ?? NO_EVENTS, dayTimeOf), [list?.events]);
  const players = useServerState(FOR_NAMES).state?.Players;
  const names = useMemo(() => {
    const fromEvents = known.filter(({ name }) => name !== "").map(({ id, name }) => [id, name] as const);
    return new Map([...mapPlayerNames(players), ...fromEvents]);
  }, [players, known]);
  if (!list || (error && isFinal(error))) {
    return error ? <LedgerProblem error={error} onRetry={ledger.refresh} /> : <LoadingState />;
  }
  const isEmpty = list.events.length === 0;
  return (
    <Stack gap="sm" ref={frame} tabIndex={-1} className="view">
      <NewerEvents ledger={ledger} frame={frame} />
      {error && <Alert color="orange" title={t("stale")} icon={<Icon name="warning" />} />}
      {!isEmpty && <CountLine text={t("shown", { count: list.events.length })} announceOn={filter} />}
      <PlayerNamesContext value={names}>
        {days.map(({ key, at, entries }) => (
          <section key={key}>
            <DayTitle at={at} />
            <ol className="time-line">
              {entries.map((event) => (
                <EventLine key={event.id} event={event} />
              ))}
            </ol>
          </section>
        ))}
      </PlayerNamesContext>
      {isEmpty && !list.hasOlder && filter === "" && props.empty}
      {isEmpty && !list.hasOlder && filter !== "" && (
        <EmptyState title={t("noMatch")}>{t("endOfNothing")}</EmptyState>
      )}
      <LedgerEnd ledger={ledger} isEmpty={isEmpty} isSearch={false} onLoad={() => ledger.loadOlder()} />
    </Stack>
  );
}

function isOff({ error }: LedgerView): boolean {
  return error?.code === ERRORS.notConfigured.code;
}

/** A gap is under the day in which entries may be missing, not under the day in which that was noticed. */
function dayTimeOf(event: EventResource): number {
  return readGap(event)?.to ?? event.at;
}

/** Whether what is shown must go: there is no ledger, or the key lost the right to read it. */
function isFinal({ code }: ApiError): boolean {
  return code === ERRORS.notConfigured.code || code === ERRORS.sectionForbidden.code;
}

function LedgerProblem({ error, onRetry }: { readonly error: ApiError; readonly onRetry: () => void }) {
  const { t } = useTranslation("activity");
  if (error.code === ERRORS.notConfigured.code) {
    return (
      <Notice icon="empty" title={t("noArchive")}>
        {t("noArchiveText")}
      </Notice>
    );
  }
  if (error.code === ERRORS.sectionForbidden.code) {
    return (
      <Notice icon="keys" title={t("forbidden")}>
        {t("forbiddenText")}
      </Notice>
    );
  }
  if (error.code === ERRORS.unavailable.code) {
    return (
      <Notice icon="warning" title={t("away")}>
        {t("awayText")}
      </Notice>
    );
  }
  return <FailedState error={error} onRetry={onRetry} />;
}
