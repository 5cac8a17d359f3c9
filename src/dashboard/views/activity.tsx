// The view "activity": the events of the server, newest first, and the page of one player.
import { Alert, Button, Chip, Group, Stack, Text, VisuallyHidden } from "@mantine/core";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../core/errors.ts";
import type { EventResource } from "../../core/wire/event.ts";
import type { ApiError } from "../api/request.ts";
import { DayTitle } from "../parts/day-title.tsx";
import { Icon } from "../parts/icon.tsx";
import { Moment, NowProvider } from "../parts/moment.tsx";
import { CopyableText } from "../parts/player-name.tsx";
import { EmptyState, FailedState, LoadingState, Notice } from "../parts/states.tsx";
import { CountLine, Toolbar } from "../parts/table-toolbar.tsx";
import { ViewPage } from "../parts/view-page.tsx";
import { useRouteId } from "../state/route.ts";
import { useServerSession } from "../state/session.ts";
import { type LedgerView, useLedger, usePlayerSpan } from "../state/use-ledger.ts";
import { isPlayerId } from "./activity/describe-event.ts";
import { listGroups, writeTypes } from "./activity/event-groups.ts";
import { EventLine } from "./activity/event-line.tsx";
import { listKnownPlayers } from "./activity/find-player.ts";
import { AllActivityLink, PlayerFinder } from "./activity/player-finder.tsx";
import { groupByDay } from "./logs/time-line.ts";

const NO_EVENTS: readonly EventResource[] = [];

export function ActivityView() {
  const { t } = useTranslation("shell");
  const id = useRouteId("activity");
  if (id === undefined || id === "") return <ServerActivity />;
  if (!isPlayerId(id)) return <Notice icon="search" title={t("notFound")} />;
  return <PlayerActivity key={id} player={id} />;
}

function ServerActivity() {
  const { t } = useTranslation("activity");
  const [groups, setGroups] = useState<readonly string[]>([]);
  const ledger = useLedger(writeTypes(groups), undefined);
  const events = ledger.list?.events ?? NO_EVENTS;
  const known = useMemo(() => listKnownPlayers(events), [events]);
  return (
    <ViewPage title={t("title")} summary={t("summary")}>
      <NowProvider>
        {ledger.error?.code !== ERRORS.notConfigured.code && (
          <Toolbar>
            <PlayerFinder known={known} />
            <GroupChips chosen={groups} onChange={setGroups} />
          </Toolbar>
        )}
        <EventList ledger={ledger} filter={groups.join()} />
      </NowProvider>
    </ViewPage>
  );
}

function PlayerActivity({ player }: { readonly player: string }) {
  const { t } = useTranslation("activity");
  const [groups, setGroups] = useState<readonly string[]>([]);
  const ledger = useLedger(writeTypes(groups), player);
  const events = ledger.list?.events ?? NO_EVENTS;
  const name = useMemo(
    () => listKnownPlayers(events).find((known) => known.id === player)?.name ?? "",
    [events, player],
  );
  return (
    <ViewPage title={t("player.title", { id: player })} actions={<AllActivityLink />}>
      <NowProvider>
        {ledger.error?.code !== ERRORS.notConfigured.code && (
          <>
            <PlayerFacts player={player} name={name} newestAt={events[0]?.at} />
            <GroupChips chosen={groups} onChange={setGroups} />
            <Text size="sm" c="dimmed">
              {t("player.noGaps")}
            </Text>
          </>
        )}
        <EventList ledger={ledger} filter={groups.join()} />
      </NowProvider>
    </ViewPage>
  );
}

function PlayerFacts(props: {
  readonly player: string;
  readonly name: string;
  readonly newestAt: number | undefined;
}) {
  const { t } = useTranslation("activity");
  const { name, newestAt } = props;
  const span = usePlayerSpan(props.player);
  const lastAt = Math.max(span?.lastAt ?? Number.NEGATIVE_INFINITY, newestAt ?? Number.NEGATIVE_INFINITY);
  const isKnown = Number.isFinite(lastAt);
  return (
    <Stack gap="xs">
      {name === "" ? (
        <Text c="dimmed">{t("player.unnamed")}</Text>
      ) : (
        <span>
          <CopyableText text={name} isStrong />
        </span>
      )}
      {span && !isKnown && <Text size="sm">{t("player.never")}</Text>}
      {isKnown && (
        <dl className="facts player-facts">
          <dt>{t("player.first")}</dt>
          <dd data-testid="first-seen">
            {span?.firstAt === undefined ? (
              span && t("player.tooFarBack")
            ) : (
              <Moment seconds={span.firstAt / 1000} />
            )}
          </dd>
          <dt>{t("player.last")}</dt>
          <dd data-testid="last-seen">
            <Moment seconds={lastAt / 1000} />
          </dd>
        </dl>
      )}
    </Stack>
  );
}

