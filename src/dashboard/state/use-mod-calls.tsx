// The calls for a moderator for the whole page: what the poll reads, and what the stream has told since. A hidden tab does not
// poll, so that only the stream updates its title.
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import type { Section } from "../../core/sections.ts";
import type { EventResource } from "../../core/wire/event.ts";
import { addCallEvents, type CallGroups, groupCalls, isCallEvent } from "./mod-calls.ts";
import { useServerSession } from "./session.ts";
import { useLiveStream } from "./use-live-stream.tsx";
import { useSeenMarks } from "./use-seen-calls.ts";
import { useServerState } from "./use-server-state.tsx";

type ReceivedEvent = { readonly event: EventResource; readonly receivedAt: number };

const WANTED: readonly Section[] = ["ModCalls"];
/** A hidden tab keeps at most so many events until it polls again. */
const EVENTS_MAX = 200;

const CallGroupsContext = createContext<CallGroups | undefined>(undefined);
/** Apart from the groups, so that the frame renders again only when the number changes. */
const WaitingCountContext = createContext(0);

export function ModCallsProvider({ children }: { readonly children: ReactNode }) {
  const { serverId } = useServerSession();
  const { state, dataAt = 0 } = useServerState(WANTED);
  const seen = useSeenMarks(serverId);
  const events = useCallEvents();
  const listed = state?.ModCalls;
  const calls = useMemo(() => {
    // A reading from after an event contains it, and may no longer list the call.
    const fresh = events.filter(({ receivedAt }) => receivedAt >= dataAt);
    return (
      listed &&
      addCallEvents(
        listed,
        fresh.map(({ event }) => event),
      )
    );
  }, [listed, events, dataAt]);
  const groups = useMemo(() => calls && groupCalls(calls, seen), [calls, seen]);
  return (
    <CallGroupsContext value={groups}>
      <WaitingCountContext value={groups?.waiting.length ?? 0}>{children}</WaitingCountContext>
    </CallGroupsContext>
  );
}

function useCallEvents(): readonly ReceivedEvent[] {
  const stream = useLiveStream();
  const [events, setEvents] = useState<readonly ReceivedEvent[]>([]);
  useEffect(
    () =>
      stream?.listen({
        onEvent(event) {
          if (!isCallEvent(event)) return;
          const received = { event, receivedAt: Date.now() };
          setEvents((before) => [...before.slice(1 - EVENTS_MAX), received]);
        },
      }),
    [stream],
  );
  return events;
}

/** Undefined until they are read, and for a key that may not read them. */
export function useCallGroups(): CallGroups | undefined {
  return useContext(CallGroupsContext);
}

/** How many calls wait and are not marked as seen. Zero for a key that may not read calls, and for operators. */
export function useWaitingCount(): number {
  return useContext(WaitingCountContext);
}
