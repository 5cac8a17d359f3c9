// Polls something else than the server state, within the same limit as the page's poll.
import { useQuery } from "@tanstack/react-query";
import type { Outcome } from "../../api/request.ts";
import { useCallerSession } from "../session/session.ts";
import { useSessionEnd } from "../session/use-api-error.ts";

/**
 * Reads again after `everyMs`, later when the limit runs low, and not while the tab is hidden. As a function, `everyMs` is
 * called after each answer; false stops the polling until `refresh` is called.
 */
export function usePacedQuery<T>(
  name: readonly unknown[],
  read: (signal: AbortSignal) => Promise<Outcome<T>>,
  everyMs: number | ((outcome: Outcome<T>) => number | false),
) {
  const { pace } = useCallerSession();
  const { data, isFetching, refetch } = useQuery({
    queryKey: name,
    queryFn: async ({ signal }) => {
      const outcome = await read(signal);
      const intervalMs = typeof everyMs === "number" ? everyMs : everyMs(outcome);
      const delayMs: number | false = intervalMs === false ? false : pace.delayMs(intervalMs, Date.now());
      return { outcome, delayMs };
    },
    // The delay is computed once per answer: a number that changes with each render would restart the wait.
    refetchInterval: (query) => query.state.data?.delayMs ?? false,
    refetchOnWindowFocus: () => pace.mayPoll(Date.now()),
    networkMode: "always",
    staleTime: 1_000,
    retry: false,
  });
  const error = data?.outcome.ok === false ? data.outcome.error : undefined;
  useSessionEnd(error);
  return { outcome: data?.outcome, isFetching: isFetching, refresh: () => void refetch() };
}
