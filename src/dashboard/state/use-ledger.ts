// The ledger of a server for views: fed by the page's stream; without one, polled at the page's pace and not while the tab is
// hidden. Older pages are read on request.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useId, useMemo, useState, useSyncExternalStore } from "react";
import type { EventResource } from "../../core/wire/event.ts";
import type { ApiError } from "../api/request.ts";
import { findFirstTime, LedgerFeed, type LedgerState } from "./ledger-feed.ts";
import type { StreamStatus } from "./live-stream.ts";
import { POLL_INTERVAL_MS } from "./server-poll.ts";
import { useServerSession, useSession } from "./session.ts";
import { Throttle } from "./throttle.ts";
import { useSessionEnd } from "./use-api-error.ts";
import { useLiveStream, useStreamStatus } from "./use-live-stream.tsx";

/** How often new events are shown: each time the whole list is gone through. */
const SHOW_EVERY_MS = 500;

const INITIAL_STATE: LedgerState = {
  list: undefined,
  error: undefined,
  failures: 0,
  delayMs: POLL_INTERVAL_MS,
};

export type LedgerView = LedgerState & {
  readonly isLoadingOlder: boolean;
  /** Why the last request for older events failed. */
  readonly olderError: ApiError | undefined;
  /** Looks for an older event that fits; without `fits` any event does. */
  readonly loadOlder: (fits?: (event: EventResource) => boolean) => void;
  /** While the list is held, new events wait in it. */
  readonly setHeld: (isHeld: boolean) => void;
  /** For the user: polls now, unless that would use too much of the limit. */
  readonly refresh: () => void;
};

/** What to read. `types` is the parameter of the API; undefined for everything. `player` is an id. */
export type LedgerChoice = {
  readonly types?: string | undefined;
  readonly player?: string | undefined;
  /** False to read nothing. */
  readonly isEnabled?: boolean;
  /** How many events the list shows. */
  readonly max?: number | undefined;
};

export function useLedger({ types, player, isEnabled = true, max }: LedgerChoice): LedgerView {
  const { ledger, pace } = useServerSession();
  const client = useQueryClient();
  const stream = useLiveStream();
  const status = useStreamStatus();
  const owner = useId();
  const feed = useMemo(
    () =>
      new LedgerFeed(
        ledger,
        pace,
        { ...(types !== undefined && { types }), ...(player !== undefined && { player }) },
        stream,
        max,
      ),
    [ledger, pace, types, player, stream, max],
  );
  // The list is in the feed, so each feed needs its own entry in the cache.
  const queryKey = useMemo(() => ["ledger", owner, types, player], [owner, types, player]);
  const { data: state = INITIAL_STATE, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => feed.poll(signal),
    enabled: isEnabled,
    // The delay is computed once per answer: a number that changes with each render would restart the wait.
    refetchInterval: ({ state: { data } }) =>
      data && isFed(status, feed) ? false : (data?.delayMs ?? POLL_INTERVAL_MS),
    refetchIntervalInBackground: false,
    refetchOnWindowFocus: () => !isFed(status, feed) && pace.mayPoll(Date.now()),
    refetchOnReconnect: () => !isFed(status, feed) && pace.mayPoll(Date.now()),
    networkMode: "always",
    gcTime: 0,
    retry: false,
    structuralSharing: false,
  });
  useSessionEnd(state.error);

  const refresh = useCallback(() => {
    if (isEnabled && pace.mayRefresh(Date.now())) void refetch({ cancelRefetch: false });
  }, [isEnabled, pace, refetch]);
  useEffect(() => pace.onRecovery(refresh), [pace, refresh]);

  const show = useCallback(
    (more: Partial<LedgerState> = {}) => {
      const change = (last: LedgerState | undefined) => last && { ...last, list: feed.list, ...more };
      client.setQueryData(queryKey, change);
    },
    [client, queryKey, feed],
  );

  useEffect(() => {
    if (!stream) return;
    const catchUp = () => {
      if (!feed.isBehind || !pace.mayPoll(Date.now())) return;
      // The answer under way may be from before the event.
      if (client.isFetching({ queryKey }) > 0) throttle.ask();
      else void refetch({ cancelRefetch: false });
    };
    const throttle = new Throttle(catchUp, () => pace.eventSpacingMs(POLL_INTERVAL_MS, Date.now()));
    const showing = new Throttle(
      () => show({ error: undefined }),
      () => SHOW_EVERY_MS,
    );
    const stop = stream.listen({
      onEvent(event) {
        const hasChanged = feed.take(event);
        if (feed.isBehind) throttle.ask();
        if (hasChanged) showing.ask();
      },
      onFreshStart() {
        feed.loseTrack();
        throttle.ask();
      },
    });
    return () => {
      stop();
      throttle.cancel();
      showing.cancel();
    };
  }, [stream, feed, pace, refetch, client, queryKey, show]);

  const [older, setOlder] = useState<{ readonly feed: LedgerFeed; readonly error: ApiError | undefined }>();
  const [loading, setLoading] = useState<LedgerFeed>();
  const loadOlder = useCallback(
    async (fits?: (event: EventResource) => boolean) => {
      setLoading(feed);
      const failure = await feed.loadOlder(fits);
      setOlder({ feed, error: failure });
      setLoading((current) => (current === feed ? undefined : current));
      show();
    },
    [feed, show],
  );
  const setHeld = useCallback((isHeld: boolean) => void (feed.setHeld(isHeld) && show()), [feed, show]);

  return {
    ...state,
    isLoadingOlder: loading === feed,
    olderError: older?.feed === feed ? older.error : undefined,
    loadOlder: (fits) => void loadOlder(fits),
    setHeld,
    refresh,
  };
}

/** Whether the stream brings what is new, so that polling is of no use. */
function isFed(status: StreamStatus, feed: LedgerFeed): boolean {
  return status !== "off" && !feed.isBehind;
}

/** Whether Gatehouse has said that it has no archive. False until it was asked. */
export function useLedgerIsOff(): boolean {
  const { session } = useSession();
  const ledger = session.kind === "operator" ? undefined : session.ledger;
  return useSyncExternalStore(ledger?.subscribe ?? subscribeToNothing, () => ledger?.isOff ?? false);
}

function subscribeToNothing(): () => void {
  return () => {};
}

/** The time of the first event that names the player; undefined until it is found. */
export function useFirstTime(player: string, isEnabled: boolean): number | undefined {
  const { ledger, pace } = useServerSession();
  const { data } = useQuery({
    queryKey: ["first-time", player],
    queryFn: async ({ signal }) => (await findFirstTime(ledger, pace, player, signal)) ?? null,
    enabled: isEnabled,
    networkMode: "always",
    refetchOnWindowFocus: false,
    retry: false,
  });
  return data ?? undefined;
}
