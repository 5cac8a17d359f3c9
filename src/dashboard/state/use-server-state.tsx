// The state of the server for views: one poll for the whole page, paused in a hidden tab, paced by the key's limit.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useMemo } from "react";
import type { Section } from "../../core/sections.ts";
import type { HistoryPoint } from "./server-history.ts";
import {
  type Condition,
  FIRST_READING,
  judgeAge,
  POLL_INTERVAL_MS,
  type Reading,
  ServerPoll,
} from "./server-poll.ts";
import { endsSession, useCallerSession, useSession } from "./session.ts";

type Shared = {
  readonly poll: ServerPoll;
  readonly reading: Reading;
  readonly isAsking: boolean;
  readonly ask: () => void;
  readonly refresh: () => void;
};

const SharedPoll = createContext<Shared | undefined>(undefined);
const QUERY_KEY = ["server-state"];

export function ServerStateProvider({ children }: { readonly children: ReactNode }) {
  const { api, pace, sections } = useCallerSession();
  const { signOut } = useSession();
  const client = useQueryClient();
  const poll = useMemo(() => new ServerPoll(api, pace, sections), [api, pace, sections]);
  const { data: reading = FIRST_READING, isFetching } = useQuery({
    queryKey: QUERY_KEY,
    queryFn: ({ signal }) => poll.read(signal),
    // Decided once a reading: a number that changes with each rendering would start the wait anew.
    refetchInterval: (query) => query.state.data?.delayMs ?? POLL_INTERVAL_MS,
    refetchIntervalInBackground: false,
    // Back in sight: at once, if the limit allows.
    refetchOnWindowFocus: () => poll.mayAsk(Date.now()),
    refetchOnReconnect: () => poll.mayAsk(Date.now()),
    networkMode: "always",
    staleTime: 1_000,
    retry: false,
    structuralSharing: false,
  });
  const { error } = reading;
  useEffect(() => {
    if (error && endsSession(error)) signOut(error);
  }, [error, signOut]);

  const { ask, refresh } = useMemo(() => {
    const filter = { queryKey: QUERY_KEY };
    return {
      // Other sections than those that are being asked for: the answer under way would not do.
      ask: () => void (poll.mayAsk(Date.now()) && client.refetchQueries(filter)),
      refresh: () =>
        void (poll.mayInsist(Date.now()) && client.refetchQueries(filter, { cancelRefetch: false })),
    };
  }, [poll, client]);
  useEffect(() => pace.onRecovery(refresh), [pace, refresh]);

  const shared = useMemo(
    () => ({ poll, reading, isAsking: isFetching, ask, refresh }),
    [poll, reading, isFetching, ask, refresh],
  );
  return <SharedPoll value={shared}>{children}</SharedPoll>;
}

function useShared(): Shared {
  const shared = useContext(SharedPoll);
  if (!shared) throw new Error("there is no ServerStateProvider around this component");
  return shared;
}

export type ServerView = Omit<Reading, "condition"> & {
  readonly condition: Condition;
  /** The wanted sections that this key may not read: say so, and do without. */
  readonly missing: readonly Section[];
  /** Whether every wanted section that the key may read is in `state`. */
  readonly isComplete: boolean;
  readonly isAsking: boolean;
  /** For the reader: asks at once, unless that would cost too much of the limit. */
  readonly refresh: () => void;
};

/** Keeps the sections in the page's poll for as long as the component is there. */
export function useServerState(sections: readonly Section[] = []): ServerView {
  const { poll, reading, isAsking, ask, refresh } = useShared();
  const names = sections.join();
  useEffect(() => {
    const wish = Symbol(names);
    const wanted = names === "" ? [] : (names.split(",") as Section[]);
    if (poll.want(wish, wanted)) ask();
    return () => poll.wantNoMore(wish);
  }, [poll, names, ask]);

  const missing = sections.filter((name) => reading.forbidden.includes(name));
  const { state } = reading;
  return {
    ...reading,
    condition: judgeAge(reading, Date.now()),
    missing,
    isComplete:
      state !== undefined && sections.every((name) => state[name] !== undefined || missing.includes(name)),
    isAsking,
    refresh,
  };
}

/** What was seen since the page was opened, oldest first; a new array after each reading. */
export function useServerHistory(): readonly HistoryPoint[] {
  return useShared().poll.history.points;
}
