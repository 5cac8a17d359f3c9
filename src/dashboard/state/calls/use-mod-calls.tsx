// The calls for a moderator for the whole page: Gatehouse's list, read again when an event says that it is another one, and from
// time to time, in a hidden tab too. Where Gatehouse has none, the game's own list stands in.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useMemo } from "react";
import { MINUTE_MS } from "../../../core/durations.ts";
import type { Section } from "../../../core/sections.ts";
import type { ModCallResource } from "../../../core/wire/players.ts";
import { HIDDEN_EVERY_MS, useLedgerIsOff } from "../ledger/use-ledger.ts";
import { useLiveStream } from "../ledger/use-live-stream.tsx";
import { LIVE_POLL_INTERVAL_MS, POLL_INTERVAL_MS } from "../server/server-poll.ts";
import { useServerState } from "../server/use-server-state.tsx";
import { useServerSession } from "../session/session.ts";
import { unwrap, useThrownError } from "../session/use-api-error.ts";
import { Throttle } from "../time/throttle.ts";
import { useNow } from "../time/use-format.ts";
import { type CallGroups, groupCalls, isAboutCalls, readGameList } from "./mod-calls.ts";

const WANTED: readonly Section[] = ["ModCalls"];
const WITHOUT_LIST: readonly Section[] = ["ModCalls", "Players"];
export const MOD_CALLS_KEY = ["mod-calls"];
/** While a stream is open: no event says that a caller has been gone for a minute. */
const LIVE_EVERY_MS = 2 * LIVE_POLL_INTERVAL_MS;
const POLLED_EVERY_MS = 2 * POLL_INTERVAL_MS;

export type CallsAnswer = {
  readonly items: readonly ModCallResource[];
  /** How long to wait before the next reading. */
  readonly delayMs: number;
};

const CallGroupsContext = createContext<CallGroups | undefined>(undefined);
/** Apart from the groups, so that the frame renders again only when the number changes. */
const WaitingCountContext = createContext(0);

export function ModCallsProvider({ children }: { readonly children: ReactNode }) {
  const { kind } = useServerSession();
  const hasList = !useLedgerIsOff() && kind === "caller";
  const { state, missing } = useServerState(hasList ? WANTED : WITHOUT_LIST);
  const isForbidden = missing.includes("ModCalls");
  const items = useCallList(hasList && !isForbidden);
  const now = useNow(MINUTE_MS);
  const listed = state?.ModCalls;
  const players = state?.Players;
  const groups = useMemo(() => {
    if (isForbidden) return undefined;
    if (hasList) return items && groupCalls(items, now);
    return listed && groupCalls(readGameList(listed, players, now), now);
  }, [isForbidden, hasList, items, listed, players, now]);
  return (
    <CallGroupsContext value={groups}>
      <WaitingCountContext value={groups?.waiting ?? 0}>{children}</WaitingCountContext>
    </CallGroupsContext>
  );
}

function useCallList(hasList: boolean): readonly ModCallResource[] | undefined {
  const session = useServerSession();
  const { pace } = session;
  const api = session.kind === "caller" && session.sections.includes("ModCalls") ? session.api : undefined;
  const client = useQueryClient();
  const stream = useLiveStream();
  const isAsked = hasList && api !== undefined;
  const { data, error, refetch } = useQuery({
    queryKey: MOD_CALLS_KEY,
    queryFn: async ({ signal }): Promise<CallsAnswer> => {
      if (!api) throw new Error("this key has no list of calls");
      const { items } = await unwrap(api.listModCalls({ state: "waiting,claimed,left", limit: 100 }, signal));
      const isLive = stream !== undefined && stream.status !== "off";
      const everyMs = document.hidden ? HIDDEN_EVERY_MS : isLive ? LIVE_EVERY_MS : POLLED_EVERY_MS;
      return { items, delayMs: pace.delayMs(everyMs, Date.now()) };
    },
    enabled: isAsked,
    refetchInterval: ({ state: { data: last, error: failure, errorUpdatedAt } }) =>
      failure ? Math.max(LIVE_EVERY_MS, pace.waitUntil - errorUpdatedAt) : (last?.delayMs ?? false),
    refetchIntervalInBackground: true,
    refetchOnWindowFocus: () => pace.mayPoll(Date.now()),
    networkMode: "always",
    staleTime: 1_000,
    retry: false,
  });
  useThrownError(error);

  useEffect(() => {
    if (!stream || !isAsked) return;
    const readAgain = () => {
      // The answer under way may be from before the event.
      if (client.isFetching({ queryKey: MOD_CALLS_KEY }) > 0) throttle.ask();
      else if (pace.mayPoll(Date.now())) void refetch();
    };
    const throttle = new Throttle(readAgain, () => pace.eventSpacingMs(POLL_INTERVAL_MS, Date.now()));
    const stop = stream.listen({
      onEvent: (event) => void (isAboutCalls(event) && throttle.ask()),
      onFreshStart: () => throttle.ask(),
    });
    return () => {
      stop();
      throttle.cancel();
    };
  }, [stream, isAsked, client, pace, refetch]);
  useEffect(() => pace.onRecovery(() => void (isAsked && refetch())), [pace, isAsked, refetch]);
  return data?.items;
}

/** Undefined until they are read, and for a key that may not read them. */
export function useCallGroups(): CallGroups | undefined {
  return useContext(CallGroupsContext);
}

/** How many calls wait for somebody. Zero for a key that may not read calls, and outside of any server. */
export function useWaitingCount(): number {
  return useContext(WaitingCountContext);
}
