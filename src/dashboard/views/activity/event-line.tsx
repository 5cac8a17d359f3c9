// One event of the ledger as a line of the time line, and one gap.
import { Badge, Text, ThemeIcon, VisuallyHidden } from "@mantine/core";
import { createContext, Fragment, memo, useContext } from "react";
import { useTranslation } from "react-i18next";
import { SECTIONS } from "../../../core/sections.ts";
import type { EventResource } from "../../../core/wire/event.ts";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { LazyView, type LoadView } from "../../parts/lazy-view.tsx";
import { useGameErrorText } from "../../parts/text/game-error-text.ts";
import { GameText } from "../../parts/text/game-text.tsx";
import { PlayerName } from "../../parts/text/player-name.tsx";
import { TeamName } from "../../parts/text/team.tsx";
import { Moment } from "../../parts/text/time.tsx";
import type { PlayerRef } from "../../player-ref.ts";
import { useFormat } from "../../state/time/use-format.ts";
import { type AlertFacts, describeEvent, type EventPart, type GapFacts, readGap } from "./describe-event.ts";
import { findGroup, type Group } from "./event-groups.ts";

type Look = { readonly icon: IconName; readonly colour: string };

const LOOKS: Readonly<Record<Group, Look>> = {
  presence: { icon: "join", colour: "teal" },
  kills: { icon: "kill", colour: "red" },
  commands: { icon: "commands", colour: "indigo" },
  modCalls: { icon: "staff", colour: "orange" },
  emergencies: { icon: "calls", colour: "orange" },
  players: { icon: "players", colour: "blue" },
  vehicles: { icon: "vehicles", colour: "grape" },
  staff: { icon: "staff", colour: "blue" },
  queue: { icon: "logs", colour: "gray" },
  server: { icon: "servers", colour: "gray" },
};
const LEFT: Look = { icon: "leave", colour: "gray" };
const UNKNOWN: Look = { icon: "activity", colour: "gray" };
const ALERT: Look = { icon: "bell", colour: "red" };
const ALERT_OVER: Look = { icon: "bell", colour: "gray" };

export const EventLine = memo(function EventLine({ event }: { readonly event: EventResource }) {
  return event.type === "gap" ? <GapLine event={event} /> : <PlainLine event={event} />;
});

function PlainLine({ event }: { readonly event: EventResource }) {
  const { t } = useTranslation("activity");
  return (
    <li className="time-line-entry" data-type={event.type}>
      <LineStart event={event} {...findLook(event.type)} />
      <div className="time-line-text">
        <Text component="span" size="sm" c="dimmed" className="time-line-label">
          <TypeName type={event.type} />
        </Text>
        <div className="time-line-parts">
          {describeEvent(event).map((part, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts are identified by their position
            <Part key={index} part={part} />
          ))}
          {event.backfill && (
            <Badge variant="light" color="gray" tt="none" title={t("backfillHint")}>
              {t("backfill")}
            </Badge>
          )}
        </div>
      </div>
    </li>
  );
}

function findLook(type: string): Look {
  if (type === "player.left") return LEFT;
  if (type === "alert.raised") return ALERT;
  if (type === "alert.cleared") return ALERT_OVER;
  const group = findGroup(type);
  return group === undefined ? UNKNOWN : LOOKS[group];
}

function TypeName({ type }: { readonly type: string }) {
  const { t, i18n } = useTranslation("activity");
  const key = `type.${type.replace(".", "_")}`;
  const isKnown = findGroup(type) !== undefined && i18n.exists(key, { ns: "activity" });
  return isKnown ? t(key as "type.player_joined") : t("unknownType");
}

function GapLine({ event }: { readonly event: EventResource }) {
  const { t } = useTranslation("activity");
  const gap = readGap(event);
  const concerned = useConcernedText(gap);
  if (!gap) return null;
  return (
    <li className="time-line-entry time-line-gap" data-type="gap" data-reason={gap.reason}>
      <LineStart event={event} icon="warning" colour="orange" />
      <div>
        <Text size="sm" fw={600}>
          {t("gap.title")}
        </Text>
        <Text size="sm">{t(`gap.${gap.reason}`)}</Text>
        <Text size="sm">{concerned}</Text>
      </div>
    </li>
  );
}

function LineStart({ event, icon, colour }: Look & { readonly event: EventResource }) {
  return (
    <>
      <span className="time-line-moment">
        <Moment seconds={event.at / 1000} isTimeOnly />
      </span>
      <ThemeIcon variant="light" color={colour} size="md" radius="xl" aria-hidden>
        <Icon name={icon} size={15} />
      </ThemeIcon>
    </>
  );
}

/** The gap in one text: what it concerns, when, and why. Undefined for an event that is not a gap. */
export function useGapText(event: EventResource): string | undefined {
  const { t } = useTranslation("activity");
  const gap = readGap(event);
  const concerned = useConcernedText(gap);
  return gap && `${concerned} ${t(`gap.${gap.reason}`)}`;
}

/** What a gap concerns, and when. */
function useConcernedText(gap: GapFacts | undefined): string {
  const { t } = useTranslation(["activity", "status"]);
  const section = SECTIONS.find((name) => name === gap?.section);
  const what = section === undefined ? t("gap.all") : t(`status:sections.${section}`);
  return `${t("gap.concerns", { what })} ${useSpanText({ from: gap?.from, to: gap?.to })}`;
}

