// Chooses the frame: of an API key, or of an operator, which is loaded when it is first shown.
import { type RefObject, useRef } from "react";
import { FrameBody } from "./frame-body.tsx";
import { LazyView } from "./parts/lazy-view.tsx";
import { useCallAlerts } from "./parts/use-call-alerts.ts";
import { useSession } from "./state/session.ts";
import { useKeyRing } from "./state/use-key-ring.ts";
import { LiveStreamProvider } from "./state/use-live-stream.tsx";
import { ServerStateProvider, useServerState } from "./state/use-server-state.tsx";

export function Frame() {
  const { session } = useSession();
  const { ring } = useKeyRing();
  const isFirst = useRef(true);
  if (session.kind !== "operator") {
    return (
      // Nothing of one server may be left when another one is shown.
      <LiveStreamProvider key={ring.shownId}>
        <ServerStateProvider>
          <CallerFrame isFirst={isFirst} />
        </ServerStateProvider>
      </LiveStreamProvider>
    );
  }
  return <LazyView load={loadOperatorFrame} />;
}

const loadOperatorFrame = async () => (await import("./operator-frame.tsx")).OperatorFrame;

function CallerFrame({ isFirst }: { readonly isFirst: RefObject<boolean> }) {
  const name = useServerState().state?.Name;
  useCallAlerts(name);
  return <FrameBody name={name} isFirst={isFirst} />;
}
