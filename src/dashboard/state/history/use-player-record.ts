// The record of a player: read when it is shown, and again when something happens to the player.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { ERRORS } from "../../../core/errors.ts";
import type { PlayerRecord } from "../../../core/wire/players.ts";
import type { ApiError } from "../../api/request.ts";
import { useLedgerIsOff } from "../ledger/use-ledger.ts";
import { type CallerSession, useServerSession } from "../session/session.ts";
import { unwrap, useThrownError } from "../session/use-api-error.ts";

export type RecordView = {
  /** Undefined until there is an answer. */
  readonly record: PlayerRecord | undefined;
  /** Whether Gatehouse has never seen the player. */
  readonly isUnknown: boolean;
  /** Why the record could not be read. */
  readonly error: ApiError | undefined;
  readonly refresh: () => void;
};

/** Undefined for those who may not read records. It is read again each time that `version` changes. */
export function usePlayerRecord(id: string, version: string): RecordView | undefined {
  const session = useServerSession();
  const isOff = useLedgerIsOff();
  // Operators who look in have no key, and records are for keys and people.
  const api = session.kind === "caller" ? session.api : undefined;
  const mayRead = session.sections.includes("Players") && !isOff;
  const { data, error, refetch } = useQuery({
    queryKey: ["player-record", id],
    queryFn: ({ signal }) => unwrap((api as CallerSession["api"]).showPlayer(id, signal)),
    enabled: api !== undefined && mayRead,
    networkMode: "always",
    refetchOnWindowFocus: false,
    retry: false,
  });
  const problem = useThrownError(error);
  const known = useRef(version);
  const isRead = data !== undefined || problem !== undefined;
  useEffect(() => {
    // What happened before the first answer is in it.
    if (isRead && known.current !== version && session.pace.mayPoll(Date.now())) void refetch();
    known.current = version;
  }, [version, isRead, refetch, session.pace]);
  if (!api || !mayRead || problem?.code === ERRORS.notConfigured.code) return undefined;
  const isUnknown = problem?.code === ERRORS.notFound.code;
  return {
    record: isUnknown ? undefined : data,
    isUnknown,
    error: isUnknown ? undefined : problem,
    refresh: () => void refetch(),
  };
}
