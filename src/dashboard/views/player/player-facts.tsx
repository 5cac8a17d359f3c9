// The facts about a player: of the server's state while they are on it, otherwise of the ledger.
import { Anchor, Group, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../../core/errors.ts";
import type { Player } from "../../../core/wire/server-info.ts";
import { GameText } from "../../parts/game-text.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Moment } from "../../parts/moment.tsx";
import { describePlace, StarsCell, usePermissionName } from "../../parts/player-facts.tsx";
import { TeamName } from "../../parts/team.tsx";
import { SHOW_PARAMETER } from "../../state/open-player.ts";
import { useViewHref } from "../../state/route.ts";
import { useServerSession } from "../../state/session.ts";
import type { LedgerView } from "../../state/use-ledger.ts";
import { findLeaveTime, judgeOnlineSince } from "./online-since.ts";
import type { Presence } from "./player-commands.ts";

export function PlayerFacts(props: {
  readonly id: string;
  readonly player: Player | undefined;
  readonly presence: Presence;
  readonly ledger: LedgerView;
}) {
  const { t } = useTranslation("player");
  const { player, presence, ledger } = props;
  const events = ledger.list?.events ?? [];
  const leftAt = findLeaveTime(events);
  const lastAt = events[0]?.at;
  if (presence !== "here" && lastAt === undefined) return null;
  return (
    <dl className="facts player-facts" aria-label={t("about")}>
      {player && <StateFacts id={props.id} player={player} />}
      {presence === "here" && (
        <>
          <dt>{t("since.title")}</dt>
          <dd data-testid="online-since">
            <OnlineSince ledger={ledger} />
          </dd>
        </>
      )}
      {presence === "away" && leftAt !== undefined && (
        <>
          <dt>{t("left")}</dt>
          <dd>
            <Moment seconds={leftAt / 1000} />
          </dd>
        </>
      )}
      {presence !== "here" && lastAt !== undefined && (
        <>
          <dt>{t("lastEvent")}</dt>
          <dd>
            <Moment seconds={lastAt / 1000} />
          </dd>
        </>
      )}
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
      {Team && (
        <>
          <dt>{t("players:column.team")}</dt>
          <dd>
            <TeamName team={Team} />
          </dd>
        </>
      )}
      <dt>{t("players:column.callsign")}</dt>
      <dd>{Callsign ? <GameText text={Callsign} max={16} /> : <Dimmed text={t("player:noCallsign")} />}</dd>
      {Permission && (
        <>
          <dt>{t("players:column.permission")}</dt>
          <dd>
            <GameText text={namePermission(Permission)} max={32} />
          </dd>
        </>
      )}
      <dt>{t("players:column.wanted")}</dt>
      <dd>{WantedStars ? <StarsCell count={WantedStars} /> : <Dimmed text={t("player:noStars")} />}</dd>
      <dt>{t("player:place")}</dt>
      <dd>
        <Group style={{ gap: "0 0.75rem" }}>
          {where === undefined ? (
            !hasPosition && <Dimmed text={t("player:noPlace")} />
          ) : (
            <GameText text={where} max={120} />
          )}
          {hasPosition && (
            <Anchor size="sm" href={`${hrefOf("map")}?${SHOW_PARAMETER}=${id}`}>
              <Group gap={4} wrap="nowrap" component="span" display="inline-flex">
                <Icon name="map" size={16} />
                {t("player:showOnMap")}
              </Group>
            </Anchor>
          )}
        </Group>
      </dd>
    </>
  );
}

function OnlineSince({ ledger }: { readonly ledger: LedgerView }) {
  const { t } = useTranslation("player");
  const { sections } = useServerSession();
  if (!sections.includes("JoinLogs")) return <Dimmed text={t("since.hidden")} />;
  const { list, error } = ledger;
  if (!list) {
    if (!error) return null;
    return <Dimmed text={t(error.code === ERRORS.notConfigured.code ? "since.off" : "since.unknown")} />;
  }
  const found = judgeOnlineSince(list.events);
  if (found.kind === "unknown") return <Dimmed text={t("since.unknown")} />;
  return (
    <>
      {t(`since.${found.kind}`)} <Moment seconds={found.at / 1000} />
    </>
  );
}

function Dimmed({ text }: { readonly text: string }) {
  return (
    <Text component="span" size="sm" c="dimmed">
      {text}
    </Text>
  );
}
