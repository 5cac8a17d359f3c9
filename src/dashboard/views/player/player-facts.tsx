// The facts about a player: of the server's state while they are on it, otherwise of the ledger.

import { Anchor, Group } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../../core/errors.ts";
import type { EventResource } from "../../../core/wire/event.ts";
import type { Player } from "../../../core/wire/server-info.ts";
import { Icon } from "../../parts/icon.tsx";
import { GameText } from "../../parts/text/game-text.tsx";
import { Fact, Note } from "../../parts/text/plain-text.tsx";
import { describePlace, StarsCell, usePermissionName } from "../../parts/text/player-name.tsx";
import { TeamName } from "../../parts/text/team.tsx";
import { Moment } from "../../parts/text/time.tsx";
import type { LedgerView } from "../../state/ledger/use-ledger.ts";
import { SHOW_PARAMETER } from "../../state/open-player.ts";
import { useViewHref } from "../../state/route.ts";
import { useServerSession } from "../../state/session/session.ts";
import type { Presence } from "./player-commands.ts";

export function PlayerFacts(props: {
  readonly id: string;
  readonly player: Player | undefined;
  readonly presence: Presence;
  readonly ledger: LedgerView;
  /** Whether the record tells when the player was last there. */
  readonly hasRecord: boolean;
}) {
  const { t } = useTranslation("player");
  const { player, presence, ledger, hasRecord } = props;
  const events = ledger.list?.events ?? [];
  const leftAt = findLeaveTime(events);
  const lastAt = events[0]?.at;
  if (presence !== "here" && (lastAt === undefined || hasRecord)) return null;
  return (
    <dl className="facts player-facts" aria-label={t("about")}>
      {player && <StateFacts id={props.id} player={player} />}
      <Fact name={t("since.title")} testId="online-since">
        {presence === "here" && <OnlineSince ledger={ledger} />}
      </Fact>
      <Fact name={t("left")}>{presence === "away" && leftAt !== undefined && <Moment seconds={leftAt / 1000} />}</Fact>
      <Fact name={t("lastEvent")}>
        {presence !== "here" && lastAt !== undefined && <Moment seconds={lastAt / 1000} />}
      </Fact>
    </dl>
  );
}

function StateFacts({ id, player }: { readonly id: string; readonly player: Player }) {
  const { t } = useTranslation(["player", "players"]);
  const hrefOf = useViewHref();
  const namePermission = usePermissionName();
  const { Team, Callsign, Permission, WantedStars, Location: place } = player;
  const where = describePlace(place);
  const hasPosition = typeof place?.LocationX === "number" && typeof place.LocationZ === "number";
  return (
    <>
      <Fact name={t("players:column.team")}>{Team && <TeamName team={Team} />}</Fact>
      <Fact name={t("players:column.callsign")}>
        {Callsign ? <GameText text={Callsign} max={16} /> : <Note span>{t("player:noCallsign")}</Note>}
      </Fact>
      <Fact name={t("players:column.permission")}>
        {Permission && <GameText text={namePermission(Permission)} max={32} />}
      </Fact>
      <Fact name={t("players:column.wanted")}>
        {WantedStars ? <StarsCell count={WantedStars} /> : <Note span>{t("player:noStars")}</Note>}
      </Fact>
      <Fact name={t("player:place")}>
        <Group style={{ gap: "0 0.75rem" }}>
          {where !== undefined && <GameText text={where} max={120} />}
          {where === undefined && !hasPosition && <Note span>{t("player:noPlace")}</Note>}
          {hasPosition && (
            <Anchor size="sm" href={`${hrefOf("map")}?${SHOW_PARAMETER}=${id}`}>
              <Group gap={4} wrap="nowrap" component="span" display="inline-flex">
                <Icon name="map" size={16} />
                {t("player:showOnMap")}
              </Group>
            </Anchor>
          )}
        </Group>
      </Fact>
    </>
  );
}

function OnlineSince({ ledger }: { readonly ledger: LedgerView }) {
  const { t } = useTranslation("player");
  const { sections } = useServerSession();
  if (!sections.includes("JoinLogs")) return <Note span>{t("since.hidden")}</Note>;
  const { list, error } = ledger;
  if (!list) {
    if (!error) return null;
    return <Note span>{t(error.code === ERRORS.notConfigured.code ? "since.off" : "since.unknown")}</Note>;
  }
  const found = judgeOnlineSince(list.events);
  if (found.kind === "unknown") return <Note span>{t("since.unknown")}</Note>;
  return (
    <>
      {t(`since.${found.kind}`)} <Moment seconds={found.at / 1000} />
    </>
  );
}

export type KnownSince =
  | { readonly kind: "since" | "atLeastSince"; readonly at: number }
  | { readonly kind: "unknown" };

/**
 * `events` are those of a player who is on the server, newest first, with joins and leaves among them. A leave that is newer than
 * the last join means that the player has come back unseen. Events from before the first reading tell nothing: the game's log of
 * leaves may not go as far back as its other logs.
 */
export function judgeOnlineSince(events: readonly EventResource[]): KnownSince {
  const last = events.findIndex(({ type }) => type === "player.joined" || type === "player.left");
  const found = events[last];
  if (found?.type === "player.joined") return { kind: "since", at: found.at };
  const sinceThen = (last === -1 ? events : events.slice(0, last)).filter(({ backfill }) => !backfill);
  if (sinceThen.length === 0) return { kind: "unknown" };
  return { kind: "atLeastSince", at: Math.min(...sinceThen.map(({ at }) => at)) };
}

/** When the player has left; undefined when no leave is known. */
export function findLeaveTime(events: readonly EventResource[]): number | undefined {
  return events.find(({ type }) => type === "player.left")?.at;
}
