// How fresh the data is, as a pill in the header: the state and the age. Views say in a banner what went wrong.
import { ActionIcon, Tooltip } from "@mantine/core";
import { memo } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "../parts/icon.tsx";
import { Note } from "../parts/text/plain-text.tsx";
import { useStreamStatus } from "../state/ledger/use-live-stream.tsx";
import { type Condition, judgeAge } from "../state/server/server-poll.ts";
import { useServerState } from "../state/server/use-server-state.tsx";
import { useFormat, useNow, useSecond } from "../state/time/use-format.ts";

const COLOURS: Readonly<Record<Condition, string>> = {
  loading: "gray",
  ok: "teal",
  stale: "yellow",
  offline: "red",
  "game-error": "red",
  limited: "yellow",
  blocked: "red",
  refused: "red",
  unreachable: "red",
};

export function StatusBar() {
  const { t } = useTranslation("status");
  const format = useFormat();
  const now = useSecond();
  const view = useServerState();
  const hasStream = useStreamStatus() === "live";
  const { dataAt, retryAt, refresh, isFetching } = view;
  const condition =
    view.condition === "ok" || view.condition === "stale"
      ? judgeAge({ ...view, condition: "ok" }, now)
      : view.condition;
  const isLive = condition === "ok" && hasStream;
  const isWaiting = retryAt !== undefined && retryAt > now;
  // A block can be lifted early and Gatehouse can be back any time, but a used up limit only comes back at its reset.
  const isPointless = isWaiting && condition !== "blocked" && condition !== "unreachable";
  const hints = [isLive && t("liveHint"), dataAt !== undefined && t("asOf", { time: format.time(dataAt) })];
  return (
    <section
      aria-label={t("label")}
      className="status-pill numbers"
      data-colour={COLOURS[condition]}
      title={hints.filter(Boolean).join(" ")}
    >
      <span className="status-dot" style={{ background: `var(--mantine-color-${COLOURS[condition]}-6)` }} aria-hidden />
      <span role="status" className="status-word" data-fine={condition === "ok" || undefined}>
        {isLive ? t("live") : t(`condition.${condition}`)}
      </span>
      {isWaiting ? (
        <span className="status-age">{t("next", { age: format.duration(retryAt - now) })}</span>
      ) : (
        dataAt !== undefined && <span className="status-age">{t("age", { age: format.duration(now - dataAt) })}</span>
      )}
      <RefreshButton onClick={refresh} isPointless={isPointless} isFetching={isFetching} />
    </section>
  );
}

/** Apart, because the age beside it changes every second. */
const RefreshButton = memo(function RefreshButton(props: {
  readonly onClick: () => void;
  readonly isPointless: boolean;
  readonly isFetching: boolean;
}) {
  const { t } = useTranslation("status");
  const { onClick, isPointless, isFetching } = props;
  return (
    <Tooltip label={t("refresh")}>
      <ActionIcon
        aria-label={t("refresh")}
        onClick={onClick}
        size="sm"
        data-disabled={isPointless}
        aria-disabled={isPointless}
        aria-busy={isFetching}
      >
        <Icon name="refresh" size={14} />
      </ActionIcon>
    </Tooltip>
  );
});

/** Below this part of the limit the user should know about it. */
const FEW = 0.25;
const LIMIT_UPDATE_MS = 5_000;

/** What is left of the limit, when that is little. */
export function RequestsLeft() {
  const { t } = useTranslation("status");
  const now = useNow(LIMIT_UPDATE_MS);
  const { limit, isSlowed, condition } = useServerState();
  if (!limit || limit.resetAt <= now || condition === "blocked") return null;
  if (!isSlowed && limit.remaining > limit.limit * FEW) return null;
  return (
    <Note className="numbers" mb="xs" ta="end">
      {t("limitLeft", { remaining: limit.remaining, limit: limit.limit })}
      {isSlowed && ` (${t("slowed")})`}
    </Note>
  );
}
