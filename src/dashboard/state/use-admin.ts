// Hooks for the operator's views: lists page by page, single resources, and changes that refresh what they touch.
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";
import type { PageOf, PageQuery } from "../../core/wire/page.ts";
import type { AdminApi } from "../api/admin.ts";
import type { ApiError, Outcome } from "../api/request.ts";
import { endsSession, useOperatorSession, useSession } from "./session.ts";

/** How an error of the API travels through TanStack Query. Views get the `ApiError` itself. */
class ApiFault extends Error {
  constructor(readonly error: ApiError) {
    super(error.message);
  }
}

const PAGE_SIZE = 50;

export function useAdmin(): AdminApi {
  return useOperatorSession().api;
}

async function unwrap<T>(asked: Promise<Outcome<T>>): Promise<T> {
  const outcome = await asked;
  if (!outcome.ok) throw new ApiFault(outcome.error);
  return outcome.value;
}

function useFault(fault: unknown): ApiError | undefined {
  const { signOut } = useSession();
  const error = fault instanceof ApiFault ? fault.error : undefined;
  useEffect(() => {
    if (error && endsSession(error)) signOut(error);
  }, [error, signOut]);
  return error;
}

export type PagedList<T> = {
  readonly items: readonly T[];
  readonly isLoading: boolean;
  readonly error: ApiError | undefined;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => void;
  readonly refresh: () => void;
};

/** `name` tells lists apart, parameters included: `["keys", serverId]`. `everyMs` repeats it while the tab is visible. */
export function usePagedList<T>(
  name: readonly unknown[],
  readPage: (query: PageQuery) => Promise<Outcome<PageOf<T>>>,
  everyMs?: number,
): PagedList<T> {
  const query = useInfiniteQuery({
    queryKey: ["admin", ...name],
    queryFn: ({ pageParam }) => {
      return unwrap(readPage({ limit: PAGE_SIZE, ...(pageParam !== null && { cursor: pageParam }) }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page: PageOf<T>) => page.next,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
    networkMode: "always",
    retry: false,
  });
  return {
    items: query.data?.pages.flatMap(({ items }) => items) ?? [],
    isLoading: query.isPending,
    error: useFault(query.error),
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore: () => void query.fetchNextPage(),
    refresh: () => void query.refetch(),
  };
}

/** One thing: a key with its usage, readiness, metrics. */
export function useAdminQuery<T>(
  name: readonly unknown[],
  read: () => Promise<Outcome<T>>,
  everyMs?: number,
) {
  const query = useQuery({
    queryKey: ["admin", ...name],
    queryFn: () => unwrap(read()),
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
    networkMode: "always",
    retry: false,
  });
  return {
    value: query.data,
    isLoading: query.isPending,
    error: useFault(query.error),
    readAt: query.dataUpdatedAt,
    refresh: () => void query.refetch(),
  };
}

/**
 * A change that is made once: while it runs and after it has worked, running it again does nothing. With `isRepeatable` it
 * can be made again afterwards, and for something else at the same time. `touches` are the first words of the names of lists to read again after it.
 */
export function useAdminChange<A, T>(
  change: (argument: A) => Promise<Outcome<T>>,
  touches: readonly string[],
  isRepeatable = false,
) {
  const client = useQueryClient();
  const mutation = useMutation({
    mutationFn: (argument: A) => unwrap(change(argument)),
    onSettled: () =>
      Promise.all(touches.map((name) => client.invalidateQueries({ queryKey: ["admin", name] }))),
    networkMode: "always",
  });
  const { mutateAsync, reset } = mutation;
  // No state: the second of two quick taps comes before React has drawn what the first has changed.
  const taken = useRef(new Set<string>());
  /** What came of it, or undefined when it failed; then `error` says why. */
  const run = useCallback(
    async (argument: A): Promise<T | undefined> => {
      const what = isRepeatable ? JSON.stringify(argument) : "";
      if (taken.current.has(what)) return;
      taken.current.add(what);
      try {
        const made = await mutateAsync(argument);
        if (isRepeatable) taken.current.delete(what);
        return made;
      } catch {
        taken.current.delete(what);
        return;
      }
    },
    [mutateAsync, isRepeatable],
  );
  return { run, isRunning: mutation.isPending, error: useFault(mutation.error), reset };
}
