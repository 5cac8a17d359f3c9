// The past of a server for views: read when a view asks. A single answer is read again every minute while its period ends now
// or after a failure, not while the tab is hidden, and when the user comes back to it. Lists are read again only on request.
// An answer about a period that is over is kept: it does not change.
import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { ERRORS } from "../../../core/errors.ts";
import { type HistoryQuestion, NEEDED_SECTIONS } from "../../../core/history/history.ts";
import type { Section } from "../../../core/sections.ts";
import { HISTORY_PAGE_SIZE, type HistoryAnswers, type HistoryList, type HistoryQuery } from "../../api/caller.ts";
import type { ApiError } from "../../api/request.ts";
import { useLedgerIsOff } from "../ledger/use-ledger.ts";
import { useServerSession } from "../session/session.ts";
import { unwrap, useThrownError } from "../session/use-api-error.ts";
import { isOver, nameChoice, type Period, type PeriodChoice, resolvePeriod } from "./period.ts";

const REFRESH_MS = 60_000;

export type HistoryAnswer<T> = {
  /** Undefined until there is an answer. */
  readonly value: T | undefined;
  /** The period that the value is about. */
  readonly period: Period | undefined;
  /** Why the last question failed; the value is then the one before. */
  readonly error: ApiError | undefined;
  /** Whether the value is still that of an earlier choice. */
  readonly isOld: boolean;
  readonly refresh: () => void;
};

/** A question with one answer. A choice of dates that means no period asks nothing. */
export function useHistory<Q extends "players" | "peaks">(
  question: Q,
  choice: PeriodChoice,
  options: { readonly tz?: string; readonly isEnabled?: boolean } = {},
): HistoryAnswer<HistoryAnswers[Q]> {
  const { api, pace } = useServerSession();
  const { tz, isEnabled = true } = options;
  const query = useQuery({
    queryKey: ["history", question, nameChoice(choice), tz],
    queryFn: async ({ signal }) => {
      const askedAt = Date.now();
      const period = getPeriod(choice, askedAt);
      const value = await unwrap(api.readHistory(question, { ...period, ...(tz && { tz }) }, signal));
      const isFinal = isOver(period, askedAt);
      const delayMs: number | false = isFinal ? false : pace.delayMs(REFRESH_MS, Date.now());
      return { value, period, isFinal, delayMs };
    },
    enabled: isEnabled && hasPeriod(choice),
    // The delay is computed once per answer: a number that changes with each render would restart the wait.
    refetchInterval: ({ state: { data, error, errorUpdatedAt } }) =>
      error ? Math.max(REFRESH_MS, pace.waitUntil - errorUpdatedAt) : (data?.delayMs ?? false),
    refetchOnWindowFocus: () => pace.mayPoll(Date.now()),
    placeholderData: keepPreviousData,
    networkMode: "always",
    staleTime: ({ state: { data } }) => findStaleTime(data?.isFinal),
    retry: false,
  });
  return {
    value: query.data?.value,
    period: query.data?.period,
    error: useThrownError(query.error),
    isOld: query.isPlaceholderData,
    refresh: () => void query.refetch(),
  };
}

type Item<Q extends HistoryList> = HistoryAnswers[Q]["items"][number];
type Page<Q extends HistoryList> = {
  readonly answer: HistoryAnswers[Q];
  readonly period: Period;
  readonly isFinal: boolean;
};

export type HistoryItems<Q extends HistoryList> = Omit<HistoryAnswer<readonly Item<Q>[]>, "isOld"> & {
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => void;
};

/** A question with a list as its answer, page by page. */
export function useHistoryList<Q extends HistoryList>(
  question: Q,
  choice: PeriodChoice,
  options: { readonly player?: string; readonly isEnabled?: boolean } = {},
): HistoryItems<Q> {
  const { api } = useServerSession();
  const { player, isEnabled = true } = options;
  const query = useInfiniteQuery({
    queryKey: ["history", question, nameChoice(choice), player],
    queryFn: async ({ pageParam, signal }): Promise<Page<Q>> => {
      const askedAt = Date.now();
      // The cursor knows the period of the first page; the one that is asked with it only has to be valid.
      const period = pageParam?.period ?? getPeriod(choice, askedAt);
      const asked: HistoryQuery = {
        ...period,
        limit: HISTORY_PAGE_SIZE,
        ...(player !== undefined && { player }),
        ...(pageParam && { cursor: pageParam.cursor }),
      };
      const answer = await unwrap(api.readHistory(question, asked, signal));
      return { answer, period, isFinal: isOver(period, askedAt) };
    },
    initialPageParam: null as { readonly cursor: string; readonly period: Period } | null,
    getNextPageParam: ({ answer, period }: Page<Q>) =>
      answer.next === null ? undefined : { cursor: answer.next, period },
    enabled: isEnabled && hasPeriod(choice),
    refetchOnWindowFocus: false,
    networkMode: "always",
    staleTime: ({ state: { data } }) => findStaleTime(data?.pages[0]?.isFinal),
    retry: false,
  });
  return {
    value: query.data && listItems(query.data),
    period: query.data?.pages[0]?.period,
    error: useThrownError(query.error),
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore: () => void query.fetchNextPage(),
    refresh: () => void query.refetch(),
  };
}

function findStaleTime(isFinal = false): number {
  return isFinal ? Number.POSITIVE_INFINITY : REFRESH_MS / 2;
}

function listItems<Q extends HistoryList>({ pages }: InfiniteData<Page<Q>>): readonly Item<Q>[] {
  return pages.flatMap(({ answer }) => answer.items as Item<Q>[]);
}

export type HistoryProblem =
  | { readonly kind: "forbidden"; readonly sections: readonly Section[] }
  | { readonly kind: "off" }
  | { readonly kind: "away" }
  | { readonly kind: "failed"; readonly error: ApiError };

/** Why there is no answer to a question; undefined when there is one or will be. */
export function useHistoryProblem(question: HistoryQuestion, error: ApiError | undefined): HistoryProblem | undefined {
  const { sections } = useServerSession();
  const isOff = useLedgerIsOff();
  const needed: readonly Section[] = NEEDED_SECTIONS[question];
  const missing = needed.filter((section) => !sections.includes(section));
  if (missing.length > 0) return { kind: "forbidden", sections: missing };
  if (isOff || error?.code === ERRORS.notConfigured.code) return { kind: "off" };
  if (!error) return undefined;
  if (error.code === ERRORS.sectionForbidden.code) return { kind: "forbidden", sections: needed };
  return error.code === ERRORS.unavailable.code ? { kind: "away" } : { kind: "failed", error };
}

/** Whether the key may ask this at all, so that the page need not try. */
export function useMayAsk(question: HistoryQuestion): boolean {
  return useHistoryProblem(question, undefined) === undefined;
}

function hasPeriod(choice: PeriodChoice): boolean {
  return typeof resolvePeriod(choice, Date.now()) !== "string";
}

function getPeriod(choice: PeriodChoice, now: number): Period {
  const period = resolvePeriod(choice, now);
  if (typeof period === "string") throw new Error(`the choice is no period: ${period}`);
  return period;
}
