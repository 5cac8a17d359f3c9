// What the record tells of a player in numbers.
import { Text } from "@mantine/core";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { PlayerRecord } from "../../../core/wire/players.ts";
import { Note } from "../../parts/text/plain-text.tsx";
import { Ago } from "../../parts/text/time.tsx";
import { findRegion, useFormat } from "../../state/time/use-format.ts";
import { sortTeams, TeamTimes, usePresenceText } from "../history/presence-text.tsx";

/** The game does not say how many teams there can be. */
const TEAMS_SHOWN = 6;

export function RecordFacts({ record }: { readonly record: PlayerRecord }) {
  const { t, i18n } = useTranslation("player");
  const format = useFormat();
  const writePresence = usePresenceText();
  const date = useMemo(
    () => new Intl.DateTimeFormat(findRegion(i18n.language), { dateStyle: "short" }),
    [i18n.language],
  );
  const { kills, deaths, modcalls, notes } = record;
  const warnings = notes?.filter(({ kind }) => kind === "warning").length;
  const teams = Object.fromEntries(sortTeams(record.teams).slice(0, TEAMS_SHOWN));
  return (
    <section aria-label={t("record.title")} data-testid="record">
      <dl className="record-facts">
        <Tile name={t("record.firstSeen")}>
          <time dateTime={new Date(record.first_seen_at).toISOString()} title={format.dateTime(record.first_seen_at)}>
            {date.format(record.first_seen_at)}
          </time>
        </Tile>
        <Tile name={t("record.lastSeen")}>{record.is_here ? t("record.now") : <Ago at={record.last_seen_at} />}</Tile>
        <Tile name={t("record.time")}>{writePresence(record.seconds)}</Tile>
        <Tile name={t("record.sessions")}>{format.number(record.sessions)}</Tile>
        <Tile name={t("record.kills")}>
          {kills !== undefined && deaths !== undefined && `${format.number(kills)} / ${format.number(deaths)}`}
        </Tile>
        <Tile name={t("record.warnings")} isBad={(warnings ?? 0) > 0}>
          {warnings !== undefined && format.number(warnings)}
        </Tile>
        <Tile name={t("record.calls")}>
          {modcalls && (
            <>
              {format.number(modcalls.count)}
              {modcalls.last && (
                <Note span> {t("record.lastCall", { state: t(`record.call.${modcalls.last.state}`) })}</Note>
              )}
            </>
          )}
        </Tile>
      </dl>
      {Object.keys(teams).length > 0 && (
        <Text size="sm" c="dimmed" mt={6}>
          <TeamTimes teams={teams} />
        </Text>
      )}
    </section>
  );
}

/** Nothing when there is no value, which is so for what the key may not read. */
function Tile(props: { readonly name: string; readonly isBad?: boolean; readonly children: ReactNode }) {
  const { name, isBad = false, children } = props;
  if (children === undefined || children === false) return null;
  return (
    <div className="record-fact" data-bad={isBad || undefined}>
      <dt>{name}</dt>
      <dd className="numbers">{children}</dd>
    </div>
  );
}
