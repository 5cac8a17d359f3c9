// How a server is doing, for operators: its state, its players, the last good reading and why the latest one failed.
import { Badge, Group, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { OFFLINE } from "../../../../core/readings/upstream-codes.ts";
import { findWatchReason } from "../../../../core/readings/watch-reasons.ts";
import type { ServerResource } from "../../../../core/wire/server.ts";
import { useGameErrorText } from "../../../parts/text/game-error-text.ts";
import { GameText } from "../../../parts/text/game-text.tsx";
import { useFormat, useNow } from "../../../state/time/use-format.ts";

/** The characters of an error that are shown at once; a button shows the rest. */
const ERROR_MAX = 160;

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

export function ServerFacts(props: {
  readonly server: ServerResource;
  /** Leaves out the error, because the status bar beside it shows it. */
  readonly isBrief?: boolean;
}) {
  const { server } = props;
  const { t } = useTranslation(["operatorServers", "operator"]);
  const format = useFormat();
  const now = useNow(AGE_UPDATE_MS);
  const { state, players, last_read_at: readAt } = server;
  const hint =
    state === "key_refused"
      ? t("hint.keyRefused")
      : state === "parked"
        ? t(server.simulated ? "hint.parkedSimulated" : "hint.parkedReal")
        : undefined;
  const reading = [
    players === null ? undefined : t("players", { count: players }),
    readAt === null ? undefined : t("readAgo", { age: format.duration(now - readAt) }),
  ].filter((part) => part !== undefined);
  return (
    <Stack gap={2} data-state={state}>
      <Group gap="xs">
        <StateBadge server={server} />
        {server.simulated && <Badge color="grape">{t("operator:fields.simulated")}</Badge>}
        <WatchBadge server={server} />
        {reading.length > 0 && (
          <Text size="sm" className="numbers" {...(readAt !== null && { title: format.dateTime(readAt) })}>
            {reading.join(" · ")}
          </Text>
        )}
      </Group>
      {!props.isBrief && <WatchReason server={server} />}
      {!props.isBrief && <LastError server={server} />}
      {hint !== undefined && <Text size="sm">{hint}</Text>}
    </Stack>
  );
}

export function StateBadge({ server }: { readonly server: ServerResource }) {
  const { t } = useTranslation("operatorServers");
  return <Badge color={STATE_COLOURS[server.state]}>{t(`state.${server.state}`)}</Badge>;
}

function WatchBadge({ server }: { readonly server: ServerResource }) {
  const { t } = useTranslation("operatorServers");
  const format = useFormat();
  const { state, interval_ms: intervalMs } = server.watching;
  const interval = format.duration(intervalMs ?? 0);
  return <Badge color={WATCH_COLOURS[state]}>{t(`watching.${state}`, { interval })}</Badge>;
}

/** Why the server is not watched, unless the state of the server says it already. */
function WatchReason({ server }: { readonly server: ServerResource }) {
  const { t } = useTranslation("operatorServers");
  const { reason } = server.watching;
  if (reason === null) return null;
  const name = findWatchReason(reason);
  if (name === "serverOff" || name === "keyRefused" || name === "parked") return null;
  return (
    <Text size="sm" c="dimmed" data-testid="watch-reason">
      {name === undefined ? reason : t(`watchReason.${name}`)}
    </Text>
  );
}

function LastError({ server }: { readonly server: ServerResource }) {
  const { t } = useTranslation("operatorServers");
  const format = useFormat();
  const describeGame = useGameErrorText();
  const { state, last_error: error } = server;
  // The state says it already.
  if (!error || (state === "offline" && error.upstream_code === OFFLINE)) return null;
  return (
    <Text size="sm" c="var(--mantine-color-error)" className="untrusted">
      {t("failedAt", { time: format.dateTime(error.at) })}{" "}
      <GameText text={describeGame(error.upstream_code, error.upstream_message)} max={ERROR_MAX} />
    </Text>
  );
}
