// Polls the commands of the server while one of them can still change, and keeps the last list when a poll fails.
import { useRef } from "react";
import type { CommandResource } from "../../../core/wire/command.ts";
import type { PageOf } from "../../../core/wire/page.ts";
import type { ApiError, Outcome } from "../../api/request.ts";
import { useCallerSession } from "../../state/session.ts";
import { usePacedQuery } from "../../state/use-paced-query.ts";
import { isUnfinished } from "../command-status.tsx";

/** While a command is being sent or is next in line, something changes every few seconds. */
const SENDING_MS = 2_500;
const WAITING_MS = 5_000;
/** No command waits, but the game's log may still confirm one that was sent. */
const CONFIRMING_MS = 8_000;
const CONFIRMING_FOR_MS = 60_000;
const AFTER_FAILURE_MS = 10_000;
/** The maximum of one page: a full queue, and as many finished commands. */
const PAGE_SIZE = 200;

export type CommandListing = {
  /** The last list that could be read; undefined before the first. */
  readonly commands: readonly CommandResource[] | undefined;
  /** Why the last poll failed. */
  readonly error: ApiError | undefined;
  readonly isFetching: boolean;
  readonly refresh: () => void;
};

export function useCommandList(): CommandListing {
  const { api } = useCallerSession();
  const { outcome, refresh, isFetching } = usePacedQuery(
    ["commands"],
    (signal) => api.listCommands({ limit: PAGE_SIZE }, signal),
    judgeInterval,
  );
  const commands = useLastGood(outcome)?.items;
  return { commands, error: outcome?.ok === false ? outcome.error : undefined, isFetching, refresh };
}

/** Keeps the last good page through failures. */
function useLastGood(
  outcome: Outcome<PageOf<CommandResource>> | undefined,
): PageOf<CommandResource> | undefined {
  const last = useRef<PageOf<CommandResource>>(undefined);
  if (outcome?.ok) last.current = outcome.value;
  return last.current;
}

/** When to poll again; false while nothing in the list can change. */
function judgeInterval(outcome: Outcome<PageOf<CommandResource>>): number | false {
  if (!outcome.ok) return AFTER_FAILURE_MS;
  const { items } = outcome.value;
  const now = outcome.receivedAt;
  if (items.some(({ status, position }) => status === "sending" || position === 1)) return SENDING_MS;
  if (items.some(isUnfinished)) return WAITING_MS;
  const isConfirming = items.some(({ status, confirmed_at: confirmedAt, finished_at: finishedAt }) => {
    const isOpen = (status === "sent" || status === "unknown") && confirmedAt === null;
    return isOpen && finishedAt !== null && now - finishedAt < CONFIRMING_FOR_MS;
  });
  return isConfirming ? CONFIRMING_MS : false;
}
