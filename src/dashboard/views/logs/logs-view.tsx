// The view "logs": joins and leaves, kills, commands and calls for a moderator in one table, newest first. They come from
// the ledger, as far back as it goes. Without it the view shows the lists of the game server's state.
import { Alert, Chip, Group, Stack, Text, ThemeIcon, VisuallyHidden } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { type ReactNode, useContext, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../../core/errors.ts";
import type { Section } from "../../../core/sections.ts";
import type { EventResource } from "../../../core/wire/event.ts";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { EmptyState, ForbiddenNotice, LoadingState, ServerStateGate } from "../../parts/states.tsx";
import { SortedTable } from "../../parts/table/sorted-table.tsx";
import type { Grouping, ShownColumn } from "../../parts/table/table-columns.ts";
import { createSearch } from "../../parts/table/table-rows.ts";
import { CountLine, SearchField, Toolbar } from "../../parts/table/table-toolbar.tsx";
import { BriefContext, GameText } from "../../parts/text/game-text.tsx";
import { PlayerName } from "../../parts/text/player-name.tsx";
import { DayTitle, Moment, NowProvider } from "../../parts/text/time.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { parsePlayerRef } from "../../player-ref.ts";
import { SEARCHED_EVENTS_MAX } from "../../state/ledger/event-pages.ts";
import { type LedgerView, useLedger } from "../../state/ledger/use-ledger.ts";
import { useServerState } from "../../state/server/use-server-state.tsx";
import { useServerSession } from "../../state/session/session.ts";
import { LinkedPlayer, useGapText } from "../activity/event-line.tsx";
import { LedgerEnd, NewerEvents } from "../activity/ledger-ends.tsx";
import { type LedgerEntry, listLedgerEntries, readEntry, sectionOfKind, writeKinds } from "./ledger-entries.ts";
import { KINDS, type Kind, type LogEntry, listEntries } from "./time-line.ts";

const WANTED: readonly Section[] = ["JoinLogs", "KillLogs", "CommandLogs", "ModCalls"];
const NO_ENTRIES: readonly LedgerEntry[] = [];
const SEARCH_DELAY_MS = 200;
/** After so many failed polls in a row the view goes on without the ledger. */
const FAILURES_MAX = 2;

const ICONS: Readonly<Record<LedgerEntry["kind"], { readonly icon: IconName; readonly colour: string }>> = {
  join: { icon: "join", colour: "teal" },
  leave: { icon: "leave", colour: "gray" },
  kill: { icon: "kill", colour: "red" },
  command: { icon: "commands", colour: "indigo" },
  modCall: { icon: "staff", colour: "orange" },
  gap: { icon: "warning", colour: "orange" },
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
  const ledger = useLedger({ types, isEnabled: types !== undefined, max: SEARCHED_EVENTS_MAX });
  return (
    <ViewPage title={t("title")}>
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
  const frame = useRef<HTMLDivElement>(null);
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
    if (isSearch) ledger.loadOlder((event) => matches(() => readEntry(event)?.texts ?? []));
    else ledger.loadOlder();
  }

  return (
    <Stack gap="sm" ref={frame} tabIndex={-1} className="view">
      <NewerEvents ledger={ledger} frame={frame} />
      <LogTable
        toolbar={<FilterBar filter={filter} offered={props.offered} />}
        entries={foundCount === 0 ? NO_ENTRIES : found}
        hasPages
        isPart={hasOlder}
        empty={list ? !hasOlder && <NoMatch /> : <LoadingState />}
      >
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
      </LogTable>
      <LedgerEnd ledger={ledger} isEmpty={foundCount === 0} isSearch={isSearch} onLoad={loadOlder} />
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
  const entries = useMemo(() => listEntries(state), [state]);
  const found = useMemo(() => {
    const matches = createSearch(search);
    return entries.filter((entry) => kinds.includes(entry.kind) && matches(() => entry.texts));
  }, [entries, kinds, search]);
  const counts = useMemo(() => Map.groupBy(entries, ({ kind }) => kind), [entries]);
  const isFiltered = found.length < entries.length;

  if (entries.length === 0) return <EmptyState title={t("empty")} />;
  return (
    <LogTable
      toolbar={
        <FilterBar
          filter={filter}
          offered={props.offered}
          {...(!props.hasLedger && { countOf: (kind: Kind) => counts.get(kind)?.length ?? 0 })}
        />
      }
      entries={found}
      empty={<NoMatch />}
    >
      <CountLine
        text={
          isFiltered
            ? t("table:found", { n: found.length, count: entries.length })
            : t("table:rows", { count: entries.length })
        }
        announceOn={`${search}\n${kinds.join()}`}
      />
    </LogTable>
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

const NEWEST_FIRST = { column: "time", isDescending: true };

/** The entries as a table, under a heading for each day. `hasPages`: whether names link to the pages of players. */
function LogTable(props: {
  readonly entries: readonly LedgerEntry[];
  readonly hasPages?: boolean;
  /** Whether older entries are not loaded. */
  readonly isPart?: boolean;
  readonly empty?: ReactNode;
  readonly toolbar: ReactNode;
  readonly children: ReactNode;
}) {
  const { t } = useTranslation("logs");
  const { hasPages = false } = props;
  const columns = useMemo(
    (): readonly ShownColumn<LedgerEntry>[] => [
      {
        id: "time",
        title: t("column.time"),
        readValue: ({ at }) => at,
        cell: (entry, isGrouped) => <Moment seconds={secondsOf(entry)} isTimeOnly={isGrouped} />,
        width: "13rem",
        phone: "side",
      },
      {
        id: "kind",
        title: t("column.kind"),
        readValue: ({ kind }) => (kind === "gap" ? undefined : t(`label.${kind}`)),
        cell: (entry) => <KindCell entry={entry} />,
        width: "12rem",
        phone: "line",
      },
      {
        id: "player",
        title: t("column.player"),
        readValue: (entry) => (entry.kind === "gap" ? undefined : entry.player),
        cell: (entry) => (entry.kind === "gap" ? undefined : <PlayerCell entry={entry} hasPages={hasPages} />),
        width: "26%",
        phone: "main",
      },
      {
        id: "details",
        title: t("column.details"),
        readValue: (entry) => (entry.kind === "gap" ? undefined : (entry.command ?? entry.other)),
        cell: (entry) => describeDetails(entry, hasPages),
        phone: "line",
      },
    ],
    [t, hasPages],
  );
  return (
    <SortedTable
      label={t("title")}
      name="logs"
      rows={props.entries}
      columns={columns}
      sorting={NEWEST_FIRST}
      grouping={BY_DAY}
      keyOf={keyOfEntry}
      attributesOf={attributesOfEntry}
      isPart={props.isPart ?? false}
      empty={props.empty}
      toolbar={props.toolbar}
    >
      {props.children}
    </SortedTable>
  );
}

const BY_DAY: Grouping<LedgerEntry> = {
  column: "time",
  readGroup: ({ at }) => (at === undefined ? "" : new Date(at).toDateString()),
  heading: ({ at }) => <DayTitle at={at} />,
};

function keyOfEntry({ key }: LedgerEntry): string {
  return key;
}

function attributesOfEntry({ kind }: LedgerEntry) {
  return { "data-entry": kind };
}

function secondsOf(entry: LedgerEntry): number | undefined {
  return entry.kind === "gap" ? entry.event.at / 1000 : entry.seconds;
}

function KindCell({ entry }: { readonly entry: LedgerEntry }) {
  const { t } = useTranslation(["logs", "activity"]);
  const { icon, colour } = ICONS[entry.kind];
  const isBrief = useContext(BriefContext);
  return (
    <>
      {!isBrief && (
        <ThemeIcon variant="light" color={colour} size={24} radius="xl" aria-hidden>
          <Icon name={icon} size={14} />
        </ThemeIcon>
      )}
      <Text component="span" size="sm" {...(entry.kind === "gap" && { fw: 600 })}>
        {entry.kind === "gap" ? t("activity:gap.title") : t(`logs:label.${entry.kind}`)}
      </Text>
    </>
  );
}

function PlayerCell({ entry, hasPages }: { readonly entry: LogEntry; readonly hasPages: boolean }) {
  const { t } = useTranslation("logs");
  if (entry.kind === "kill" && !entry.player) return t("noKiller");
  return <EntryPlayer text={entry.player} hasPages={hasPages} />;
}

function EntryPlayer({ text, hasPages }: { readonly text: string | undefined; readonly hasPages: boolean }) {
  const ref = parsePlayerRef(text);
  return hasPages ? <LinkedPlayer player={ref} /> : <PlayerName {...ref} />;
}

/** What happened, as parts in a row. A sentence would need the grammatical form of a name. */
function describeDetails(entry: LedgerEntry, hasPages: boolean): ReactNode {
  if (entry.kind === "gap") return <GapDetails event={entry.event} />;
  if (entry.kind === "command") return <GameText text={entry.command ?? ""} max={160} isCode />;
  if (entry.kind === "kill") return <Victim text={entry.other} hasPages={hasPages} />;
  if (entry.kind === "modCall") return <Answer text={entry.other} hasPages={hasPages} />;
  return undefined;
}

function GapDetails({ event }: { readonly event: EventResource }) {
  const text = useGapText(event);
  return text === undefined ? null : <span className="cut-text">{text}</span>;
}

function Victim({ text, hasPages }: { readonly text: string | undefined; readonly hasPages: boolean }) {
  const { t } = useTranslation("logs");
  return (
    <>
      <span aria-hidden>→</span> <VisuallyHidden>{t("killed")}</VisuallyHidden>
      <EntryPlayer text={text} hasPages={hasPages} />
    </>
  );
}

function Answer({ text, hasPages }: { readonly text: string | undefined; readonly hasPages: boolean }) {
  const { t } = useTranslation("logs");
  return (
    <>
      <Text component="span" size="sm" c="dimmed" flex="none">
        {t(text ? "answeredBy" : "nobody")}
      </Text>{" "}
      {text && <EntryPlayer text={text} hasPages={hasPages} />}
    </>
  );
}
