// The view "logs": joins and leaves, kills, commands and calls for a moderator in one time line, newest first. They come from
// the ledger, as far back as it goes. Without it the view shows the lists of the game server's state.
import { Alert, Chip, Group, Stack, Text, ThemeIcon, VisuallyHidden } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { memo, type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../core/errors.ts";
import type { Section } from "../../core/sections.ts";
import { DayTitle } from "../parts/day-title.tsx";
import { GameText } from "../parts/game-text.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Moment, NowProvider } from "../parts/moment.tsx";
import { PlayerName } from "../parts/player-name.tsx";
import { EmptyState, ForbiddenNotice, LoadingState, ServerStateGate } from "../parts/states.tsx";
import { createSearch, keyRows } from "../parts/table-rows.ts";
import { CountLine, MoreButton, SearchField, Toolbar } from "../parts/table-toolbar.tsx";
import { ViewPage } from "../parts/view-page.tsx";
import { parsePlayerRef } from "../player-ref.ts";
import { useServerSession } from "../state/session.ts";
import { type LedgerView, useLedger } from "../state/use-ledger.ts";
import { useServerState } from "../state/use-server-state.tsx";
import { GapLine, LinkedPlayer } from "./activity/event-line.tsx";
import { LedgerEnd } from "./activity/ledger-end.tsx";
import {
  type LedgerEntry,
  listLedgerEntries,
  readEntry,
  sectionOfKind,
  writeKinds,
} from "./logs/ledger-entries.ts";
import { groupByDay, KINDS, type Kind, type LogEntry, listEntries } from "./logs/time-line.ts";

const WANTED: readonly Section[] = ["JoinLogs", "KillLogs", "CommandLogs", "ModCalls"];
const ENTRIES_AT_ONCE = 100;
const SEARCH_DELAY_MS = 200;
/** After so many failed polls in a row the view goes on without the ledger. */
const FAILURES_MAX = 2;

const ICONS: Readonly<Record<Kind, { readonly icon: IconName; readonly colour: string }>> = {
  join: { icon: "join", colour: "teal" },
  leave: { icon: "leave", colour: "gray" },
  kill: { icon: "kill", colour: "red" },
  command: { icon: "commands", colour: "indigo" },
  modCall: { icon: "staff", colour: "orange" },
};

type Filter = {
  readonly kinds: readonly Kind[];
  readonly typed: string;
  /** What is typed, a moment later. */
  readonly search: string;
  readonly setKinds: (kinds: readonly Kind[]) => void;
  readonly setTyped: (text: string) => void;
};

export function LogsView() {
  const { t } = useTranslation("logs");
  const view = useServerState(WANTED);
  const { sections } = useServerSession();
  const filter = useFilter();
  const { missing } = view;
  const offered = KINDS.filter((kind) => {
    const section = sectionOfKind(kind);
    return section !== undefined && sections.includes(section) && !missing.includes(section);
  });
  const types = writeKinds(offered.filter((kind) => filter.kinds.includes(kind)));
  const ledger = useLedger({ types, isEnabled: types !== undefined });
  return (
    <ViewPage title={t("title")} summary={t("summary")}>
      <NowProvider>
        {isUsable(ledger) && types !== undefined ? (
          <Stack gap="md">
            <ForbiddenNotice sections={missing} />
            <LedgerLogs ledger={ledger} filter={filter} offered={offered} />
          </Stack>
        ) : (
          <ServerStateGate view={view}>
            {(state) => (
              <Stack gap="sm">
                <LedgerNotice ledger={ledger} />
                <StateLogs state={state} filter={filter} offered={offered} hasLedger={!ledger.error} />
              </Stack>
            )}
          </ServerStateGate>
        )}
      </NowProvider>
    </ViewPage>
  );
}

function useFilter(): Filter {
  const [kinds, setKinds] = useState<readonly Kind[]>(KINDS);
  const [typed, setTyped] = useState("");
  const [search] = useDebouncedValue(typed, SEARCH_DELAY_MS);
  return { kinds, typed, search, setKinds, setTyped };
}

/** Whether there is something of the ledger to show or to wait for. */
function isUsable({ list, error, failures }: LedgerView): boolean {
  if (!list) return error === undefined;
  // What the first readings show is recorded a moment later.
  if (list.events.length === 0 && !list.hasOlder) return false;
  return failures < FAILURES_MAX && !isFinal(error?.code);
}

/** Whether trying again is of no use. */
function isFinal(code: number | undefined): boolean {
  return code === ERRORS.notConfigured.code || code === ERRORS.sectionForbidden.code;
}

/** Says why only the newest entries are shown. Other problems are those of the whole page, which tells them itself. */
function LedgerNotice({ ledger }: { readonly ledger: LedgerView }) {
  const { t } = useTranslation("logs");
  const code = ledger.error?.code;
  if (code !== ERRORS.notConfigured.code && code !== ERRORS.unavailable.code) return null;
  return (
    <Alert color="gray" icon={<Icon name="logs" />}>
      {t(code === ERRORS.notConfigured.code ? "off" : "away")}
    </Alert>
  );
}

/** What the ledger has, as far as it is loaded. Gatehouse filters by kind; the search is over what is loaded. */
function LedgerLogs(props: {
  readonly ledger: LedgerView;
  readonly filter: Filter;
  readonly offered: readonly Kind[];
}) {
  const { t } = useTranslation(["logs", "table"]);
  const { ledger, filter } = props;
  const { list } = ledger;
  const [shownMax, setShownMax] = useState(ENTRIES_AT_ONCE);
  const entries = useMemo(() => listLedgerEntries(list?.events ?? []), [list?.events]);
  const matches = useMemo(() => createSearch(filter.search), [filter.search]);
  const found = useMemo(
    () => entries.filter((entry) => entry.kind === "gap" || matches(() => entry.texts)),
    [entries, matches],
  );
  const count = countEntries(entries);
  const foundCount = countEntries(found);
  const isSearch = foundCount < count || filter.search.trim() !== "";
  const hasOlder = list?.hasOlder ?? false;

  function loadOlder(): void {
    setShownMax(Math.max(shownMax, found.length) + ENTRIES_AT_ONCE);
    if (isSearch) ledger.loadOlder((event) => matches(() => readEntry(event)?.texts ?? []));
    else ledger.loadOlder();
  }

  return (
    <Stack gap="sm">
      <FilterBar filter={filter} offered={props.offered} />
      {!list && <LoadingState />}
      {list && (
        <CountLine
          text={
            isSearch
              ? t("table:found", { n: foundCount, count })
              : t(hasOlder ? "logs:soFar" : "table:rows", { count })
          }
          announceOn={`${filter.search}\n${filter.kinds.join()}`}
        />
      )}
      {list && foundCount === 0 && !hasOlder && <NoMatch />}
      {foundCount > 0 && <Days entries={found.slice(0, shownMax)} hasPages />}
      <MoreButton left={found.length - shownMax} onClick={() => setShownMax(shownMax + ENTRIES_AT_ONCE)} />
      {found.length <= shownMax && (
        <LedgerEnd ledger={ledger} isEmpty={foundCount === 0} isSearch={isSearch} onLoad={loadOlder} />
      )}
    </Stack>
  );
}

function countEntries(entries: readonly LedgerEntry[]): number {
  return entries.filter(({ kind }) => kind !== "gap").length;
}

/** The lists of the server's state, which hold only the newest entries. */
function StateLogs(props: {
  readonly state: Parameters<typeof listEntries>[0];
  readonly filter: Filter;
  readonly offered: readonly Kind[];
  readonly hasLedger: boolean;
}) {
  const { t } = useTranslation(["logs", "table"]);
  const { state, filter } = props;
  const { kinds, search } = filter;
  const [shownMax, setShownMax] = useState(ENTRIES_AT_ONCE);
  const entries = useMemo(() => listEntries(state), [state]);
  const found = useMemo(() => {
    const matches = createSearch(search);
    return entries.filter((entry) => kinds.includes(entry.kind) && matches(() => entry.texts));
  }, [entries, kinds, search]);
  const counts = useMemo(() => Map.groupBy(entries, ({ kind }) => kind), [entries]);
  const isFiltered = found.length < entries.length;

  if (entries.length === 0) return <EmptyState title={t("empty")} />;
  return (
    <Stack gap="sm">
      <FilterBar
        filter={filter}
        offered={props.offered}
        {...(!props.hasLedger && { countOf: (kind: Kind) => counts.get(kind)?.length ?? 0 })}
      />
      <CountLine
        text={
          isFiltered
            ? t("table:found", { n: found.length, count: entries.length })
            : t("table:rows", { count: entries.length })
        }
        announceOn={`${search}\n${kinds.join()}`}
      />
      {found.length === 0 && <NoMatch />}
      <Days entries={found.slice(0, shownMax)} />
      <MoreButton left={found.length - shownMax} onClick={() => setShownMax(shownMax + ENTRIES_AT_ONCE)} />
    </Stack>
  );
}

function FilterBar(props: {
  readonly filter: Filter;
  readonly offered: readonly Kind[];
  /** Where all entries are known. */
  readonly countOf?: (kind: Kind) => number;
}) {
  const { t } = useTranslation("logs");
  const { filter, countOf } = props;
  return (
    <Toolbar>
      <SearchField value={filter.typed} onChange={filter.setTyped} />
      <fieldset className="chips">
        <VisuallyHidden component="legend">{t("kinds")}</VisuallyHidden>
        <Chip.Group
          multiple
          value={[...filter.kinds]}
          onChange={(chosen) => filter.setKinds(KINDS.filter((kind) => chosen.includes(kind)))}
        >
          <Group gap={6}>
            {props.offered.map((kind) => (
              <Chip key={kind} value={kind} variant="light" size="sm">
                {countOf ? t("chip", { kind: t(`kind.${kind}`), n: countOf(kind) }) : t(`kind.${kind}`)}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      </fieldset>
    </Toolbar>
  );
}

function NoMatch() {
  const { t } = useTranslation("table");
  return <EmptyState title={t("noMatch")}>{t("noMatchHint")}</EmptyState>;
}

/** `hasPages`: whether names link to the pages of players. */
function Days(props: { readonly entries: readonly LedgerEntry[]; readonly hasPages?: boolean }) {
  const { entries, hasPages = false } = props;
  const days = useMemo(() => groupByDay(entries, ({ at }) => at), [entries]);
  return days.map(({ at, entries: ofDay }) => (
    <section key={at === undefined ? "unknown" : new Date(at).toDateString()}>
      <DayTitle at={at} />
      <ol className="time-line">
        {keyRows(ofDay, ({ key }) => key).map(({ key, row }) =>
          row.kind === "gap" ? (
            <GapLine key={key} event={row.event} />
          ) : (
            <Entry key={key} entry={row} hasPages={hasPages} />
          ),
        )}
      </ol>
    </section>
  ));
}

type EntryProps = { readonly entry: LogEntry; readonly hasPages: boolean };

const Entry = memo(function Entry({ entry, hasPages }: EntryProps) {
  const { t } = useTranslation("logs");
  const { icon, colour } = ICONS[entry.kind];
  return (
    <li className="time-line-entry">
      <span className="time-line-moment">
        <Moment seconds={entry.seconds} isTimeOnly />
      </span>
      <ThemeIcon variant="light" color={colour} size="md" radius="xl" aria-hidden>
        <Icon name={icon} size={15} />
      </ThemeIcon>
      <div className="time-line-text">
        <Text component="span" size="sm" c="dimmed" className="time-line-label">
          {t(`label.${entry.kind}`)}
        </Text>
        <div className="time-line-parts">
          <EntryDetails entry={entry} hasPages={hasPages} />
        </div>
      </div>
    </li>
  );
});

/** What happened, as parts in a row. A sentence would need the grammatical form of a name. */
function EntryDetails({ entry, hasPages }: EntryProps): ReactNode {
  const { t } = useTranslation("logs");
  const show = (text: string | undefined) => {
    const ref = parsePlayerRef(text);
    return hasPages ? <LinkedPlayer player={ref} /> : <PlayerName {...ref} />;
  };
  const player = show(entry.player);
  if (entry.kind === "command") {
    return (
      <>
        {player}
        <GameText text={entry.command ?? ""} max={160} isCode />
      </>
    );
  }
  if (entry.kind === "kill") {
    return (
      <>
        {entry.player ? (
          player
        ) : (
          <Text component="span" size="sm">
            {t("noKiller")}
          </Text>
        )}
        <span aria-hidden>→</span>
        <VisuallyHidden>{t("killed")}</VisuallyHidden>
        {show(entry.other)}
      </>
    );
  }
  if (entry.kind === "modCall") {
    return (
      <>
        {player}
        <Text component="span" size="sm" c="dimmed">
          {t(entry.other ? "answeredBy" : "nobody")}
        </Text>
        {entry.other && show(entry.other)}
      </>
    );
  }
  return player;
}
