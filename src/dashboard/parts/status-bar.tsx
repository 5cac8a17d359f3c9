// Shows how fresh the data is: its age, the error of the game API, and what is left of the limit.
import { ActionIcon, Group, Text, Tooltip } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { type Condition, judgeAge } from "../state/server-poll.ts";
import { useFormat } from "../state/use-format.ts";
import { useStreamStatus } from "../state/use-live-stream.tsx";
import { useNow } from "../state/use-now.ts";
import { useServerState } from "../state/use-server-state.tsx";
import { useGameErrorText } from "./game-error-text.ts";
import { Icon } from "./icon.tsx";

const DOT_COLOURS: Readonly<Record<Condition, string>> = {
  loading: "gray-5",
  ok: "teal-6",
  stale: "yellow-6",
  offline: "red-6",
  "game-error": "red-6",
  limited: "yellow-6",
  blocked: "red-6",
  refused: "red-6",
  unreachable: "red-6",
};

export function StatusBar() {
  const { t } = useTranslation("status");
  const format = useFormat();
  const describeGame = useGameErrorText();
  const now = useNow();
  const view = useServerState();
  const isLive = useStreamStatus() === "live";
  const { dataAt, error, limit, isSlowed, retryAt, refresh, isFetching } = view;
  const condition =
    view.condition === "ok" || view.condition === "stale"
      ? judgeAge({ ...view, condition: "ok" }, now)
      : view.condition;
  const isWaiting = retryAt !== undefined && retryAt > now;
  // A block can be lifted early and Gatehouse can be back any time, but a used up limit only comes back at its reset.
  const isPointless = isWaiting && condition !== "blocked" && condition !== "unreachable";
  return (
    <Group component="section" aria-label={t("label")} gap="xs" wrap="wrap" className="numbers">
      <span
        className="status-dot"
        style={{ background: `var(--mantine-color-${DOT_COLOURS[condition]})` }}
        aria-hidden
      />
      <Text size="sm" fw={600} role="status">
        {t(`condition.${condition}`)}
      </Text>
      {isLive && (
        <Text size="sm" c="dimmed" title={t("liveHint")}>
          {t("live")}
        </Text>
      )}
      {condition === "game-error" && (
        <Text size="sm" className="untrusted" lineClamp={2}>
          {describeGame(error?.upstreamCode, error?.upstreamMessage)}
        </Text>
      )}
      {dataAt !== undefined && (
        <Text size="sm" c="dimmed" title={t("asOf", { time: format.time(dataAt) })}>
          {t("age", { age: format.duration(now - dataAt) })}
        </Text>
      )}
      {isWaiting && (
        <Text size="sm" c="dimmed">
          {t("next", { age: format.duration(retryAt - now) })}
        </Text>
      )}
      {limit && limit.resetAt > now && condition !== "blocked" && (
        // On a phone the line has room for it only while it matters.
        <Text size="sm" c="dimmed" {...(!isSlowed && { visibleFrom: "sm" })}>
          {t("limitLeft", { remaining: limit.remaining, limit: limit.limit })}
          {isSlowed && ` (${t("slowed")})`}
        </Text>
      )}
      <Tooltip label={t("refresh")}>
        <ActionIcon
          aria-label={t("refresh")}
          onClick={refresh}
          size="md"
          data-disabled={isPointless}
          aria-disabled={isPointless}
          aria-busy={isFetching}
        >
          <Icon name="refresh" size={16} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}
