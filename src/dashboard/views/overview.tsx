// The view "overview": all servers of an operator, or of the user's keys, those that need somebody first.
import { Alert, Button, Group } from "@mantine/core";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { PAGE_SIZE_MAX } from "../../core/page-size.ts";
import { OFFLINE } from "../../core/upstream-codes.ts";
import { findWatchReason } from "../../core/watch-reasons.ts";
import type { ServerResource } from "../../core/wire/server.ts";
import { useGameErrorText } from "../parts/game-error-text.ts";
import { markInvisible } from "../parts/game-text.tsx";
import { Icon } from "../parts/icon.tsx";
import { EmptyState, FailedState, LoadingState, useProblemSentence } from "../parts/states.tsx";
import { ViewPage } from "../parts/view-page.tsx";
import {
  countServer,
  countState,
  judgeReading,
  judgeServer,
  type KeyReading,
  NO_COUNTS,
  orderFleet,
} from "../state/fleet-order.ts";
import { FLEET_SECTIONS, FLEET_STALE_MS } from "../state/fleet-poll.ts";
import type { HeldKey } from "../state/key-ring.ts";
import { hrefOf, serverBase } from "../state/route.ts";
import { useSession } from "../state/session.ts";
import { useAdmin, useAdminQuery } from "../state/use-admin.ts";
import { useFleet } from "../state/use-fleet.ts";
import { useKeyRing } from "../state/use-key-ring.ts";
import { useNow } from "../state/use-now.ts";
import { useServerState } from "../state/use-server-state.tsx";
import { readAllPages } from "./operator/names.ts";
import { DisabledWebhooks } from "./overview/disabled-webhooks.tsx";
import { type FleetRow, FleetRows } from "./overview/fleet-rows.tsx";

const POLL_INTERVAL_MS = 5_000;
/** With more servers than one page of the list has. */
const LARGE_INTERVAL_MS = 30_000;
const AGE_UPDATE_MS = 5_000;

export function OverviewView() {
  const { session } = useSession();
  return session.kind === "operator" ? <OperatorOverview /> : <KeysOverview />;
}

function OperatorOverview() {
  const { t, i18n } = useTranslation(["fleet", "status"]);
  const admin = useAdmin();
  const now = useNow(AGE_UPDATE_MS);
  const describe = useServerReason();
  const [isLarge, setLarge] = useState(false);
  const list = useAdminQuery(
    ["servers", "overview"],
    () => readAllPages(admin.listServers),
    isLarge ? LARGE_INTERVAL_MS : POLL_INTERVAL_MS,
  );
  const { value } = list;
  if (value && value.length > PAGE_SIZE_MAX !== isLarge) setLarge(!isLarge);
  const rows = useMemo(
    () => orderFleet(value?.map((server) => toServerRow(server, now, describe)) ?? [], i18n.language),
    [value, now, describe, i18n.language],
  );
  if (list.isLoading) return <LoadingState />;
  if (list.error && !value) return <FailedState error={list.error} onRetry={list.refresh} />;
  return (
    <ViewPage title={t("title")} summary={t("summary")}>
      {list.error && (
        <Alert color="orange" icon={<Icon name="warning" />} title={t("status:title.failed")}>
          {t("status:lastKnown")}
        </Alert>
      )}
      <DisabledWebhooks />
      {rows.length === 0 ? (
        <EmptyState title={t("noServers")}>{t("noServersText")}</EmptyState>
      ) : (
        <FleetRows rows={rows} now={now} />
      )}
    </ViewPage>
  );
}

function toServerRow(
  server: ServerResource,
  now: number,
  describe: (server: ServerResource) => string | undefined,
): FleetRow {
  return {
    id: server.server_id,
    name: server.name,
    standing: judgeServer(server, now),
    ...countServer(server),
    readAt: server.last_read_at,
    reason: describe(server),
    href: hrefOf(`${serverBase(server.server_id)}live`),
  };
}

/** Why a server is not fine, for operators. */
function useServerReason(): (server: ServerResource) => string | undefined {
  const { t } = useTranslation("operatorServers");
  const describeGame = useGameErrorText();
  return useMemo(
    () => (server) => {
      const { state, last_error: error, watching } = server;
      if (state === "key_refused") return t("hint.keyRefused");
      if (state === "parked") return t(server.simulated ? "hint.parkedSimulated" : "hint.parkedReal");
      if (error && error.upstream_code !== OFFLINE) {
        return describeGame(error.upstream_code, error.upstream_message);
      }
      if (watching.state !== "paused" || watching.reason === null) return undefined;
      const name = findWatchReason(watching.reason);
      const isSaid = name === "serverOff" || name === "keyRefused" || name === "parked";
      return name === undefined || isSaid ? watching.reason : t(`watchReason.${name}`);
    },
    [t, describeGame],
  );
}

function KeysOverview() {
  const { t, i18n } = useTranslation("fleet");
  const now = useNow(AGE_UPDATE_MS);
  const { ring, show } = useKeyRing();
  const own = useServerState(FLEET_SECTIONS);
  const others = useFleet();
  const describe = useKeyReason(now);
  const rows = ring.keys.map((held): FleetRow => {
    const isShown = held.id === ring.shownId;
    const reading = isShown ? own : others.get(held.id);
    return {
      id: held.id,
      name: held.name,
      ...judgeHeld(held, reading, now),
      reason: describe(held, reading),
      isShown,
      ...(held.session ? { onOpen: () => show(held.id) } : { actions: <HeldKeyActions held={held} /> }),
    };
  });
  return (
    <ViewPage title={t("title")} summary={t("summaryKeys")}>
      <FleetRows rows={orderFleet(rows, i18n.language)} now={now} />
    </ViewPage>
  );
}

function judgeHeld(held: HeldKey, reading: KeyReading | undefined, now: number) {
  if (!held.session) return { standing: "refused" as const, ...NO_COUNTS, readAt: null };
  return {
    standing: reading ? judgeReading(reading, now, FLEET_STALE_MS) : ("unknown" as const),
    ...countState(reading?.state),
    readAt: reading?.dataAt ?? null,
  };
}

/** Why a key cannot be used, or what keeps its server from being read. */
function useKeyReason(now: number): (held: HeldKey, reading: KeyReading | undefined) => string | undefined {
  const { t } = useTranslation("signIn");
  const describeProblem = useProblemSentence();
  return ({ problem }, reading) => {
    if (problem) {
      const seconds = Math.max(0, Math.ceil((problem.retryAt - now) / 1000));
      return t(problem.text, { seconds, code: problem.code });
    }
    // The badge says it already.
    if (!reading?.error || reading.condition === "offline") return undefined;
    return describeProblem(reading, now);
  };
}

function HeldKeyActions({ held }: { readonly held: HeldKey }) {
  const { t } = useTranslation(["fleet", "shell"]);
  const { remove, retry } = useKeyRing();
  const [isRetrying, setRetrying] = useState(false);
  const name = markInvisible(held.name ?? t("unknownServer"));
  const tryAgain = async () => {
    setRetrying(true);
    await retry(held.id);
    setRetrying(false);
  };
  return (
    <Group gap="xs" mt={4}>
      <Button
        size="compact-sm"
        variant="light"
        color="red"
        aria-label={t("removeKeyOf", { name })}
        onClick={() => remove(held.id)}
      >
        {t("removeKey")}
      </Button>
      {held.saved !== undefined && (
        <Button size="compact-sm" variant="light" loading={isRetrying} onClick={() => void tryAgain()}>
          {t("shell:tryAgain")}
        </Button>
      )}
    </Group>
  );
}
