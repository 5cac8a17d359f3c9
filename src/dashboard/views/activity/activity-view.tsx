// The view "activity": the events of the server, newest first, and the page of one player.

import { Alert, Anchor, Button, Chip, Group, Stack, Text, VisuallyHidden } from "@mantine/core";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { MINUTE_MS } from "../../../core/durations.ts";
import { ERRORS } from "../../../core/errors.ts";
import type { Section } from "../../../core/sections.ts";
import type { EventResource } from "../../../core/wire/event.ts";
import type { ApiError } from "../../api/request.ts";
import { Icon } from "../../parts/icon.tsx";
import { LazyView } from "../../parts/lazy-view.tsx";
import { EmptyState, FailedState, LoadingState, Notice } from "../../parts/states.tsx";
import { CountLine, Toolbar, usePhone } from "../../parts/table/table-toolbar.tsx";
import { Fact, Note } from "../../parts/text/plain-text.tsx";
import { CopyablePlayer, useSameMap } from "../../parts/text/player-name.tsx";
import { DayTitle, Moment, NowProvider } from "../../parts/text/time.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { isPlayerId, mapPlayerNames } from "../../player-ref.ts";
import type { EventList as EventListState } from "../../state/ledger/event-pages.ts";
import { type LedgerView, useFirstTime, useLedger } from "../../state/ledger/use-ledger.ts";
import { useRouteId, useViewHref } from "../../state/route.ts";
import { useServerState } from "../../state/server/use-server-state.tsx";
import { useServerSession } from "../../state/session/session.ts";
import { useFormat } from "../../state/time/use-format.ts";
import { MomentField } from "../history/moment-field.tsx";
import { groupByDay } from "../logs/time-line.ts";
import { readGap } from "./describe-event.ts";
import { type Group as EventGroup, listGroups, listPlayerGroups, writeTypes } from "./event-groups.ts";
import { EventLine, LoadAlertContext, PlayerNamesContext } from "./event-line.tsx";
import { type KnownPlayer, listKnownPlayers } from "./find-player.ts";
import { LedgerEnd, NewerEvents } from "./ledger-ends.tsx";
import { parseMomentRoute, writeMomentRoute } from "./moment-route.ts";
import { AllActivityLink, PlayerFinder } from "./player-finder.tsx";

/** Some events name players by their ids alone: custom commands and emergency calls. */
const FOR_NAMES: readonly Section[] = ["Players"];
const loadAlertText = async () => (await import("../alerts/raised-alerts.tsx")).AlertText;
const NO_EVENTS: readonly EventResource[] = [];
/** The moment is a minute, whose events are shown too. */
const LAST_OF_MINUTE_MS = MINUTE_MS - 1;
const loadSessions = async () => (await import("../plots/pages.ts")).PlayerSessions;

export function ActivityView() {
  const { t } = useTranslation("shell");
  const id = useRouteId("activity");
  const at = parseMomentRoute(id ?? "");
  if (id && !isPlayerId(id) && at === undefined) return <Notice icon="search" title={t("notFound")} />;
  return (
    <LoadAlertContext value={loadAlertText}>
      {id && at === undefined ? <PlayerActivity key={id} player={id} /> : <ServerActivity at={at} />}
    </LoadAlertContext>
  );
}

/** From a moment of the past on, or from now. */
function ServerActivity({ at }: { readonly at: number | undefined }) {
  const { t } = useTranslation("activity");
  const { sections } = useServerSession();
  const [groups, setGroups] = useState<readonly string[]>([]);
  const hrefOf = useViewHref();
  const ledger = useLedger({ types: writeTypes(groups), at: at === undefined ? undefined : at + LAST_OF_MINUTE_MS });
  const events = ledger.list?.events ?? NO_EVENTS;
  const known = useMemo(() => listKnownPlayers(events), [events]);
  return (
    <ViewPage title={t("title")}>
      <NowProvider>
        {!isOff(ledger) && (
          <Toolbar>
            <PlayerFinder known={known} />
            <MomentField
              key={at}
              label={t("moment.field")}
              button={t("moment.go")}
              at={at}
              onGo={(chosen) => {
                location.hash = hrefOf(writeMomentRoute(chosen));
              }}
            />
            <GroupChips offered={listGroups(sections)} chosen={groups} onChange={setGroups} />
          </Toolbar>
        )}
        {at !== undefined && !isOff(ledger) && <MomentLine at={at} ledger={ledger} />}
        <EventList
          ledger={ledger}
          known={known}
          filter={`${at ?? ""} ${groups.join()}`.trim()}
          empty={<EmptyState title={t("empty")}>{t("emptyText")}</EmptyState>}
        />
      </NowProvider>
    </ViewPage>
  );
}

