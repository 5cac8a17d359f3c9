// When a player was on the server in a period: each session with its length, its teams and how it ended, and the time in all.

import { Badge, Button, Group, Stack, Text, Title } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../../core/sections.ts";
import type { SessionResource } from "../../../core/wire/history.ts";
import { Note } from "../../parts/text/plain-text.tsx";
import { parsePlayerRef } from "../../player-ref.ts";
import type { Period, PeriodChoice } from "../../state/history/period.ts";
import {
  type HistoryItems,
  type HistoryProblem,
  useHistoryList,
  useHistoryProblem,
  useMayAsk,
} from "../../state/history/use-history.ts";
import { useServerState } from "../../state/server/use-server-state.tsx";
import { getFormats } from "../../state/time/use-format.ts";
import { ExportButtons } from "../history/export-buttons.tsx";
import { PeriodField } from "../history/period-field.tsx";
import { TeamTimes, usePresenceText } from "../history/presence-text.tsx";
import "../history/history.css";

const OFFERED = ["week", "month", "year"] as const;
const WANTED: readonly Section[] = ["Players"];
const SHOWN_AT_ONCE = 5;

/** `order` is the level of the heading: 3 by default. */
export function PlayerSessions({ id, order = 3 }: { readonly id: string; readonly order?: 2 | 3 }) {
  const { t } = useTranslation("history");
  const [choice, setChoice] = useState<PeriodChoice>({ name: "month" });
  const mayAsk = useMayAsk("sessions");
  const list = useHistoryList("sessions", choice, { player: id, isEnabled: mayAsk });
  const problem = useHistoryProblem("sessions", list.error);
  const isGone = useIsGone(id);
  const hasOpen = (list.value ?? []).some(({ ended }) => ended === null);
  const state = !isGone ? "here" : hasOpen ? "left" : "gone";
  const before = useRef("here");
  const { refresh } = list;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each time that the player leaves or comes back
  useEffect(() => {
    if (state === "left" || (state === "here" && before.current !== "here")) refresh();
    before.current = state;
  }, [state]);
  return (
    <Stack component="section" gap="xs" aria-label={t("sessions.title")}>
      <Title order={order} size="h5">
        {t("sessions.title")}
      </Title>
      {problem ? (
        <ProblemLine problem={problem} />
      ) : (
        <>
          <PeriodField offered={OFFERED} choice={choice} onChange={setChoice} />
          <SessionList key={choice.name} list={list} isGone={isGone} />
          <ExportButtons spec={list.period && { question: "sessions", period: list.period, player: id }} />
        </>
      )}
    </Stack>
  );
}

/** Whether the server's state says that the player is not there. It is newer than what the archive knows. */
function useIsGone(id: string): boolean {
  const players = useServerState(WANTED).state?.Players;
  return players !== undefined && !players.some(({ Player }) => parsePlayerRef(Player).id === id);
}

function ProblemLine({ problem }: { readonly problem: HistoryProblem }) {
  const { t } = useTranslation(["history", "status"]);
  const sections =
    problem.kind === "forbidden" ? problem.sections.map((name) => t(`status:sections.${name}`)).join(", ") : "";
  return (
    <Note>{problem.kind === "forbidden" ? t("sessions.hidden", { sections }) : t(`sessions.${problem.kind}`)}</Note>
  );
}

function SessionList(props: { readonly list: HistoryItems<"sessions">; readonly isGone: boolean }) {
  const { t } = useTranslation("history");
  const writePresence = usePresenceText();
  const [shown, setShown] = useState(SHOWN_AT_ONCE);
  const { list, isGone } = props;
  const { value, period } = list;
  if (!value || !period) return null;
  if (value.length === 0) {
    return <Note>{t("sessions.empty")}</Note>;
  }
  const total = t("sessions.total", { count: value.length, time: writePresence(sumSessions(value, period)) });
  return (
    <>
      <Text size="sm" fw={600} className="numbers" data-testid="playtime">
        {list.hasMore ? t("sessions.atLeast", { total }) : total}
      </Text>
      <Stack component="ul" gap={6} className="plain-list">
        {value.slice(0, shown).map((session) => (
          <SessionLine key={session.joined_at} session={session} isGone={isGone} />
        ))}
      </Stack>
      {value.length > shown && (
        <Group>
          <Button size="xs" variant="subtle" onClick={() => setShown(shown * 4)}>
            {t("sessions.more", { n: Math.min(value.length - shown, shown * 3) })}
          </Button>
        </Group>
      )}
    </>
  );
}

function SessionLine({ session, isGone }: { readonly session: SessionResource; readonly isGone: boolean }) {
  const { t, i18n } = useTranslation("history");
  const writePresence = usePresenceText();
  const format = getFormats(i18n.language).shortDateTime;
  const { joined_at: from, left_at: to, ended } = session;
  return (
    <li>
      <Group gap="xs" justify="space-between" align="baseline">
        <Text size="sm" className="numbers">
          {to === null ? t("sessions.open", { from: format.format(from) }) : format.formatRange(from, to)}
        </Text>
        <Text size="sm" fw={600} className="numbers">
          {writePresence(session.seconds)}
        </Text>
      </Group>
      <Group gap="xs">
        {ended === null && !isGone ? (
          <Badge variant="light" color="teal" tt="none">
            {t("sessions.ended.open")}
          </Badge>
        ) : (
          <Note>{t(`sessions.ended.${ended ?? "gone"}`)}</Note>
        )}
        <Text size="sm" component="span" c="dimmed">
          <TeamTimes teams={session.teams} />
        </Text>
      </Group>
    </li>
  );
}

/** In seconds. Of a session that reaches over an end of the period only the part inside counts. */
export function sumSessions(sessions: readonly SessionResource[], { from, to }: Period): number {
  const ms = sessions.reduce((sum, { joined_at, left_at }) => {
    return sum + Math.max(0, Math.min(left_at ?? to, to) - Math.max(joined_at, from));
  }, 0);
  return Math.floor(ms / 1000);
}
