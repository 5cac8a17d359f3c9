// What the drawer shows about a player: who they are, what can be done, where they are, their record, sessions and last events.

import { Alert, Badge, Drawer, Group, Stack } from "@mantine/core";
import { Fragment, useContext, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../../core/sections.ts";
import type { Player } from "../../../core/wire/server-info.ts";
import { player as en } from "../../locales/en/player.ts";
import { player as ru } from "../../locales/ru/player.ts";
import { addTexts } from "../../locales/translation.ts";
import { Icon } from "../../parts/icon.tsx";
import { LazyView } from "../../parts/lazy-view.tsx";
import { FailureLine, LoadingState } from "../../parts/states.tsx";
import { GameText } from "../../parts/text/game-text.tsx";
import { Note } from "../../parts/text/plain-text.tsx";
import { CopyableText } from "../../parts/text/player-name.tsx";
import { NowProvider } from "../../parts/text/time.tsx";
import { parsePlayerRef } from "../../player-ref.ts";
import { usePlayerRecord } from "../../state/history/use-player-record.ts";
import { useLedger } from "../../state/ledger/use-ledger.ts";
import { PlayerIdContext, readLinkedName } from "../../state/open-player.ts";
import { type ServerView, useServerState } from "../../state/server/use-server-state.tsx";
import { useServerSession } from "../../state/session/session.ts";
import { listPlayerGroups } from "../activity/event-groups.ts";
import { LoadAlertContext } from "../activity/event-line.tsx";
import { listKnownPlayers } from "../activity/find-player.ts";
import { AimedCommands } from "./aimed-commands.tsx";
import { PlayerActions } from "./player-actions.tsx";
import type { Presence } from "./player-commands.ts";
import { PlayerEvents } from "./player-events.tsx";
import { PlayerFacts } from "./player-facts.tsx";
import { PlayerNotes } from "./player-notes.tsx";
import "./record.css";

/** The map shows them too, from this lazy file. */
export { PlayerActions } from "./player-actions.tsx";

addTexts({ en: { player: en }, ru: { player: ru } });

const WANTED: readonly Section[] = ["Players"];
const NAME_MAX = 64;
const loadAlertText = async () => (await import("../alerts/raised-alerts.tsx")).AlertText;
const loadRecordFacts = async () => (await import("../plots/pages.ts")).RecordFacts;
const loadSessions = async () => (await import("../plots/pages.ts")).PlayerSessions;

export function PlayerDetails() {
  const { t } = useTranslation("player");
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
  const presence = judgePresence(view, player);
  const known = usePlayerRecord(id, `${presence} ${events?.[0]?.id}`);
  const record = known?.record;
  const named = useMemo(() => listKnownPlayers(events ?? []).find((other) => other.id === id), [events, id]);
  const staffName = Object.values(view.state?.Staff ?? {}).find((names) => Object.hasOwn(names, id))?.[id];
  const name = here?.[index]?.name || named?.name || record?.names[0] || staffName || linkedName;
  const otherNames = record?.names.filter((other) => other !== name) ?? [];
  return (
    <NowProvider>
      <Stack gap="md">
        <Header name={name} otherNames={otherNames} presence={presence} />
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
            {record && <LazyView load={loadRecordFacts} given={{ record }} placeholder={null} />}
            {/* Somebody who has just come is known a moment later. */}
            {known?.isUnknown && presence !== "here" && <Note>{t("record.unknown")}</Note>}
            {known?.error && <FailureLine error={known.error} />}
            <PlayerFacts id={id} player={player} presence={presence} ledger={ledger} hasRecord={record !== undefined} />
            <div className="record-columns">
              {record?.notes && <PlayerNotes id={id} notes={record.notes} onChange={() => known?.refresh()} />}
              {record?.commands && <AimedCommands commands={record.commands} />}
            </div>
            <div className="record-columns">
              <LazyView load={loadSessions} given={{ id }} placeholder={null} />
              <LoadAlertContext value={loadAlertText}>
                <PlayerEvents id={id} name={name} ledger={ledger} />
              </LoadAlertContext>
            </div>
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
  return view.condition === "loading" || view.condition === "ok" || view.condition === "stale" ? undefined : "unknown";
}

function Header(props: {
  readonly name: string;
  /** What the player was called before, newest first. */
  readonly otherNames: readonly string[];
  readonly presence: Presence | undefined;
}) {
  const { name, otherNames, presence } = props;
  const { t } = useTranslation("player");
  const id = useContext(PlayerIdContext);
  const title = useRef<HTMLHeadingElement>(null);
  // The drawer puts the focus here itself, unless this code arrives later than the drawer.
  useEffect(() => {
    const drawer = title.current?.closest("[role=dialog]");
    if (drawer?.contains(document.activeElement)) title.current?.focus({ preventScroll: true });
  }, []);
  return (
    <Stack gap={2} pe="3rem">
      <Group gap="sm">
        <Drawer.Title fz="h2" fw={650} lh={1.2} className="view" tabIndex={-1} data-autofocus ref={title}>
          {name.trim() === "" ? t("unnamed") : <GameText text={name} max={NAME_MAX} />}
        </Drawer.Title>
        {(presence === "here" || presence === "away") && (
          <Badge variant="light" color={presence === "here" ? "teal" : "gray"} tt="none" size="lg">
            {t(presence)}
          </Badge>
        )}
      </Group>
      <Group gap="0.2rem 0.75rem" fz="sm" c="dimmed">
        <CopyableText text={id} isNumber />
        {otherNames.length > 0 && (
          <span>
            {t("otherNames")}{" "}
            {otherNames.map((other, index) => (
              <Fragment key={other}>
                {index > 0 && ", "}
                <GameText text={other} />
              </Fragment>
            ))}
          </span>
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
  return <Note>{t(isOld ? "status:lastKnown" : "player:awayText")}</Note>;
}
