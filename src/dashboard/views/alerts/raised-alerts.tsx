// Shows alerts: what one says, and those that the user has not dismissed. Loaded with the first of them.

import { ActionIcon, Button, Divider, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../../core/sections.ts";
import { alertEvents as en } from "../../locales/en/alert-events.ts";
import { alertEvents as ru } from "../../locales/ru/alert-events.ts";
import { addTexts } from "../../locales/translation.ts";
import { Icon } from "../../parts/icon.tsx";
import { BriefContext, GameText } from "../../parts/text/game-text.tsx";
import { Heading, Note } from "../../parts/text/plain-text.tsx";
import { PlayerName } from "../../parts/text/player-name.tsx";
import { Ago, NowProvider, useRelativeTime, useSharedNow } from "../../parts/text/time.tsx";
import { parsePlayerRef } from "../../player-ref.ts";
import { useServerState } from "../../state/server/use-server-state.tsx";
import { useServerSession } from "../../state/session/session.ts";
import type { AlertFacts } from "../activity/describe-event.ts";
import { LoadActContext, PlayerAct, PlayerShortcuts } from "../calls/player-shortcuts.tsx";
import { SERVER_SUBJECT, type ShownAlert } from "./alert-list.ts";
import { RingChoices } from "./ring-choices.tsx";
import { dismissAlerts, useAlerts } from "./use-alerts.tsx";
import "./raised-alerts.css";

addTexts({ en: { alertEvents: en }, ru: { alertEvents: ru } });

/** What the bell opens. */
export function AlertsPanel(props: {
  readonly sections: readonly Section[];
  /** Called when the user follows a link to another view. */
  readonly onLeave: () => void;
}) {
  const { t } = useTranslation("alertEvents");
  const { shown } = useAlerts();
  return (
    <Stack gap="md">
      {shown.length === 0 ? <Note>{t("none")}</Note> : <AlertRows alerts={shown} onLeave={props.onLeave} />}
      <Divider />
      <Heading order={3}>{t("rings.title")}</Heading>
      <RingChoices sections={props.sections} />
    </Stack>
  );
}

const loadAct = async () => (await import("../calls/player-act.tsx")).PlayerAct;

export function AlertRows(props: {
  readonly alerts: readonly ShownAlert[];
  /** How many are shown; by default all. */
  readonly shownMax?: number;
  /** Called when the user follows a link. */
  readonly onLeave?: () => void;
}) {
  const { t } = useTranslation("alertEvents");
  const { serverId } = useServerSession();
  const { alerts, shownMax = alerts.length, onLeave } = props;
  const over = alerts.filter(({ endedAt }) => endedAt !== undefined);
  const dismissed = over.length > 0 ? over : alerts;
  return (
    <NowProvider>
      <ul
        className="plain-list alert-rows"
        onClickCapture={({ target }) => target instanceof Element && target.closest("a") && onLeave?.()}
      >
        {alerts.slice(0, shownMax).map((alert) => (
          <AlertRow key={alert.id} alert={alert} />
        ))}
      </ul>
      {alerts.length > 1 && (
        <Group gap="xs" mt={4} justify="space-between" data-over={over.length === alerts.length || undefined}>
          <Text size="sm" c="dimmed">
            {alerts.length > shownMax && t("more", { n: alerts.length - shownMax })}
          </Text>
          <Button
            variant="subtle"
            size="compact-sm"
            onClick={() =>
              dismissAlerts(
                serverId,
                dismissed.map(({ id }) => id),
              )
            }
          >
            {t(dismissed.length < alerts.length ? "dismissOver" : "dismissAll")}
          </Button>
        </Group>
      )}
    </NowProvider>
  );
}

function AlertRow({ alert }: { readonly alert: ShownAlert }) {
  const { t } = useTranslation("alertEvents");
  const session = useServerSession();
  const { state } = useServerState();
  const [isActing, setActing] = useState(false);
  const { id, at, endedAt, ...facts } = alert;
  const player = playerOf(facts);
  const seesPlaces = session.kind === "viewer" || !session.hide.includes("Location");
  const isHere = state?.Players?.some(({ Player }) => parsePlayerRef(Player).id === player?.id) ?? false;
  const name = useRuleName(facts.rule);
  return (
    <li data-rule={facts.rule} data-over={endedAt !== undefined || undefined}>
      <div className="alert-row">
        <Icon
          name={facts.rule === "kills" ? "kill" : facts.rule === "mass_command" ? "commands" : "warning"}
          size={18}
        />
        <Group style={{ gap: "0 0.6rem" }} className="alert-text">
          <BriefContext value>
            <AlertText {...facts} />
          </BriefContext>
          <Text component="span" size="sm" c="dimmed">
            {endedAt === undefined ? <Ago at={at} /> : <Over endedAt={endedAt} />}
          </Text>
        </Group>
        <Group gap={6} wrap="nowrap" className="alert-actions">
          {player && (
            <PlayerShortcuts player={player} isOnMap={seesPlaces && isHere} isActing={isActing} onAct={setActing} />
          )}
          <ActionIcon
            size={30}
            aria-label={t("dismissOne", { name })}
            title={t("dismiss")}
            onClick={() => dismissAlerts(session.serverId, [id])}
          >
            <Icon name="close" size={16} />
          </ActionIcon>
        </Group>
      </div>
      {isActing && player && (
        <LoadActContext value={loadAct}>
          <PlayerAct player={player} />
        </LoadActContext>
      )}
    </li>
  );
}

function Over({ endedAt }: { readonly endedAt: number }) {
  const { t } = useTranslation("alertEvents");
  return <>{t("over", { ago: useRelativeTime()(endedAt, useSharedNow()) })}</>;
}

function playerOf({ subject }: AlertFacts) {
  return subject === SERVER_SUBJECT || subject === "" ? undefined : parsePlayerRef(subject);
}

/** An unknown rule keeps the name that Gatehouse gives it. */
function useRuleName(rule: string): string {
  const { t, i18n } = useTranslation("alertEvents");
  // The texts are the list of rules: what else has one would be loaded with the page.
  const isKnown = /^\w+$/.test(rule) && i18n.exists(`rule.${rule}`, { ns: "alertEvents" });
  return isKnown ? t(`rule.${rule as "kills"}`) : rule;
}

const TEXT_MAX = 120;

export function AlertText(facts: AlertFacts) {
  const { t, i18n } = useTranslation("alertEvents");
  const { rule, text, code, values } = facts;
  const name = useRuleName(rule);
  const player = playerOf(facts);
  const key = `text.${code}` as "text.kills";
  // An alert of an older or newer Gatehouse is shown in English.
  const isTranslated = /^\w+$/.test(code) && i18n.exists(key, { ns: "alertEvents", ...values });
  return (
    <>
      <Text component="span" size="sm" fw={600}>
        {name === rule ? <GameText text={rule} max={TEXT_MAX} /> : name}
      </Text>
      {!isTranslated && <GameText text={text} max={TEXT_MAX} />}
      {isTranslated && player && <PlayerName name={player.name} id={player.id} />}
      {isTranslated && (
        <Text component="span" size="sm">
          {t(key, values as { count: number; seconds: number })}
        </Text>
      )}
      {isTranslated && code === "used" && <GameText text={String(values.command)} max={TEXT_MAX} isCode />}
    </>
  );
}
