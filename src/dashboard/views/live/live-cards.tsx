// The parts of the live view: the strip of numbers, lists with their number of entries, and the server.
import { ActionIcon, Anchor, Badge, Card, Group, Progress, Stack, Text, Tooltip } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import type { ServerState } from "../../api/caller.ts";
import type { Id } from "../../api/exact-json.ts";
import { Icon } from "../../parts/icon.tsx";
import { LazyView } from "../../parts/lazy-view.tsx";
import { CopyButton, GameText } from "../../parts/text/game-text.tsx";
import { Fact, Heading, Note } from "../../parts/text/plain-text.tsx";
import { useCallGroups } from "../../state/calls/use-mod-calls.tsx";
import { useViewHref } from "../../state/route.ts";
import { useFormat } from "../../state/time/use-format.ts";
import { useAlerts } from "../alerts/use-alerts.tsx";

const loadSparkline = async () => (await import("../plots/pages.ts")).DaySparkline;

export function Panel(props: { readonly title: string; readonly badge?: ReactNode; readonly children: ReactNode }) {
  return (
    <Card component="section" withBorder padding="sm" aria-label={props.title}>
      <Stack gap="xs">
        <Group justify="space-between" wrap="nowrap">
          <Heading>{props.title}</Heading>
          {props.badge}
        </Group>
        {props.children}
      </Stack>
    </Card>
  );
}

/** Shows the first `items` and links to the view with all of them; nothing when the key may not read them. */
export function ListPanel<T>(props: {
  readonly title: string;
  readonly empty: string;
  readonly items: readonly T[] | undefined;
  readonly shownMax: number;
  /** The view with all items. */
  readonly view: string;
  readonly children: (item: T, index: number) => ReactNode;
}) {
  const { t } = useTranslation("live");
  const hrefOf = useViewHref();
  const { title, items, shownMax } = props;
  if (!items) return null;
  if (items.length === 0) {
    return (
      <Panel title={title}>
        <Note>{props.empty}</Note>
      </Panel>
    );
  }
  return (
    <Panel
      title={title}
      badge={
        <Badge variant="light" className="numbers" style={{ flex: "none" }}>
          {items.length}
        </Badge>
      }
    >
      <ul className="plain-list live-list">{items.slice(0, shownMax).map(props.children)}</ul>
      {items.length > shownMax && (
        <Anchor href={hrefOf(props.view)} size="sm" className="touch-link">
          {t("all", { n: items.length })}
        </Anchor>
      )}
    </Panel>
  );
}

/** What a glance must tell, in one line. What the key may not read is not in it. */
export function Strip({ state }: { readonly state: ServerState }) {
  const { t } = useTranslation("live");
  const format = useFormat();
  const hrefOf = useViewHref();
  const groups = useCallGroups();
  const { shown: alerts } = useAlerts();
  const { CurrentPlayers: players, MaxPlayers: max, Queue: queue, Players: list } = state;
  const share = max > 0 ? Math.min(players / max, 1) : 0;
  const staff = list?.filter(({ Permission = NO_STAFF }) => Permission !== NO_STAFF).length;
  const areAlertsRaised = alerts.some(({ endedAt }) => endedAt === undefined);
  return (
    <section className="live-strip" aria-label={t("strip.title")}>
      <Tile name={t("card.players")} href={list && hrefOf("players")}>
        <span className="live-count">{format.number(players)}</span>{" "}
        <Text span c="dimmed" size="sm">
          {t("strip.of", { max: format.number(max) })}
        </Text>
        <Progress.Root size={4} className="live-room">
          <Progress.Section
            value={share * 100}
            color="teal"
            withAria={false}
            role="progressbar"
            aria-label={t("card.players")}
            aria-valuemin={0}
            aria-valuemax={max}
            aria-valuenow={players}
            aria-valuetext={`${format.number(players)} ${t("card.ofPlayers", { count: max })}`}
          />
        </Progress.Root>
      </Tile>
      {queue && <Tile name={t("card.queue")} count={queue.length} />}
      {staff !== undefined && <Tile name={t("strip.staff")} href={hrefOf("staff")} count={staff} />}
      {groups && (
        <Tile
          name={t("strip.calls")}
          href={hrefOf("calls")}
          count={groups.waiting}
          tone={groups.waiting > 0 ? "orange" : undefined}
        />
      )}
      <Tile
        name={t("strip.alerts")}
        count={alerts.length}
        tone={areAlertsRaised ? "red" : undefined}
        href={hrefOf("activity")}
      />
      <LazyView load={loadSparkline} placeholder={null} />
    </section>
  );
}

