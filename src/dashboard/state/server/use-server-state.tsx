// The server state for views: one poll for the whole page, paused while the tab is hidden, paced by the key's limit. An event
// of the page's stream makes it poll at once.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useMemo } from "react";
import type { Section } from "../../../core/sections.ts";
import { useLiveStream, useStreamStatus } from "../ledger/use-live-stream.tsx";
import { useServerSession } from "../session/session.ts";
import { useSessionEnd } from "../session/use-api-error.ts";
import { Throttle } from "../time/throttle.ts";
import type { HistoryPoint } from "./server-history.ts";
import {
  type Condition,
  INITIAL_READING,
  judgeAge,
  POLL_INTERVAL_MS,
  type Reading,
  ServerPoll,
} from "./server-poll.ts";

type SharedPoll = {
  readonly poll: ServerPoll;
  readonly reading: Reading;
  readonly isFetching: boolean;
  /** Polls now, if the limit allows it. */
  readonly pollNow: () => void;
  readonly refresh: () => void;
};

const SharedPollContext = createContext<SharedPoll | undefined>(undefined);
const QUERY_KEY = ["server-state"];

export function ServerStateProvider({ children }: { readonly children: ReactNode }) {
  const { api, pace, sections } = useServerSession();
  const client = useQueryClient();
  const poll = useMemo(() => new ServerPoll(api, pace, sections), [api, pace, sections]);
  const stream = useLiveStream();
  const isLive = useStreamStatus() !== "off";
  useEffect(() => poll.setLive(isLive), [poll, isLive]);
  const { data: reading = INITIAL_READING, isFetching } = useQuery({
    queryKey: QUERY_KEY,
    queryFn: ({ signal }) => poll.read(signal),
    // The delay is computed once per reading: a number that changes with each render would restart the wait.
    refetchInterval: (query) => query.state.data?.delayMs ?? POLL_INTERVAL_MS,
    refetchIntervalInBackground: false,
    // When the tab becomes visible again, poll at once if the limit allows it.
    refetchOnWindowFocus: () => poll.mayPoll(Date.now()),
    refetchOnReconnect: () => poll.mayPoll(Date.now()),
    networkMode: "always",
    staleTime: 1_000,
    retry: false,
    structuralSharing: false,
  });
  useSessionEnd(reading.error);

  const { pollNow, refresh } = useMemo(() => {
    const filter = { queryKey: QUERY_KEY };
    return {
      // This cancels a request under way, because its answer lacks the new sections.
      pollNow: () => void (poll.mayPoll(Date.now()) && client.refetchQueries(filter)),
      refresh: () => void (poll.mayRefresh(Date.now()) && client.refetchQueries(filter, { cancelRefetch: false })),
    };
  }, [poll, client]);
  useEffect(() => pace.onRecovery(refresh), [pace, refresh]);

  useEffect(() => {
    if (!stream) return;
    const readAgain = () => {
      // A hidden tab reads the state when the user comes back to it.
      if (document.hidden) return;
      // The answer under way may be from before the event.
      if (client.isFetching({ queryKey: QUERY_KEY }) > 0) throttle.ask();
      else pollNow();
    };
    const throttle = new Throttle(readAgain, () => pace.eventSpacingMs(POLL_INTERVAL_MS, Date.now()));
    const stop = stream.listen({
      onEvent: (event) => void (poll.isConcernedBy(event) && throttle.ask()),
      // The poll then says why, to the user too.
      onRefused: (error) => void (error === undefined && throttle.ask()),
    });
    return () => {
      stop();
      throttle.cancel();
    };
  }, [stream, poll, pace, client, pollNow]);

  const shared = useMemo(
    () => ({ poll, reading, isFetching, pollNow, refresh }),
    [poll, reading, isFetching, pollNow, refresh],
  );
  return <SharedPollContext value={shared}>{children}</SharedPollContext>;
}

function useSharedPoll(): SharedPoll {
  const shared = useContext(SharedPollContext);
  if (!shared) throw new Error("there is no ServerStateProvider around this component");
  return shared;
}

export type ServerView = Omit<Reading, "condition"> & {
  readonly condition: Condition;
  /** The requested sections that this key may not read. */
  readonly missing: readonly Section[];
  /** Whether `state` has every requested section that the key may read. */
  readonly isComplete: boolean;
  readonly isFetching: boolean;
  /** For the user: polls now, unless that would use too much of the limit. */
  readonly refresh: () => void;
};

/**
 * Adds the sections to the page's poll while the component is mounted. With `needsPositions` the poll is not slowed down
 * while a stream tells of events.
 */
export function useServerState(sections: readonly Section[] = [], needsPositions = false): ServerView {
  const { poll, reading, isFetching, pollNow, refresh } = useSharedPoll();
  const names = sections.join();
  useEffect(() => {
    const subscriber = Symbol(names);
    const wanted = names === "" ? [] : (names.split(",") as Section[]);
    if (poll.subscribe(subscriber, wanted, needsPositions)) pollNow();
    return () => poll.unsubscribe(subscriber);
  }, [poll, names, needsPositions, pollNow]);

  const missing = sections.filter((name) => reading.forbidden.includes(name));
  const { state } = reading;
  return {
    ...reading,
    condition: judgeAge(reading, Date.now()),
    missing,
    isComplete: state !== undefined && sections.every((name) => state[name] !== undefined || missing.includes(name)),
    isFetching,
    refresh,
  };
}

/** The readings since the page was opened, oldest first; a new array after each reading. */
export function useServerHistory(): readonly HistoryPoint[] {
  return useSharedPoll().poll.history.points;
}
