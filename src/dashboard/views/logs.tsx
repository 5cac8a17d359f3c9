// The view "logs": joins and leaves, kills, commands and calls for a moderator in one time line, newest first.
import { Chip, Group, Stack, Text, ThemeIcon, VisuallyHidden } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { memo, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../core/sections.ts";
import { DayTitle } from "../parts/day-title.tsx";
import { GameText } from "../parts/game-text.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Moment, NowProvider } from "../parts/moment.tsx";
import { PlayerName } from "../parts/player-name.tsx";
import { EmptyState, ServerStateGate } from "../parts/states.tsx";
import { createSearch, keyRows } from "../parts/table-rows.ts";
import { CountLine, MoreButton, SearchField, Toolbar } from "../parts/table-toolbar.tsx";
import { ViewPage } from "../parts/view-page.tsx";
import { parsePlayerRef } from "../player-ref.ts";
import { useServerState } from "../state/use-server-state.tsx";
import { groupByDay, KINDS, type Kind, type LogEntry, listEntries } from "./logs/time-line.ts";

const WANTED: readonly Section[] = ["JoinLogs", "KillLogs", "CommandLogs", "ModCalls"];
const ENTRIES_AT_ONCE = 100;
const SEARCH_DELAY_MS = 200;

const ICONS: Readonly<Record<Kind, { readonly icon: IconName; readonly colour: string }>> = {
  join: { icon: "join", colour: "teal" },
  leave: { icon: "leave", colour: "gray" },
  kill: { icon: "kill", colour: "red" },
  command: { icon: "commands", colour: "indigo" },
  modCall: { icon: "staff", colour: "orange" },
};

export function LogsView() {
  const { t } = useTranslation("logs");
  const view = useServerState(WANTED);
  const { state } = view;
  const entries = useMemo(() => (state ? listEntries(state) : []), [state]);
  return (
    <ViewPage title={t("title")} summary={t("summary")}>
      <ServerStateGate view={view}>
        {() => (
          <NowProvider>
            <TimeLine entries={entries} />
          </NowProvider>
        )}
      </ServerStateGate>
    </ViewPage>
  );
}

const TimeLine = memo(function TimeLine({ entries }: { readonly entries: readonly LogEntry[] }) {
  const { t } = useTranslation(["logs", "table"]);
  const [kinds, setKinds] = useState<readonly string[]>(KINDS);
  const [typed, setTyped] = useState("");
  const [search] = useDebouncedValue(typed, SEARCH_DELAY_MS);
  const [shownMax, setShownMax] = useState(ENTRIES_AT_ONCE);

  const found = useMemo(() => {
    const matches = createSearch(search);
    return entries.filter((entry) => kinds.includes(entry.kind) && matches(() => entry.texts));
  }, [entries, kinds, search]);
  const days = useMemo(() => groupByDay(found.slice(0, shownMax)), [found, shownMax]);
  const counts = useMemo(() => Map.groupBy(entries, ({ kind }) => kind), [entries]);
  const isFiltered = found.length < entries.length;

  if (entries.length === 0) return <EmptyState title={t("empty")} />;
  return (
    <Stack gap="sm">
      <Toolbar>
        <SearchField value={typed} onChange={setTyped} />
        <fieldset className="chips">
          <VisuallyHidden component="legend">{t("kinds")}</VisuallyHidden>
          <Chip.Group multiple value={[...kinds]} onChange={setKinds}>
            <Group gap={6}>
              {KINDS.map((kind) => (
                <Chip key={kind} value={kind} variant="light" size="sm">
                  {t("chip", { kind: t(`kind.${kind}`), n: counts.get(kind)?.length ?? 0 })}
                </Chip>
              ))}
            </Group>
          </Chip.Group>
        </fieldset>
      </Toolbar>
      <CountLine
        text={
          isFiltered
            ? t("table:found", { n: found.length, count: entries.length })
            : t("table:rows", { count: entries.length })
        }
        announceOn={`${search}\n${kinds.join()}`}
      />
      {found.length === 0 && <EmptyState title={t("table:noMatch")}>{t("table:noMatchHint")}</EmptyState>}
      {days.map(({ day, entries: ofDay }) => (
        <DayGroup key={day ?? "unknown"} at={ofDay[0]?.at} entries={ofDay} />
      ))}
      <MoreButton left={found.length - shownMax} onClick={() => setShownMax(shownMax + ENTRIES_AT_ONCE)} />
    </Stack>
  );
});

function DayGroup(props: { readonly at: number | undefined; readonly entries: readonly LogEntry[] }) {
  const { entries } = props;
  return (
    <section>
      <DayTitle at={props.at} />
      <ol className="time-line">
        {keyRows(entries, ({ key }) => key).map(({ key, row }) => (
          <Entry key={key} entry={row} />
        ))}
      </ol>
    </section>
  );
}

function Entry({ entry }: { readonly entry: LogEntry }) {
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
        <EntryDetails entry={entry} />
      </div>
    </li>
  );
}

/** What happened, as parts in a row. A sentence would need the grammatical form of a name. */
function EntryDetails({ entry }: { readonly entry: LogEntry }) {
  const { t } = useTranslation("logs");
  const player = <PlayerName {...parsePlayerRef(entry.player)} />;
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
        <PlayerName {...parsePlayerRef(entry.other)} />
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
        {entry.other && <PlayerName {...parsePlayerRef(entry.other)} />}
      </>
    );
  }
  return player;
}
