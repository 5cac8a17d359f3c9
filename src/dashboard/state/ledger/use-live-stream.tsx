// The page's stream of events for components: one for the shown server, with its key or as an operator.
import { createContext, type ReactNode, useContext, useEffect, useMemo, useSyncExternalStore } from "react";
import { areRingsOn } from "../calls/rings.ts";
import { endsSession, useServerSession, useSession } from "../session/session.ts";
import { LiveStream, type StreamStatus } from "./live-stream.ts";

const LiveStreamContext = createContext<LiveStream | undefined>(undefined);

/**
 * A hidden tab gives its stream up after this time, unless the user wants it to ring: browsers allow only a few connections to one
 * host, for all tabs together.
 */
const HIDDEN_STREAM_MS = 60_000;

export function LiveStreamProvider({ children }: { readonly children: ReactNode }) {
  const { openStream, pace } = useServerSession();
  const { signOut } = useSession();
  const stream = useMemo(
    () =>
      new LiveStream({
        open: openStream,
        waitMs: (now) => Math.max(0, pace.waitUntil - now, pace.ownShareDelayMs(now)),
      }),
    [openStream, pace],
  );

  useEffect(() => {
    stream.start();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const retry = () => stream.retryNow();
    const adaptToTab = () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(giveUpIfUnused, HIDDEN_STREAM_MS);
      else {
        stream.start();
        retry();
      }
    };
    const giveUpIfUnused = () => {
      if (document.hidden && !areRingsOn()) stream.stop();
    };
    const stopListening = stream.listen({ onRefused: (error) => void (error && endsSession(error) && signOut(error)) });
    const stopRecovery = pace.onRecovery(retry);
    addEventListener("online", retry);
    document.addEventListener("visibilitychange", adaptToTab);
    return () => {
      clearTimeout(timer);
      stopListening();
      stopRecovery();
      removeEventListener("online", retry);
      document.removeEventListener("visibilitychange", adaptToTab);
      stream.stop();
    };
  }, [stream, pace, signOut]);

  return <LiveStreamContext value={stream}>{children}</LiveStreamContext>;
}

/** Undefined in the operator's part, which is about no single server. */
export function useLiveStream(): LiveStream | undefined {
  return useContext(LiveStreamContext);
}

export function useStreamStatus(): StreamStatus {
  const stream = useLiveStream();
  return useSyncExternalStore(
    (onChange) => stream?.listen({ onStatus: onChange }) ?? (() => {}),
    () => stream?.status ?? "off",
  );
}