/** No chosen group means everything. */
function GroupChips(props: {
  readonly chosen: readonly string[];
  readonly onChange: (groups: readonly string[]) => void;
}) {
  const { t } = useTranslation("activity");
  const { sections } = useServerSession();
  const { chosen, onChange } = props;
  return (
    <fieldset className="chips">
      <VisuallyHidden component="legend">{t("kinds")}</VisuallyHidden>
      <Group gap={6}>
        <Chip checked={chosen.length === 0} onChange={() => onChange([])} variant="light" size="sm">
          {t("everything")}
        </Chip>
        <Chip.Group multiple value={[...chosen]} onChange={onChange}>
          {listGroups(sections).map((group) => (
            <Chip key={group} value={group} variant="light" size="sm">
              {t(`group.${group}`)}
            </Chip>
          ))}
        </Chip.Group>
      </Group>
    </fieldset>
  );
}

function EventList({ ledger, filter }: { readonly ledger: LedgerView; readonly filter: string }) {
  const { t } = useTranslation("activity");
  const { list, error } = ledger;
  const days = useMemo(() => groupByDay(list?.events ?? NO_EVENTS), [list?.events]);
  if (!list || (error && isFinal(error))) {
    return error ? <LedgerProblem error={error} onRetry={ledger.refresh} /> : <LoadingState />;
  }
  const isEmpty = list.events.length === 0;
  return (
    <Stack gap="sm">
      {error && <Alert color="orange" title={t("stale")} icon={<Icon name="warning" />} />}
      {!isEmpty && <CountLine text={t("shown", { count: list.events.length })} announceOn={filter} />}
      {days.map(({ entries }) => (
        <section key={entries.at(-1)?.id}>
          <DayTitle at={entries[0]?.at} />
          <ol className="time-line">
            {entries.map((event) => (
              <EventLine key={event.id} event={event} />
            ))}
          </ol>
        </section>
      ))}
      {isEmpty && !list.hasOlder && (
        <EmptyState title={t(filter === "" ? "empty" : "noMatch")}>
          {t(filter === "" ? "emptyText" : "endOfNothing")}
        </EmptyState>
      )}
      <ListEnd ledger={ledger} isEmpty={isEmpty} hasOlder={list.hasOlder} />
    </Stack>
  );
}

function ListEnd(props: {
  readonly ledger: LedgerView;
  readonly isEmpty: boolean;
  readonly hasOlder: boolean;
}) {
  const { t } = useTranslation(["activity", "status"]);
  const { ledger, isEmpty, hasOlder } = props;
  const { olderError } = ledger;
  if (!hasOlder) {
    return isEmpty ? null : (
      <Text size="sm" c="dimmed" ta="center">
        {t("end")}
      </Text>
    );
  }
  return (
    <Stack gap={6} align="center">
      {olderError && (
        <Text size="sm" c="red" role="alert" className="untrusted">
          {olderError.code === 0
            ? t("status:title.unreachable")
            : t("status:text.failed", { message: olderError.message, code: olderError.code })}
        </Text>
      )}
      <Button variant="default" loading={ledger.isLoadingOlder} onClick={ledger.loadOlder}>
        {t(isEmpty ? "lookFurther" : "loadOlder")}
      </Button>
    </Stack>
  );
}

/** Whether what is shown must go: there is no ledger, or the key lost the right to read it. */
function isFinal({ code }: ApiError): boolean {
  return code === ERRORS.notConfigured.code || code === ERRORS.sectionForbidden.code;
}

function LedgerProblem({ error, onRetry }: { readonly error: ApiError; readonly onRetry: () => void }) {
  const { t } = useTranslation("activity");
  if (error.code === ERRORS.notConfigured.code) {
    return (
      <Notice icon="empty" title={t("off")}>
        {t("offText")}
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
  return <FailedState error={error} onRetry={onRetry} />;
}