function Tile(props: {
  readonly name: string;
  readonly count?: number;
  readonly tone?: "orange" | "red" | undefined;
  readonly href?: string | undefined;
  readonly children?: ReactNode;
}) {
  const format = useFormat();
  const { name, count, tone, href } = props;
  const Element = href === undefined ? "div" : "a";
  return (
    <Element className="live-tile numbers" data-tone={tone} {...(href !== undefined && { href })}>
      <Text span size="xs" c="dimmed" className="live-tile-name">
        {name}
      </Text>
      {count === undefined ? props.children : <span className="live-count">{format.number(count)}</span>}
    </Element>
  );
}

const NO_STAFF = "Normal";
const CO_OWNERS_SHOWN_MAX = 6;
const VERIFICATIONS = ["Disabled", "Email", "Phone", "ID", "Phone/ID"] as const;

export function ServerCard({ state }: { readonly state: ServerState }) {
  const { t } = useTranslation("live");
  const known = VERIFICATIONS.find((name) => name === state.AccVerifiedReq);
  return (
    <Panel title={t("card.title")}>
      <Text fw={650} size="lg" component="div">
        <GameText text={state.Name} max={80} />
      </Text>
      <dl className="facts live-facts">
        {/* Empty for who may not see it. */}
        {state.JoinKey !== "" && (
          <Fact name={t("card.joinKey")}>
            <JoinKey value={state.JoinKey} />
          </Fact>
        )}
        <Fact name={t("card.owner")}>
          <IdText id={state.OwnerId} />
        </Fact>
        <Fact name={t("card.coOwners")}>
          <CoOwners ids={state.CoOwnerIds} />
        </Fact>
        <Fact name={t("card.verification")}>
          {known ? t(`verification.${known}`) : <GameText text={state.AccVerifiedReq} />}
        </Fact>
        <Fact name={t("card.teamBalance")}>{t(state.TeamBalance ? "card.on" : "card.off")}</Fact>
      </dl>
    </Panel>
  );
}

function IdText({ id }: { readonly id: Id }) {
  const { t } = useTranslation("live");
  return (
    <Group gap={4} wrap="nowrap" display="inline-flex">
      <Text span className="numbers untrusted">
        {String(id)}
      </Text>
      <CopyButton value={String(id)} label={t("card.copyId", { id })} />
    </Group>
  );
}

function CoOwners({ ids }: { readonly ids: readonly Id[] }) {
  const { t } = useTranslation("live");
  const unique = Array.from(new Set(ids.map(String)));
  if (unique.length === 0) return t("card.none");
  const rest = unique.length - CO_OWNERS_SHOWN_MAX;
  return (
    <Group gap="xs">
      {unique.slice(0, CO_OWNERS_SHOWN_MAX).map((id) => (
        <IdText key={id} id={id} />
      ))}
      {rest > 0 && <Note span>{t("card.more", { n: rest })}</Note>}
    </Group>
  );
}

/** Hidden at first, so that it is not seen on a stream or over the shoulder. */
function JoinKey({ value }: { readonly value: string }) {
  const { t } = useTranslation("live");
  const [isShown, setShown] = useState(false);
  const label = t(isShown ? "card.hide" : "card.show");
  return (
    <Group gap={4} wrap="nowrap">
      {isShown ? (
        <GameText text={value} isCode />
      ) : (
        <Text span c="dimmed">
          {t("card.hidden")}
        </Text>
      )}
      <Tooltip label={label}>
        <ActionIcon size={24} aria-label={label} onClick={() => setShown(!isShown)}>
          <Icon name={isShown ? "eyeOff" : "eye"} size={16} />
        </ActionIcon>
      </Tooltip>
      <CopyButton value={value} label={t("card.joinKey")} />
    </Group>
  );
}
