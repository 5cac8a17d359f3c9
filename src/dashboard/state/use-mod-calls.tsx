// The calls for a moderator for the whole page: all that the poll and the stream have told since the page was opened. A hidden
// tab does not poll, so that only the stream updates its title.
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { MINUTE_MS } from "../../core/durations.ts";
import type { Section } from "../../core/sections.ts";
import type { ModCall } from "../../core/wire/server-info.ts";
import {
  type CallGroups,
  groupCalls,
  isCallEvent,
  type RememberedCalls,
  rememberCalls,
  toCall,
} from "./mod-calls.ts";
import { useServerSession } from "./session.ts";
import { useLiveStream } from "./use-live-stream.tsx";
import { useNow } from "./use-now.ts";
import { useSeenMarks } from "./use-seen-calls.ts";
import { useServerState } from "./use-server-state.tsx";

const WANTED: readonly Section[] = ["ModCalls"];
const NO_CALLS: RememberedCalls = new Map();

const CallGroupsContext = createContext<CallGroups | undefined>(undefined);
/** Apart from the groups, so that the frame renders again only when the number changes. */
const WaitingCountContext = createContext(0);

export function ModCallsProvider({ children }: { readonly children: ReactNode }) {
  const { serverId } = useServerSession();
  const { state } = useServerState(WANTED);
  const seen = useSeenMarks(serverId);
  const now = useNow(MINUTE_MS);
  const listed = state?.ModCalls;
  const calls = useRememberedCalls(serverId, listed);
  const isRead = listed !== undefined;
  const groups = useMemo(
    () => (isRead ? groupCalls(calls, seen, now) : undefined),
    [isRead, calls, seen, now],
  );
  return (
    <CallGroupsContext value={groups}>
      <WaitingCountContext value={groups?.waiting.length ?? 0}>{children}</WaitingCountContext>
    </CallGroupsContext>
  );
}

function useRememberedCalls(serverId: string, listed: readonly ModCall[] | undefined): RememberedCalls {
  const stream = useLiveStream();
  const [memory, setMemory] = useState({ serverId, calls: NO_CALLS });
  const before = memory.serverId === serverId ? memory.calls : NO_CALLS;
  const calls = listed ? rememberCalls(before, listed, Date.now()) : before;
  // React renders again at once; then nothing is new.
  if (calls !== memory.calls || serverId !== memory.serverId) setMemory({ serverId, calls });
  useEffect(
    () =>
      stream?.listen({
        onEvent(event) {
          if (!isCallEvent(event)) return;
          setMemory((last) => ({
            ...last,
            calls: rememberCalls(last.calls, [toCall(event.data)], Date.now()),
          }));
        },
      }),
    [stream],
  );
  return calls;
}

/** Undefined until they are read, and for a key that may not read them. */
export function useCallGroups(): CallGroups | undefined {
  return useContext(CallGroupsContext);
}

/** How many calls wait and are not marked as seen. Zero for a key that may not read calls, and for operators. */
export function useWaitingCount(): number {
  return useContext(WaitingCountContext);
}
