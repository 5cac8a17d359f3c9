// The calls for a moderator that nobody has answered: those that wait first, below them those that this user has seen.
import { Badge, Button, Card, Group, Stack, Text, Title, Tooltip } from "@mantine/core";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { ModCall, Player } from "../../../core/wire/server-info.ts";
import { cutText, GameText, markInvisible } from "../../parts/game-text.tsx";
import { Icon } from "../../parts/icon.tsx";
import { OpenPlayerButton } from "../../parts/open-player-button.tsx";
import { PlayerName } from "../../parts/player-name.tsx";
import { keyRows } from "../../parts/table-rows.ts";
import { MoreButton, ROWS_AT_ONCE } from "../../parts/table-toolbar.tsx";
import { WaitingTime } from "../../parts/waiting-time.tsx";
import { parsePlayerRef } from "../../player-ref.ts";
import { type CallGroups, findCallTime, keyOfCall } from "../../state/mod-calls.ts";
import { useServerSession } from "../../state/session.ts";
import { setSeen } from "../../state/use-seen-calls.ts";
import { findCallerPlace } from "./caller-place.ts";
import "./waiting-calls.css";

const SPOKEN_MAX = 30;

export function WaitingCalls(props: {
  readonly groups: CallGroups;
  /** Undefined when the key may not read them. */
  readonly players: readonly Player[] | undefined;
  /** How many calls are shown; by default all, with a button for each further part of a long list. */
  readonly shownMax?: number;
  /** Below the list. */
  readonly footer?: ReactNode;
  readonly hasSeeAll?: boolean;
}) {
  const { t } = useTranslation("calls");
  const { serverId } = useServerSession();
  const { groups, players } = props;
  const { waiting, seen } = groups;
  const [openedMax, setOpenedMax] = useState(ROWS_AT_ONCE);
  const shownMax = props.shownMax ?? openedMax;
  const title = useRef<HTMLHeadingElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const changed = useRef<string>(undefined);
  const rows = useMemo(() => {
    const seenCalls = new Set(seen);
    return keyRows([...waiting, ...seen].slice(0, shownMax), keyOfCall).map(({ key, row }) => ({
      key,
      call: row,
      isSeen: seenCalls.has(row),
    }));
  }, [waiting, seen, shownMax]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the order has changed
  useEffect(() => {
    const key = changed.current;
    changed.current = undefined;
    // The browser takes the focus away from an element that moves.
    if (key === undefined || document.activeElement !== document.body) return;
    const buttons = list.current?.querySelectorAll<HTMLElement>("button[data-call]") ?? [];
    const button = Array.from(buttons).find((each) => each.dataset.call === key);
    (button ?? title.current)?.focus({ preventScroll: true });
  }, [rows]);

  function mark(call: ModCall, isSeen: boolean): void {
    changed.current = keyOfCall(call);
    setSeen(serverId, [keyOfCall(call)], isSeen);
  }

  return (
    <Card
      component="section"
      withBorder
      padding="md"
      aria-label={t("moderator.title")}
      className="waiting-calls"
      data-waiting={waiting.length > 0 || undefined}
    >
      <Stack gap="xs">
        <Group justify="space-between" wrap="nowrap" gap="xs">
          <Title order={2} size="h4" ref={title} tabIndex={-1} className="view">
            {t("moderator.title")}
          </Title>
          {waiting.length > 0 && (
            <Badge variant="light" color="orange" className="numbers" tt="none" style={{ flex: "none" }}>
              {t("moderator.count", { n: waiting.length })}
            </Badge>
          )}
        </Group>
        {waiting.length === 0 && (
          <Text c="dimmed" size="sm">
            {t("moderator.none")}
          </Text>
        )}
        {rows.length > 0 && (
          <ul className="waiting-list" ref={list}>
            {rows.map(({ key, call, isSeen }) => (
              <WaitingCall key={key} call={call} isSeen={isSeen} players={players} onMark={mark} />
            ))}
          </ul>
        )}
        {props.hasSeeAll && waiting.length > 1 && (
          <Button
            variant="subtle"
            size="xs"
            className="waiting-see-all"
            leftSection={<Icon name="eye" size={16} />}
            onClick={() => {
              setSeen(serverId, waiting.map(keyOfCall), true);
              title.current?.focus({ preventScroll: true });
            }}
          >
            {t("moderator.seeAll")}
          </Button>
        )}
        {props.shownMax === undefined && (
          <MoreButton
            left={waiting.length + seen.length - openedMax}
            onClick={() => setOpenedMax(openedMax + ROWS_AT_ONCE)}
          />
        )}
        {props.footer}
      </Stack>
    </Card>
  );
}

function WaitingCall(props: {
  readonly call: ModCall;
  readonly isSeen: boolean;
  readonly players: readonly Player[] | undefined;
  readonly onMark: (call: ModCall, isSeen: boolean) => void;
}) {
  const { t } = useTranslation(["calls", "table"]);
  const { call, isSeen, players, onMark } = props;
  const caller = parsePlayerRef(call.Caller);
  const name = caller.name.trim() || caller.id || t("table:unknown");
  return (
    <li className="waiting-call" data-seen={isSeen || undefined}>
      <span className="waiting-name">
        <PlayerName {...caller} />
      </span>
      <Text size="sm" component="span" fw={isSeen ? 400 : 650} className="waiting-time">
        <WaitingTime since={findCallTime(call)} />
      </Text>
      <Text size="sm" component="span" c="dimmed" className="waiting-place">
        {players && <Place call={call} players={players} />}
      </Text>
      <div className="waiting-actions">
        <OpenPlayerButton player={caller} />
        <Tooltip label={t("moderator.seenHint")} multiline maw={280}>
          <Button
            size="xs"
            variant={isSeen ? "light" : "default"}
            color="gray"
            leftSection={<Icon name={isSeen ? "check" : "eye"} size={16} />}
            aria-pressed={isSeen}
            aria-label={t("moderator.seenCall", { name: markInvisible(cutText(name, SPOKEN_MAX).text) })}
            data-call={keyOfCall(call)}
            // The second click of a double click would undo the first one.
            onClick={({ detail }) => detail <= 1 && onMark(call, !isSeen)}
          >
            {t("moderator.seen")}
          </Button>
        </Tooltip>
      </div>
    </li>
  );
}

function Place({ call, players }: { readonly call: ModCall; readonly players: readonly Player[] }) {
  const { t } = useTranslation("calls");
  const place = useMemo(() => findCallerPlace(call, players), [call, players]);
  if (place.kind === "place") return <GameText text={place.text} />;
  return t(place.kind === "away" ? "notHere" : "moderator.noPlace");
}
