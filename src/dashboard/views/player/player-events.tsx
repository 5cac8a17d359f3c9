// The last events of a player in the ledger, and a link to all of them.

import { Anchor, Group, Loader, Stack } from "@mantine/core";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../../core/errors.ts";
import { Heading, Note } from "../../parts/text/plain-text.tsx";
import { DayTitle } from "../../parts/text/time.tsx";
import type { LedgerView } from "../../state/ledger/use-ledger.ts";
import { useViewHref } from "../../state/route.ts";
import { useServerSession } from "../../state/session/session.ts";
import { listPlayerGroups } from "../activity/event-groups.ts";
import { EventLine, PlayerNamesContext } from "../activity/event-line.tsx";
import { listKnownPlayers } from "../activity/find-player.ts";
import { groupByDay } from "../logs/time-line.ts";

const EVENTS_SHOWN = 10;

export function PlayerEvents(props: { readonly id: string; readonly name: string; readonly ledger: LedgerView }) {
  const { t } = useTranslation("player");
  const hrefOf = useViewHref();
  const { id, name, ledger } = props;
  const problem = useProblem(ledger);
  const events = useMemo(() => (ledger.list?.events ?? []).slice(0, EVENTS_SHOWN), [ledger.list?.events]);
  const days = useMemo(() => groupByDay(events, ({ at }) => at), [events]);
  const names = useMemo(() => {
    const known = listKnownPlayers(events).map((player) => [player.id, player.name] as const);
    return new Map([[id, name], ...known]);
  }, [events, id, name]);
  return (
    <Stack component="section" gap="xs" aria-label={t("events.title")}>
      <Group justify="space-between" gap="xs">
        <Heading order={3}>{t("events.title")}</Heading>
        <Anchor href={hrefOf(`activity/${id}`)} size="sm">
          {t("events.all")}
        </Anchor>
      </Group>
      {problem === undefined && !ledger.list && <Loader size="sm" aria-hidden />}
      {(problem ?? (ledger.list && events.length === 0)) && <Note>{t(`events.${problem ?? "none"}`)}</Note>}
      <PlayerNamesContext value={names}>
        {days.map(({ key, at, entries }) => (
          <section key={key}>
            <DayTitle at={at} order={4} />
            <ol className="plain-list framed is-narrow">
              {entries.map((event) => (
                <EventLine key={event.id} event={event} />
              ))}
            </ol>
          </section>
        ))}
      </PlayerNamesContext>
    </Stack>
  );
}

/** Why there are no events, or no new ones. */
function useProblem({ error }: LedgerView): "hidden" | "off" | "away" | "failed" | undefined {
  const { sections } = useServerSession();
  if (listPlayerGroups(sections).length === 0) return "hidden";
  if (!error) return undefined;
  if (error.code === ERRORS.sectionForbidden.code) return "hidden";
  if (error.code === ERRORS.notConfigured.code) return "off";
  return error.code === ERRORS.unavailable.code ? "away" : "failed";
}
