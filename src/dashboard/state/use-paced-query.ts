// Something else than the state that a caller's view asks again and again, within the same limit as the page's poll.
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Outcome } from "../api/request.ts";
import { endsSession, useCallerSession, useSession } from "./session.ts";

/**
 * `everyMs` is a wish: it takes longer when the limit runs low, and pauses in a hidden tab. As a function it is asked
 * after each answer; false ends the repeating until somebody refreshes.
 */
export function usePacedQuery<T>(
  name: readonly unknown[],
  ask: (signal: AbortSignal) => Promise<Outcome<T>>,
  everyMs: number | ((outcome: Outcome<T>) => number | false),
) {
  const { pace } = useCallerSession();
  const { signOut } = useSession();
  const { data, isFetching, refetch } = useQuery({
    queryKey: name,
    queryFn: async ({ signal }) => {
      const outcome = await ask(signal);
      const wish = typeof everyMs === "number" ? everyMs : everyMs(outcome);
      const delayMs: number | false = wish === false ? false : pace.delayMs(wish, Date.now());
      return { outcome, delayMs };
    },
    // Decided once an answer: a number that changes with each rendering would start the wait anew.
    refetchInterval: (query) => query.state.data?.delayMs ?? false,
    refetchOnWindowFocus: () => pace.mayAsk(Date.now()),
    networkMode: "always",
    staleTime: 1_000,
    retry: false,
  });
  const error = data?.outcome.ok === false ? data.outcome.error : undefined;
  useEffect(() => {
    if (error && endsSession(error)) signOut(error);
  }, [error, signOut]);
  return { outcome: data?.outcome, isAsking: isFetching, refresh: () => void refetch() };
}
