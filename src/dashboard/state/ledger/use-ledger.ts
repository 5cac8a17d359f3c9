// The ledger of a server for views: fed by the page's stream; without one, polled at the page's pace and not while the tab is
// hidden. Older pages are read on request.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useId, useMemo, useState, useSyncExternalStore } from "react";
import { MINUTE_MS } from "../../../core/durations.ts";
import type { EventResource } from "../../../core/wire/event.ts";
import type { ApiError } from "../../api/request.ts";
import { POLL_INTERVAL_MS } from "../server/server-poll.ts";
import { useServerSession, useSession } from "../session/session.ts";
import { useSessionEnd } from "../session/use-api-error.ts";
import { Throttle } from "../time/throttle.ts";
import { findFirstTime, LedgerFeed, type LedgerState } from "./ledger-feed.ts";
import type { StreamStatus } from "./live-stream.ts";
import { useLiveStream, useStreamStatus } from "./use-live-stream.tsx";

/** How often new events are shown: each time the whole list is gone through. */
const SHOW_EVERY_MS = 500;

const INITIAL_STATE: LedgerState = { list: undefined, error: undefined, failures: 0, delayMs: POLL_INTERVAL_MS };

export type LedgerView = LedgerState & {
  readonly isLoadingOlder: boolean;
  /** Why the last request for older events failed. */
  readonly olderError: ApiError | undefined;
  /** Looks for an older event that fits; without `fits` any event does. */
  readonly loadOlder: (fits?: (event: EventResource) => boolean) => void;
  /** Reads newer events; undefined when the list has the newest, or gets them by itself. */
  readonly loadNewer: (() => void) | undefined;
  /** While the list is held, new events wait in it. */
  readonly setHeld: (isHeld: boolean) => void;
  /** For the user: polls now, unless that would use too much of the limit. */
  readonly refresh: () => void;
};

/** What to read. `types` is the parameter of the API; undefined for everything. `player` is an id. */
export type LedgerChoice = {
  readonly types?: string | undefined;
  readonly player?: string | undefined;
  /** In epoch milliseconds: the list begins at this moment, instead of now, and does not move on by itself. */
  readonly at?: number | undefined;
  /** False to read nothing. */
  readonly isEnabled?: boolean;
  /** How many events the list shows. */
  readonly max?: number | undefined;
  /** Whether a hidden tab goes on reading, as often as browsers let it. */
  readonly isKeptHidden?: boolean;
};

/** Browsers run the timers of hidden tabs no more often. */
export const HIDDEN_EVERY_MS = MINUTE_MS;

export function useLedger(choice: LedgerChoice): LedgerView {
  const { types, player, at, isEnabled = true, max, isKeptHidden = false } = choice;
  const { ledger, pace } = useServerSession();
  const client = useQueryClient();
  const live = useLiveStream();
  const stream = at === undefined ? live : undefined;
  const status = useStreamStatus();
  const owner = useId();
  const feed = useMemo(
    () =>
      new LedgerFeed(
        ledger,
        pace,
        {
          ...(types !== undefined && { types }),
          ...(player !== undefined && { player }),
          ...(at !== undefined && { at }),
        },
        stream,
        max,
      ),
    [ledger, pace, types, player, at, stream, max],
  );
  // The list is in the feed, so each feed needs its own entry in the cache.
  const queryKey = useMemo(() => ["ledger", owner, types, player, at], [owner, types, player, at]);
  const { data: state = INITIAL_STATE, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => feed.poll(signal),
    enabled: isEnabled,
    // The delay is computed once per answer: a number that changes with each render would restart the wait.
    refetchInterval: ({ state: { data } }) => {
      if (data && isFed(status, feed, at)) return false;
      const delayMs = data?.delayMs ?? POLL_INTERVAL_MS;
      return delayMs !== false && document.hidden ? Math.max(delayMs, HIDDEN_EVERY_MS) : delayMs;
    },
    refetchIntervalInBackground: isKeptHidden,
    refetchOnWindowFocus: () => !isFed(status, feed, at) && pace.mayPoll(Date.now()),
    refetchOnReconnect: () => !isFed(status, feed, at) && pace.mayPoll(Date.now()),
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
  const load = useCallback(
    async (read: () => Promise<ApiError | undefined>) => {
      setLoading(feed);
      const failure = await read();
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
    loadOlder: (fits) => void load(() => feed.loadOlder(fits)),
    loadNewer: feed.hasNewer ? () => void load(() => feed.loadNewer()) : undefined,
    setHeld,
    refresh,
  };
}

/** Whether polling is of no use: the stream brings what is new, or the list stays at the moment that it began with. */
function isFed(status: StreamStatus, feed: LedgerFeed, at: number | undefined): boolean {
  return at === undefined ? status !== "off" && !feed.isBehind : feed.list !== undefined;
}

/** Whether Gatehouse has said that it has no archive. False until it was asked. */
export function useLedgerIsOff(): boolean {
  const { session } = useSession();
  const ledger = session.kind === "admin" ? undefined : session.ledger;
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
