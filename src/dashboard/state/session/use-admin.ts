// Hooks for the operator's views: paged lists, single resources, and changes that refresh the lists they affect.
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useRef } from "react";
import type { Ability } from "../../../core/keys/rights.ts";
import type { PageOf, PageQuery } from "../../../core/wire/page.ts";
import type { AdminApi } from "../../api/admin.ts";
import type { ApiError, Outcome } from "../../api/request.ts";
import { useMe } from "./person.ts";
import { useAdminSession } from "./session.ts";
import { unwrap, useThrownError } from "./use-api-error.ts";

const PAGE_SIZE = 50;

export function useAdmin(): AdminApi {
  return useAdminSession().api;
}

export type AdminRights = {
  /** The master key, or a person who may do all that it may. */
  readonly isOperator: boolean;
  /** Whether the user has the right on the server. */
  readonly may: (ability: Ability, serverId: string) => boolean;
  readonly mayAnywhere: (ability: Ability) => boolean;
};

/** What the user may do in the admin API. Gatehouse checks everything; this hides what it would refuse. */
export function useAdminRights(): AdminRights {
  const { person } = useAdminSession();
  const me = useMe(person);
  return useMemo(() => {
    const isOperator = me?.is_operator ?? true;
    const mayOn = new Map(me?.servers.map(({ server_id: id, may }) => [id, may]));
    return {
      isOperator,
      may: (ability, id) => isOperator || (mayOn.get(id)?.includes(ability) ?? false),
      mayAnywhere: (ability) => isOperator || mayOn.values().some((abilities) => abilities.includes(ability)),
    };
  }, [me]);
}

export type PagedList<T> = {
  readonly items: readonly T[];
  readonly isLoading: boolean;
  readonly error: ApiError | undefined;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  /** How many pages are loaded. */
  readonly pageCount: number;
  readonly loadMore: () => void;
  readonly refresh: () => void;
};

/**
 * Reads a list page by page. `name` is the cache key and holds the parameters: `["keys", serverId]`. With `everyMs` the list
 * is polled while the tab is visible. `keepsItemsOf` says whether the items of the list with an earlier name are shown until
 * those of the new one are there.
 */
export function usePagedList<T>(
  name: readonly unknown[],
  readPage: (query: PageQuery) => Promise<Outcome<PageOf<T>>>,
  everyMs?: number,
  keepsItemsOf: (earlierName: readonly unknown[]) => boolean = () => false,
): PagedList<T> {
  const query = useInfiniteQuery({
    queryKey: ["admin", ...name],
    queryFn: ({ pageParam }) => {
      return unwrap(readPage({ limit: PAGE_SIZE, ...(pageParam !== null && { cursor: pageParam }) }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page: PageOf<T>) => page.next,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
    placeholderData: (data, earlier) => (earlier && keepsItemsOf(earlier.queryKey.slice(1)) ? data : undefined),
    networkMode: "always",
    retry: false,
  });
  return {
    items: query.data?.pages.flatMap(({ items }) => items) ?? [],
    isLoading: query.isPending,
    error: useThrownError(query.error),
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage || query.isPlaceholderData,
    pageCount: query.data?.pages.length ?? 0,
    loadMore: () => void query.fetchNextPage(),
    refresh: () => void query.refetch(),
  };
}

/** Reads one resource: a key with its usage, readiness, metrics. Reads nothing unless `isWanted`. */
export function useAdminQuery<T>(
  name: readonly unknown[],
  read: () => Promise<Outcome<T>>,
  everyMs?: number,
  isWanted = true,
) {
  const query = useQuery({
    queryKey: ["admin", ...name],
    queryFn: () => unwrap(read()),
    enabled: isWanted,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
    networkMode: "always",
    retry: false,
  });
  return {
    value: query.data,
    isLoading: query.isPending,
    error: useThrownError(query.error),
    readAt: query.dataUpdatedAt,
    refresh: () => void query.refetch(),
  };
}

/**
 * Makes a change once: while it runs and after it has succeeded, running it again does nothing. With `isRepeatable` it can
 * run again afterwards, and run for several arguments at the same time. `invalidates` has the first words of the names of
 * the lists to read again after the change.
 */
export function useAdminChange<A, T>(
  change: (argument: A) => Promise<Outcome<T>>,
  invalidates: readonly string[],
  isRepeatable = false,
) {
  const client = useQueryClient();
  const mutation = useMutation({
    mutationFn: (argument: A) => unwrap(change(argument)),
    onSettled: () => Promise.all(invalidates.map((name) => client.invalidateQueries({ queryKey: ["admin", name] }))),
    networkMode: "always",
  });
  const { mutateAsync, reset } = mutation;
  // A ref and not state, because the second tap of a double tap comes before React renders again.
  const started = useRef(new Set<string>());
  /** Returns the result; undefined when the change failed, and `error` then says why, or when it was already started. */
  const run = useCallback(
    async (argument: A): Promise<T | undefined> => {
      const name = isRepeatable ? JSON.stringify(argument) : "";
      if (started.current.has(name)) return;
      started.current.add(name);
      try {
        const result = await mutateAsync(argument);
        if (isRepeatable) started.current.delete(name);
        return result;
      } catch {
        started.current.delete(name);
        return;
      }
    },
    [mutateAsync, isRepeatable],
  );
  return { run, isRunning: mutation.isPending, error: useThrownError(mutation.error), reset };
}
