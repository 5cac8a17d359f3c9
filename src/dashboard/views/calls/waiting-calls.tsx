// The calls for a moderator that are open: who called, where they are, who is on it; and a line for those who have left.
import { Badge, Button, Card, Group, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import type { ModCallResource } from "../../../core/wire/players.ts";
import { Dialog, DialogButtons, useDialog } from "../../parts/dialog.tsx";
import { FailureLine } from "../../parts/states.tsx";
import { MoreButton, ROWS_AT_ONCE } from "../../parts/table/table-toolbar.tsx";
import { BriefContext, cutText, GameText, MarkedText, markInvisible } from "../../parts/text/game-text.tsx";
import { Note } from "../../parts/text/plain-text.tsx";
import { describePlace, PlayerName } from "../../parts/text/player-name.tsx";
import { WaitingTime } from "../../parts/text/time.tsx";
import { parsePlayerRef } from "../../player-ref.ts";
import { type CallGroups, pickCalls } from "../../state/calls/mod-calls.ts";
import { type Claims, useClaims } from "../../state/calls/use-claims.ts";
import { useAlerts } from "../alerts/use-alerts.tsx";
import { PlayerAct, PlayerShortcuts } from "./player-shortcuts.tsx";
import "./waiting-calls.css";

const SPOKEN_MAX = 30;
const NAME_MAX = 32;

export function WaitingCalls(props: {
  readonly groups: CallGroups;
  /** How many calls are shown; by default all, with a button for each further part of a long list. */
  readonly shownMax?: number;
  /** Below the list. */
  readonly footer?: ReactNode;
}) {
  const { t } = useTranslation("calls");
  const { groups } = props;
  const { open, left, waiting, newest } = groups;
  const [openedMax, setOpenedMax] = useState(ROWS_AT_ONCE);
  const claims = useClaims();
  const taken = useDialog<ModCallResource>();
  const { unanswered } = useAlerts();
  return (
    <Card
      component="section"
      withBorder
      padding="sm"
      aria-label={t("moderator.title")}
      className="waiting-calls"
      data-waiting={waiting > 0 || undefined}
    >
      <Stack gap="xs">
        <Group justify="space-between" wrap="nowrap" gap="xs">
          <Title order={2} size="h4">
            {t("moderator.title")}
          </Title>
          {waiting > 0 && (
            <Badge variant="light" color="orange" className="numbers" tt="none" style={{ flex: "none" }}>
              {t("moderator.count", { n: waiting })}
            </Badge>
          )}
        </Group>
        {claims?.error && (claims.isOver ? <Note>{t("moderator.isOver")}</Note> : <FailureLine error={claims.error} />)}
        {open.length === 0 && <Note>{t("moderator.none")}</Note>}
        {open.length > 0 && (
          <BriefContext value={props.shownMax !== undefined}>
            <ul className="plain-list waiting-list">
              {pickCalls(groups, props.shownMax ?? openedMax).map((call) => (
                <WaitingCall
                  key={call.id}
                  call={call}
                  isNewest={call.id === newest}
                  isUnanswered={call.state === "waiting" && (unanswered.get(call.caller) ?? 0) >= call.opened_at}
                  claims={claims}
                  onTaken={taken.open}
                />
              ))}
            </ul>
          </BriefContext>
        )}
        {props.shownMax === undefined && (
          <>
            <MoreButton left={open.length - openedMax} onClick={() => setOpenedMax(openedMax + ROWS_AT_ONCE)} />
            {left.length > 0 && <LeftCalls calls={left} />}
          </>
        )}
        {props.footer}
      </Stack>
      <Dialog state={taken} title={t("moderator.takeTitle")}>
        {(call) => (
          <Stack gap="md">
            <Text size="sm" className="untrusted">
              {t("moderator.takeText", { name: claimerOf(call) })}
            </Text>
            <DialogButtons
              label={t("moderator.take")}
              onCancel={taken.close}
              onConfirm={() => {
                claims?.take(call);
                taken.close();
              }}
            />
          </Stack>
        )}
      </Dialog>
    </Card>
  );
}

function claimerOf({ claimed_by: by }: ModCallResource): string {
  return markInvisible(cutText(by?.name ?? "", NAME_MAX).text);
}

function WaitingCall(props: {
  readonly call: ModCallResource;
  readonly isNewest: boolean;
  readonly isUnanswered: boolean;
  readonly claims: Claims | undefined;
  readonly onTaken: (call: ModCallResource) => void;
}) {
  const { t } = useTranslation("calls");
  const { call, claims } = props;
  const [isActing, setActing] = useState(false);
  const caller = parsePlayerRef(call.caller);
  return (
    <li
      className="waiting-call"
      data-claimed={call.claimed_by ? true : undefined}
      data-away={!call.is_here || undefined}
    >
      <div className="waiting-row">
        <div className="waiting-who">
          <Group gap={8} component="span">
            <PlayerName {...caller} />
            {props.isNewest && (
              <Badge size="sm" variant="filled" color="orange" autoContrast>
                {t("moderator.newest")}
              </Badge>
            )}
            {props.isUnanswered && (
              <Badge size="sm" color="red">
                {t("moderator.unanswered")}
              </Badge>
            )}
          </Group>
          <Text size="sm" component="span" c="dimmed" className="waiting-facts">
            <Text span size="sm" fw={call.state === "waiting" ? 650 : 400} className="waiting-time">
              <WaitingTime since={call.opened_at} />
            </Text>
            <span>
              <Place call={call} />
            </span>
          </Text>
          {call.claimed_by && (
            <Text size="sm" component="span" className="waiting-claimer">
              {claims?.claimOf(call).kind === "mine" ? (
                t("moderator.mine")
              ) : (
                <>
                  {t("moderator.onIt")} <MarkedText text={cutText(call.claimed_by.name, NAME_MAX).text} />
                </>
              )}
            </Text>
          )}
        </div>
        <div className="waiting-actions">
          {claims && <ClaimButton call={call} claims={claims} onTaken={props.onTaken} />}
          <PlayerShortcuts player={caller} isOnMap={call.position !== null} isActing={isActing} onAct={setActing} />
        </div>
      </div>
      {isActing && <PlayerAct player={caller} />}
    </li>
  );
}

function ClaimButton(props: {
  readonly call: ModCallResource;
  readonly claims: Claims;
  readonly onTaken: (call: ModCallResource) => void;
}) {
  const { t } = useTranslation("calls");
  const { call, claims, onTaken } = props;
  const claim = claims.claimOf(call);
  const caller = parsePlayerRef(call.caller);
  const name = markInvisible(cutText(caller.name.trim() || caller.id || "", SPOKEN_MAX).text);
  const [text, run] =
    claim.kind === "free"
      ? (["claim", () => claims.claim(call, onTaken)] as const)
      : claim.kind === "mine"
        ? (["undo", () => claims.release(call)] as const)
        : (["take", () => onTaken(call)] as const);
  return (
    <Button
      size="xs"
      variant={claim.kind === "free" ? "filled" : "default"}
      aria-label={t(`moderator.${text}Call`, { name })}
      aria-busy={claims.changing.has(call.id) || undefined}
      data-call={call.id}
      // The second click of a double click would undo the first one.
      onClick={({ detail }) => detail <= 1 && run()}
    >
      {t(`moderator.${text}`)}
    </Button>
  );
}

function Place({ call }: { readonly call: ModCallResource }) {
  const { t } = useTranslation("calls");
  if (!call.is_here) return t("notHere");
  const text = findPlace(call);
  return text === undefined ? t("moderator.noPlace") : <GameText text={text} />;
}

/** The street, or else the position; undefined when neither is known. */
export function findPlace({ position }: Pick<ModCallResource, "position">): string | undefined {
  const text = describePlace(position ?? undefined);
  if (text !== undefined) return text;
  const { LocationX: x, LocationZ: z } = position ?? {};
  return typeof x === "number" && typeof z === "number" ? `(${Math.round(x)}, ${Math.round(z)})` : undefined;
}

/** Those whose callers are gone: folded, because nobody can go to them. */
function LeftCalls({ calls }: { readonly calls: readonly ModCallResource[] }) {
  const { t } = useTranslation("calls");
  return (
    <details className="left-calls">
      <summary>{t("moderator.left", { count: calls.length })}</summary>
      <ul className="plain-list">
        {calls.slice(0, ROWS_AT_ONCE).map((call) => (
          <li key={call.id}>
            <PlayerName {...parsePlayerRef(call.caller)} />{" "}
            <Text size="sm" component="span" c="dimmed">
              <WaitingTime since={call.opened_at} />
            </Text>
          </li>
        ))}
      </ul>
    </details>
  );
}
