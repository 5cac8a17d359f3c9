// The ledger of a server for views: polled at the page's pace, paused while the tab is hidden, older pages on request.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useId, useMemo, useState, useSyncExternalStore } from "react";
import type { EventResource } from "../../core/wire/event.ts";
import type { ApiError } from "../api/request.ts";
import { findFirstTime, LedgerFeed, type LedgerState } from "./ledger-feed.ts";
import { POLL_INTERVAL_MS } from "./server-poll.ts";
import { endsSession, useServerSession, useSession } from "./session.ts";

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
  /** For the user: polls now, unless that would use too much of the limit. */
  readonly refresh: () => void;
};

/** What to read. `types` is the parameter of the API; undefined for everything. `player` is an id. */
export type LedgerChoice = {
  readonly types?: string | undefined;
  readonly player?: string | undefined;
  /** False to read nothing. */
  readonly isEnabled?: boolean;
};

export function useLedger({ types, player, isEnabled = true }: LedgerChoice): LedgerView {
  const { ledger, pace } = useServerSession();
  const { signOut } = useSession();
  const client = useQueryClient();
  const owner = useId();
  const feed = useMemo(
    () =>
      new LedgerFeed(ledger, pace, {
        ...(types !== undefined && { types }),
        ...(player !== undefined && { player }),
      }),
    [ledger, pace, types, player],
  );
  // The list is in the feed, so each feed needs its own entry in the cache.
  const queryKey = useMemo(() => ["ledger", owner, types, player], [owner, types, player]);
  const { data: state = INITIAL_STATE, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => feed.poll(signal),
    enabled: isEnabled,
    // The delay is computed once per answer: a number that changes with each render would restart the wait.
    refetchInterval: (query) => query.state.data?.delayMs ?? POLL_INTERVAL_MS,
    refetchIntervalInBackground: false,
    refetchOnWindowFocus: () => pace.mayPoll(Date.now()),
    refetchOnReconnect: () => pace.mayPoll(Date.now()),
    networkMode: "always",
    gcTime: 0,
    retry: false,
    structuralSharing: false,
  });
  const { error } = state;
  useEffect(() => {
    if (error && endsSession(error)) signOut(error);
  }, [error, signOut]);

  const refresh = useCallback(() => {
    if (isEnabled && pace.mayRefresh(Date.now())) void refetch({ cancelRefetch: false });
  }, [isEnabled, pace, refetch]);
  useEffect(() => pace.onRecovery(refresh), [pace, refresh]);

  const [older, setOlder] = useState<{ readonly feed: LedgerFeed; readonly error: ApiError | undefined }>();
  const [loading, setLoading] = useState<LedgerFeed>();
  const loadOlder = useCallback(
    async (fits?: (event: EventResource) => boolean) => {
      setLoading(feed);
      const failure = await feed.loadOlder(fits);
      setOlder({ feed, error: failure });
      setLoading((current) => (current === feed ? undefined : current));
      client.setQueryData(queryKey, (last: LedgerState | undefined) => last && { ...last, list: feed.list });
    },
    [feed, client, queryKey],
  );

  return {
    ...state,
    isLoadingOlder: loading === feed,
    olderError: older?.feed === feed ? older.error : undefined,
    loadOlder: (fits) => void loadOlder(fits),
    refresh,
  };
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