function useSpanText({ from, to }: Pick<GapFacts, "from" | "to">): string {
  const { t } = useTranslation("activity");
  const format = useFormat();
  if (from !== undefined && to !== undefined) {
    return t("gap.between", {
      from: format.dateTime(from),
      to: format.dateTime(to),
      length: format.duration(to - from),
    });
  }
  if (from !== undefined) return t("gap.since", { from: format.dateTime(from) });
  return to === undefined ? t("gap.unknown") : t("gap.until", { to: format.dateTime(to) });
}

function Part({ part }: { readonly part: EventPart }) {
  const { t } = useTranslation("activity");
  if (part.kind === "player") return <LinkedPlayer player={part.player} />;
  if (part.kind === "code") return <GameText text={part.text} max={160} isCode />;
  if (part.kind === "team") return <TeamName team={part.text} />;
  if (part.kind === "change") return <Change {...part} />;
  if (part.kind === "alert") return <AlertPart facts={part} />;
  if (part.kind === "gameError") return <GameError code={part.code} message={part.message} />;
  if (part.kind === "word" && part.word === "killed") {
    return (
      <span>
        <span aria-hidden>→</span>
        <VisuallyHidden>{t("word.killed")}</VisuallyHidden>
      </span>
    );
  }
  if (part.kind === "word") return <Dimmed text={t(`word.${part.word}`)} />;
  if (part.kind === "callNumber") return <Dimmed text={t("callNumber", { number: part.text })} />;
  if (part.kind === "role") return <Role role={part.text} />;
  return (
    <Text component="span" size="sm" className={part.kind === "count" ? "numbers" : undefined}>
      <GameText text={part.text} max={120} />
    </Text>
  );
}

/**
 * How the code that says an alert in the user's language is loaded; without it the alert says what Gatehouse wrote. The views
 * give it, because a file that several lazy ones import is loaded with the page, and so would be what it loads.
 */
export const LoadAlertContext = createContext<LoadView<AlertFacts> | undefined>(undefined);

function AlertPart({ facts }: { readonly facts: AlertFacts }) {
  const load = useContext(LoadAlertContext);
  const plain = <GameText text={facts.text} max={120} />;
  return load ? <LazyView load={load} given={facts} placeholder={plain} /> : plain;
}

function Dimmed({ text }: { readonly text: string }) {
  return (
    <Text component="span" size="sm" c="dimmed">
      <GameText text={text} />
    </Text>
  );
}

/** The names of players by their ids, for events that name a player by the id alone. */
export const PlayerNamesContext = createContext<ReadonlyMap<string, string>>(new Map());

type LinkedPlayerProps = { readonly player: PlayerRef; readonly href?: string | undefined };

/** `href` is where the name leads to, instead of the drawer. */
export function LinkedPlayer({ player, href }: LinkedPlayerProps) {
  const { name, id } = player;
  if (name === "" && id !== undefined) return <PlayerById player={player} href={href} />;
  return <PlayerName name={name} id={id} href={href} {...(id !== undefined && { unknown: null })} />;
}

/** A component of its own: the known names change with every event, and most events have the name themselves. */
function PlayerById({ player: { id }, href }: LinkedPlayerProps) {
  const names = useContext(PlayerNamesContext);
  return <PlayerName name={names.get(id ?? "") ?? ""} id={id} href={href} unknown={null} />;
}

const ROLES = ["Admins", "Mods", "Helpers"] as const;

function Role({ role }: { readonly role: string }) {
  const { t } = useTranslation("activity");
  const known = ROLES.find((name) => name === role);
  return <Dimmed text={known === undefined ? role : t(`role.${known}`)} />;
}

function GameError(props: { readonly code: number | undefined; readonly message: string | undefined }) {
  const describe = useGameErrorText();
  return (
    <Text component="span" size="sm" className="untrusted">
      <GameText text={describe(props.code, props.message)} max={200} />
    </Text>
  );
}

function Change(props: {
  readonly field: string;
  readonly before: string | undefined;
  readonly now: string | undefined;
}) {
  const { t, i18n } = useTranslation("activity");
  const { field, before, now } = props;
  const isKnown = /^\w+$/.test(field) && i18n.exists(`field.${field}`, { ns: "activity" });
  const name = isKnown ? t(`field.${field}` as "field.Team") : field;
  const isLong = before !== undefined && now !== undefined;
  return (
    <Text component="span" size="sm" className="event-change">
      <Dimmed text={isLong ? `${name}:` : name} />
      {isLong && (
        <Fragment>
          <Value field={field} value={before} />
          <span aria-hidden>→</span>
          <VisuallyHidden>{t("becomes")}</VisuallyHidden>
          <Value field={field} value={now} />
        </Fragment>
      )}
    </Text>
  );
}

function Value({ field, value }: { readonly field: string; readonly value: string }) {
  const { t } = useTranslation("activity");
  if (value === "") return <Dimmed text={t("nothing")} />;
  if (field === "TeamBalance") return t(value === "true" ? "on" : "off");
  return field === "Team" ? <TeamName team={value} /> : <GameText text={value} />;
}