/** At which moment the list begins, and the ways to what came later. */
function MomentLine({ at, ledger }: { readonly at: number; readonly ledger: LedgerView }) {
  const { t } = useTranslation("activity");
  const format = useFormat();
  const hrefOf = useViewHref();
  return (
    <Group gap="sm">
      <Button size="xs" variant="default" disabled={!ledger.loadNewer} onClick={ledger.loadNewer}>
        <span aria-hidden>↑</span>&nbsp;{t("moment.newer")}
      </Button>
      <Text size="sm" fw={600} className="numbers">
        {t("moment.until", { time: format.dateTime(at) })}
      </Text>
      <Anchor size="sm" href={hrefOf("activity")}>
        {t("moment.now")}
      </Anchor>
    </Group>
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
        {!isOff(ledger) && <LazyView load={loadSessions} given={{ id: player, order: 2 }} placeholder={null} />}
        {facts && !isOff(ledger) && (
          <>
            <GroupChips offered={listPlayerGroups(sections)} chosen={groups} onChange={setGroups} />
            <Note>{t("player.leftOut")}</Note>
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
function useFacts(player: string, known: readonly KnownPlayer[], list: EventListState | undefined): Facts | undefined {
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
        <Fact name={t("player.first")} testId="first-seen">
          <Moment seconds={Math.min(foundAt ?? firstAt, firstAt) / 1000} /> {!isFirst && t("player.orEarlier")}
        </Fact>
        <Fact name={t("player.last")} testId="last-seen">
          <Moment seconds={props.lastAt / 1000} />
        </Fact>
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
  const isPhone = usePhone();
  const days = useMemo(() => groupByDay(list?.events ?? NO_EVENTS, dayTimeOf), [list?.events]);
  const players = useServerState(FOR_NAMES).state?.Players;
  const names = useMemo(() => {
    const fromEvents = known.filter(({ name }) => name !== "").map(({ id, name }) => [id, name] as const);
    return new Map([...mapPlayerNames(players), ...fromEvents]);
  }, [players, known]);
  const shownNames = useSameMap(names) ?? names;
  if (!list || (error && isFinal(error))) {
    return error ? <LedgerProblem error={error} onRetry={ledger.refresh} /> : <LoadingState />;
  }
  const isEmpty = list.events.length === 0;
  return (
    <Stack gap="sm" ref={frame} tabIndex={-1} className="view">
      <NewerEvents ledger={ledger} frame={frame} />
      {error && <Alert color="orange" title={t("stale")} icon={<Icon name="warning" />} />}
      {!isEmpty && <CountLine text={t("shown", { count: list.events.length })} announceOn={filter} />}
      <PlayerNamesContext value={shownNames}>
        {days.map(({ key, at, entries }) => (
          <section key={key}>
            <DayTitle at={at} />
            <ol className={isPhone ? "plain-list framed time-line is-narrow" : "plain-list framed time-line"}>
              {entries.map((event) => (
                <EventLine key={event.id} event={event} />
              ))}
            </ol>
          </section>
        ))}
      </PlayerNamesContext>
      {isEmpty && !list.hasOlder && filter === "" && props.empty}
      {isEmpty && !list.hasOlder && filter !== "" && <EmptyState title={t("noMatch")}>{t("endOfNothing")}</EmptyState>}
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

/** Why there is no ledger to show, by the code of the error. */
const PROBLEMS = new Map([
  [ERRORS.notConfigured.code as number, { icon: "empty", name: "noArchive" } as const],
  [ERRORS.sectionForbidden.code, { icon: "keys", name: "forbidden" } as const],
  [ERRORS.unavailable.code, { icon: "warning", name: "away" } as const],
]);

function LedgerProblem({ error, onRetry }: { readonly error: ApiError; readonly onRetry: () => void }) {
  const { t } = useTranslation("activity");
  const known = PROBLEMS.get(error.code);
  if (!known) return <FailedState error={error} onRetry={onRetry} />;
  return (
    <Notice icon={known.icon} title={t(known.name)}>
      {t(`${known.name}Text`)}
    </Notice>
  );
}
