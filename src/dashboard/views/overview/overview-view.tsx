// The view "overview": all servers of an operator, of a person, or of the user's keys, those that need somebody first.
import { Alert, Button, Group } from "@mantine/core";
import { useEffect, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { PAGE_SIZE_MAX } from "../../../core/ports/pages.ts";
import { OFFLINE } from "../../../core/readings/upstream-codes.ts";
import { findWatchReason } from "../../../core/readings/watch-reasons.ts";
import type { MeResource } from "../../../core/wire/people.ts";
import type { ServerResource } from "../../../core/wire/server.ts";
import type { AdminApi } from "../../api/admin.ts";
import { readAllPages } from "../../api/request.ts";
import { Icon } from "../../parts/icon.tsx";
import { LazyView } from "../../parts/lazy-view.tsx";
import { EmptyState, FailedState, LoadingState, useProblemSentence } from "../../parts/states.tsx";
import { useGameErrorText } from "../../parts/text/game-error-text.ts";
import { markInvisible } from "../../parts/text/game-text.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { useCallGroups } from "../../state/calls/use-mod-calls.tsx";
import { hrefOf, serverBase } from "../../state/route.ts";
import {
  countReading,
  countServer,
  judgeReading,
  judgeServer,
  type KeyReading,
  NO_COUNTS,
  orderFleet,
} from "../../state/server/fleet-order.ts";
import { FLEET_SECTIONS, FLEET_STALE_MS, type FleetMember, useFleet } from "../../state/server/fleet-poll.ts";
import { useServerState } from "../../state/server/use-server-state.tsx";
import { type HeldKey, useKeyRing } from "../../state/session/key-ring.ts";
import { useMe } from "../../state/session/person.ts";
import {
  type CallerSession,
  isSession,
  type Person,
  type SignInProblem,
  useSession,
  valuesOfProblem,
} from "../../state/session/session.ts";
import { useAdmin, useAdminQuery } from "../../state/session/use-admin.ts";
import { useNow } from "../../state/time/use-format.ts";
import { type FleetRow, FleetRows } from "./fleet-rows.tsx";

/** In the file of the operator's views, which holders of keys do not load. */
const loadReadiness = async () => (await import("../operator/components.ts")).ReadinessAlert;
const BRIEF = { isBrief: true };
const POLL_INTERVAL_MS = 5_000;
/** With more servers than one page of the list has. */
const LARGE_INTERVAL_MS = 30_000;
const DAYS_INTERVAL_MS = 300_000;
const AGE_UPDATE_MS = 5_000;
/** So many of a person's servers are read for the overview. */
const OPENED_MAX = 20;

export function OverviewView() {
  const { session } = useSession();
  if (session.kind !== "admin") return <KeysOverview />;
  const { person } = session;
  return person && !person.read().is_operator ? <PersonOverview person={person} /> : <OperatorOverview />;
}

function PersonOverview({ person }: { readonly person: Person }) {
  const { t, i18n } = useTranslation("fleet");
  const now = useNow(AGE_UPDATE_MS);
  const { servers } = useMe(person);
  const opened = useOpenedServers(person, servers);
  const members = useMemo(
    () => [...opened].flatMap(([id, session]) => (isSession(session) ? [{ id, session }] : [])),
    [opened],
  );
  const readings = useFleet(members, NOTHING);
  const describe = useReadingReason(now);
  const rows = servers.map(({ server_id: id, name }): FleetRow => {
    const session = opened.get(id);
    const problem = session && !isSession(session) ? session : undefined;
    const reading = readings.get(id);
    return {
      id,
      name,
      ...judgeRead(problem === undefined, reading, now),
      reason: describe(problem, reading),
      href: hrefOf(`${serverBase(id)}live`),
    };
  });
  return (
    <ViewPage title={t("title")}>
      {rows.length === 0 ? (
        <EmptyState title={t("noServers")}>{t("noRoles")}</EmptyState>
      ) : (
        <FleetRows rows={orderFleet(rows, i18n.language)} now={now} />
      )}
    </ViewPage>
  );
}

const NOTHING = () => {};

/** A session for each of the person's servers, as they come. */
function useOpenedServers(
  person: Person,
  servers: MeResource["servers"],
): ReadonlyMap<string, CallerSession | SignInProblem> {
  const [opened, setOpened] = useState<ReadonlyMap<string, CallerSession | SignInProblem>>(new Map());
  useEffect(() => {
    let isLeft = false;
    for (const { server_id: id } of servers.slice(0, OPENED_MAX)) {
      void person.openServer(id).then((outcome) => isLeft || setOpened((old) => new Map(old).set(id, outcome)));
    }
    return () => {
      isLeft = true;
    };
  }, [person, servers]);
  return opened;
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
  // Apart from the list, because it changes rarely and the archive may be away.
  const { value: days } = useAdminQuery(["servers", "days"], () => readDays(admin), DAYS_INTERVAL_MS);
  const { value } = list;
  if (value && value.length > PAGE_SIZE_MAX !== isLarge) setLarge(!isLarge);
  const rows = useMemo(
    () => orderFleet(value?.map((server) => toServerRow(server, now, describe, days)) ?? [], i18n.language),
    [value, now, describe, days, i18n.language],
  );
  if (list.isLoading) return <LoadingState />;
  if (list.error && !value)
    return (
      <ViewPage title={t("title")}>
        <LazyView load={loadReadiness} given={BRIEF} placeholder={null} />
        <FailedState error={list.error} onRetry={list.refresh} />
      </ViewPage>
    );
  return (
    <ViewPage title={t("title")}>
      {list.error && (
        <Alert color="orange" icon={<Icon name="warning" />} title={t("status:title.failed")}>
          {t("status:lastKnown")}
        </Alert>
      )}
      <LazyView load={loadReadiness} given={BRIEF} placeholder={null} />
      {rows.length === 0 ? (
        <EmptyState title={t("noServers")}>{t("noServersText")}</EmptyState>
      ) : (
        <FleetRows rows={rows} now={now} />
      )}
    </ViewPage>
  );
}

async function readDays(admin: AdminApi) {
  const outcome = await readAllPages((query) => admin.listServers({ ...query, day: true }));
  if (!outcome.ok) return outcome;
  return { ...outcome, value: new Map(outcome.value.map(({ server_id: id, day }) => [id, day])) };
}

function toServerRow(
  server: ServerResource,
  now: number,
  describe: (server: ServerResource) => string | undefined,
  days: ReadonlyMap<string, FleetRow["day"]> | undefined,
): FleetRow {
  return {
    id: server.server_id,
    name: server.name,
    standing: judgeServer(server, now),
    ...countServer(server),
    readAt: server.last_read_at,
    day: days?.get(server.server_id),
    reason: describe(server),
    since: findBegin(server),
    href: hrefOf(`${serverBase(server.server_id)}live`),
  };
}

/** A refused key is not tried again, so its error is the first one; a server that fails was well when it was last read. */
function findBegin({ state, last_error: error, last_read_at: readAt }: ServerResource): number | undefined {
  if (state === "key_refused") return error?.at;
  return state === "unreachable" ? (readAt ?? undefined) : undefined;
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
  const { ring, show, refuse } = useKeyRing();
  const shown = useServerState(FLEET_SECTIONS);
  const waiting = useCallGroups()?.waiting;
  const own = { ...shown, waiting };
  const members = useMemo(
    () =>
      ring.keys.flatMap(({ id, session }): FleetMember[] =>
        session?.kind === "caller" && id !== ring.shownId ? [{ id, session }] : [],
      ),
    [ring],
  );
  const others = useFleet(members, refuse);
  const describe = useReadingReason(now);
  const rows = ring.keys.map((held): FleetRow => {
    const isShown = held.id === ring.shownId;
    const reading = isShown ? own : others.get(held.id);
    return {
      id: held.id,
      name: held.name,
      ...judgeRead(held.session !== undefined, reading, now),
      reason: describe(held.problem, reading),
      isShown,
      ...(held.session ? { onOpen: () => show(held.id) } : { actions: <HeldKeyActions held={held} /> }),
    };
  });
  return (
    <ViewPage title={t("title")}>
      <FleetRows rows={orderFleet(rows, i18n.language)} now={now} />
    </ViewPage>
  );
}

function judgeRead(isUsable: boolean, reading: KeyReading | undefined, now: number) {
  if (!isUsable) return { standing: "refused" as const, ...NO_COUNTS, readAt: null };
  return {
    standing: reading ? judgeReading(reading, now, FLEET_STALE_MS) : ("unknown" as const),
    ...(reading ? countReading(reading, now) : NO_COUNTS),
    readAt: reading?.dataAt ?? null,
  };
}

/** Why a key cannot be used, or what keeps its server from being read. */
function useReadingReason(
  now: number,
): (problem: SignInProblem | undefined, reading: KeyReading | undefined) => string | undefined {
  const { t } = useTranslation("signIn");
  const describeProblem = useProblemSentence();
  return (problem, reading) => {
    if (problem) return t(problem.text, valuesOfProblem(problem, now));
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
        variant="outline"
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
