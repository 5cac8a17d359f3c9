// How a server is doing, for operators: its state, its players, the last good reading, and why the latest one failed.
import { Badge, Group, Stack, Text } from "@mantine/core";
import { useCallback } from "react";
import { useTranslation } from "react-i18next";
import { OFFLINE } from "../../../../core/readings/upstream-codes.ts";
import { findWatchReason } from "../../../../core/readings/watch-reasons.ts";
import type { ServerResource } from "../../../../core/wire/server.ts";
import { useGameErrorText } from "../../../parts/text/game-error-text.ts";
import { useFormat, useNow } from "../../../state/time/use-format.ts";

/** There is one of these for each server of a list. */
const AGE_UPDATE_MS = 5_000;

const STATE_COLOURS: Readonly<Record<ServerResource["state"], string>> = {
  online: "teal",
  offline: "gray",
  unreachable: "red",
  key_refused: "red",
  not_asked: "blue",
  parked: "orange",
};

const WATCH_COLOURS: Readonly<Record<ServerResource["watching"]["state"], string>> = {
  off: "gray",
  paused: "orange",
  watching: "teal",
};

/** Whether somebody has to do something about the server. */
export function needsAttention({ state }: ServerResource): boolean {
  return state === "unreachable" || state === "key_refused" || state === "parked";
}

/** Above the views of one server; the status bar beside it says why a reading failed. */
export function ServerFacts({ server }: { readonly server: ServerResource }) {
  const { t } = useTranslation(["operatorServers", "operator"]);
  const format = useFormat();
  const now = useNow(AGE_UPDATE_MS);
  const hint = findHint(server);
  const { state, players, last_read_at: readAt } = server;
  const reading = [
    players === null ? undefined : t("players", { count: players }),
    readAt === null ? undefined : t("readAgo", { age: format.duration(now - readAt) }),
  ].filter((part) => part !== undefined);
  const interval = format.duration(server.watching.interval_ms ?? 0);
  return (
    <Stack gap={2} data-state={state}>
      <Group gap="xs">
        <StateBadge server={server} />
        {server.simulated && <Badge color="grape">{t("operator:fields.simulated")}</Badge>}
        <Badge color={WATCH_COLOURS[server.watching.state]}>
          {t(`watching.${server.watching.state}`, { interval })}
        </Badge>
        {reading.length > 0 && (
          <Text size="sm" className="numbers" {...(readAt !== null && { title: format.dateTime(readAt) })}>
            {reading.join(" · ")}
          </Text>
        )}
      </Group>
      {hint !== undefined && <Text size="sm">{t(`hint.${hint}`)}</Text>}
    </Stack>
  );
}

function findHint({ state, simulated }: ServerResource) {
  if (state === "key_refused") return "keyRefused";
  if (state === "parked") return simulated ? "parkedSimulated" : "parkedReal";
  return undefined;
}

/** What an operator should know of a server, in one text: why the latest reading failed, what to do, why it is not watched. */
export function useServerNote(): (server: ServerResource) => string | undefined {
  const { t } = useTranslation(["operatorServers", "operator"]);
  const describeGame = useGameErrorText();
  return useCallback(
    (server) => {
      const { state, last_error: error, simulated } = server;
      const { reason } = server.watching;
      const hint = findHint(server);
      const watchReason = reason === null ? undefined : findWatchReason(reason);
      const isSaid = (state === "offline" && error?.upstream_code === OFFLINE) || !error;
      const isReasonSaid = watchReason === "serverOff" || watchReason === "keyRefused" || watchReason === "parked";
      const parts = [
        simulated ? `${t("operator:fields.simulated")}.` : undefined,
        isSaid ? undefined : describeGame(error.upstream_code, error.upstream_message),
        hint && t(`hint.${hint}`),
        server.watching.state === "off" && (reason === null || isReasonSaid) ? `${t("watching.off")}.` : undefined,
        reason === null || isReasonSaid ? undefined : watchReason ? t(`watchReason.${watchReason}`) : reason,
      ];
      return parts.filter((part) => part !== undefined).join(" ") || undefined;
    },
    [t, describeGame],
  );
}

export function StateBadge({ server }: { readonly server: ServerResource }) {
  const { t } = useTranslation("operatorServers");
  return <Badge color={STATE_COLOURS[server.state]}>{t(`state.${server.state}`)}</Badge>;
}
