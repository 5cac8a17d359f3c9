// The server's commands as Gatehouse lists them: read again as often as something of them can change, and kept while a
// reading fails.
import { useRef } from "react";
import type { CommandResource } from "../../../core/wire/command.ts";
import type { PageOf } from "../../../core/wire/page.ts";
import type { ApiError, Outcome } from "../../api/request.ts";
import { useCallerSession } from "../../state/session.ts";
import { usePacedQuery } from "../../state/use-paced-query.ts";
import { isUnfinished } from "../command-state.tsx";

/** While the head of the queue is among them, things change every few seconds. */
const BUSY_MS = 2_500;
const WAITING_MS = 5_000;
/** Nothing waits, but the game's log may still show what was sent. */
const CONFIRMING_MS = 8_000;
const CONFIRMING_FOR_MS = 60_000;
const AFTER_FAILURE_MS = 10_000;
/** As many as one answer has: a full queue, and as many that have left it. */
const LISTED = 200;

export type CommandListing = {
  /** The last that could be read; undefined before the first. */
  readonly commands: readonly CommandResource[] | undefined;
  /** Why the last reading failed. */
  readonly error: ApiError | undefined;
  readonly isAsking: boolean;
  readonly refresh: () => void;
};

export function useCommandList(): CommandListing {
  const { api } = useCallerSession();
  const { outcome, refresh, isAsking } = usePacedQuery(
    ["commands"],
    (signal) => api.listCommands({ limit: LISTED }, signal),
    judgeInterval,
  );
  const commands = useLastGood(outcome)?.items;
  return { commands, error: outcome?.ok === false ? outcome.error : undefined, isAsking, refresh };
}

/** A list that cannot be read for a moment does not take the last one away. */
function useLastGood(
  outcome: Outcome<PageOf<CommandResource>> | undefined,
): PageOf<CommandResource> | undefined {
  const last = useRef<PageOf<CommandResource>>(undefined);
  if (outcome?.ok) last.current = outcome.value;
  return last.current;
}

/** How soon the list is worth reading again; never, while nothing of it can change. */
function judgeInterval(outcome: Outcome<PageOf<CommandResource>>): number | false {
  if (!outcome.ok) return AFTER_FAILURE_MS;
  const { items } = outcome.value;
  const now = outcome.receivedAt;
  if (items.some(({ status, position }) => status === "sending" || position === 1)) return BUSY_MS;
  if (items.some(isUnfinished)) return WAITING_MS;
  const isConfirming = items.some(({ status, confirmed_at: confirmedAt, finished_at: finishedAt }) => {
    const isOpen = (status === "sent" || status === "unknown") && confirmedAt === null;
    return isOpen && finishedAt !== null && now - finishedAt < CONFIRMING_FOR_MS;
  });
  return isConfirming ? CONFIRMING_MS : false;
}
