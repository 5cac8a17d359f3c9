// What the drawer shows about a player: who they are, what can be done, where they are, and their last events.
import { Alert, Badge, Drawer, Group, Stack, Text } from "@mantine/core";
import { useContext, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../../core/sections.ts";
import type { Player } from "../../../core/wire/server-info.ts";
import { GameText } from "../../parts/game-text.tsx";
import { Icon } from "../../parts/icon.tsx";
import { LazyView } from "../../parts/lazy-view.tsx";
import { NowProvider } from "../../parts/moment.tsx";
import { CopyableText } from "../../parts/player-name.tsx";
import { LoadingState } from "../../parts/states.tsx";
import { parsePlayerRef } from "../../player-ref.ts";
import { PlayerIdContext, readLinkedName } from "../../state/open-player.ts";
import { useServerSession } from "../../state/session.ts";
import { useLedger } from "../../state/use-ledger.ts";
import { type ServerView, useServerState } from "../../state/use-server-state.tsx";
import { listPlayerGroups } from "../activity/event-groups.ts";
import { LoadAlertContext } from "../activity/event-line.tsx";
import { listKnownPlayers } from "../activity/find-player.ts";
import { PlayerActions } from "./player-actions.tsx";
import type { Presence } from "./player-commands.ts";
import { PlayerEvents } from "./player-events.tsx";
import { PlayerFacts } from "./player-facts.tsx";
import "./player.css";
import "./texts.ts";

const WANTED: readonly Section[] = ["Players"];
const NAME_MAX = 64;
const loadAlertText = async () => (await import("../alerts/pages.ts")).AlertText;
const loadSessions = async () => (await import("../plots.ts")).PlayerSessions;

export function PlayerDetails() {
  const id = useContext(PlayerIdContext);
  const { sections } = useServerSession();
  const view = useServerState(WANTED, true);
  const ledger = useLedger({ player: id, isEnabled: listPlayerGroups(sections).length > 0 });
  const [linkedName] = useState(readLinkedName);
  const players = view.state?.Players;
  const here = useMemo(() => players?.map((player) => parsePlayerRef(player.Player)), [players]);
  const index = here?.findIndex((other) => other.id === id) ?? -1;
  const player = players?.[index];
  const events = ledger.list?.events;
  const known = useMemo(() => listKnownPlayers(events ?? []).find((other) => other.id === id), [events, id]);
  const staffName = Object.values(view.state?.Staff ?? {}).find((names) => Object.hasOwn(names, id))?.[id];
  const name = here?.[index]?.name || known?.name || staffName || linkedName;
  const presence = judgePresence(view, player);
  return (
    <NowProvider>
      <Stack gap="md">
        <Header name={name} presence={presence} />
        {presence === undefined ? (
          <LoadingState />
        ) : (
          <>
            <PresenceNote view={view} presence={presence} />
            <PlayerActions
              player={{ name, id }}
              presence={presence}
              team={player?.Team}
              // An old reading does not tell who else is there now.
              here={view.condition === "ok" ? here : undefined}
            />
            <PlayerFacts id={id} player={player} presence={presence} ledger={ledger} />
            <LoadAlertContext value={loadAlertText}>
              <PlayerEvents id={id} name={name} ledger={ledger} />
            </LoadAlertContext>
            <LazyView load={loadSessions} given={{ id }} placeholder={null} />
          </>
        )}
      </Stack>
    </NowProvider>
  );
}

/** Undefined until the server was read. */
function judgePresence(view: ServerView, player: Player | undefined): Presence | undefined {
  if (view.missing.length > 0) return "unknown";
  if (view.state?.Players) return player ? "here" : "away";
  return view.condition === "loading" || view.condition === "ok" || view.condition === "stale"
    ? undefined
    : "unknown";
}

function Header({ name, presence }: { readonly name: string; readonly presence: Presence | undefined }) {
  const { t } = useTranslation("player");
  const id = useContext(PlayerIdContext);
  const title = useRef<HTMLHeadingElement>(null);
  // The drawer puts the focus here itself, unless this code arrives later than the drawer.
  useEffect(() => {
    const drawer = title.current?.closest("[role=dialog]");
    if (drawer?.contains(document.activeElement)) title.current?.focus({ preventScroll: true });
  }, []);
  return (
    <Stack gap={4} className="player-header">
      <Drawer.Title fz="h3" fw={650} className="view" tabIndex={-1} data-autofocus ref={title}>
        {name.trim() === "" ? t("unnamed") : <GameText text={name} max={NAME_MAX} />}
      </Drawer.Title>
      <Group gap="sm">
        <CopyableText text={id} isNumber />
        {(presence === "here" || presence === "away") && (
          <Badge variant="light" color={presence === "here" ? "teal" : "gray"} tt="none" size="lg">
            {t(presence)}
          </Badge>
        )}
      </Group>
    </Stack>
  );
}

/** What is missing, and why. */
function PresenceNote({ view, presence }: { readonly view: ServerView; readonly presence: Presence }) {
  const { t } = useTranslation(["player", "status"]);
  const isOld = view.condition !== "ok" && view.condition !== "stale" && view.condition !== "loading";
  if (presence === "unknown") {
    return (
      <Alert color="gray" icon={<Icon name="keys" />}>
        {t(view.missing.length > 0 ? "player:presenceHidden" : "player:noState")}
      </Alert>
    );
  }
  if (!isOld && presence === "here") return null;
  return (
    <Text size="sm" c="dimmed">
      {t(isOld ? "status:lastKnown" : "player:awayText")}
    </Text>
  );
}
