// Chooses the frame: of an API key, of an operator, or of an operator who looks into one server.
import { type RefObject, useRef } from "react";
import { FrameBody } from "./frame-body.tsx";
import { useCallAlerts } from "./parts/use-call-alerts.ts";
import { ServerFrame } from "./server-frame.tsx";
import { findServerId, useRoute } from "./state/route.ts";
import { useSession } from "./state/session.ts";
import { useKeyRing } from "./state/use-key-ring.ts";
import { LiveStreamProvider } from "./state/use-live-stream.tsx";
import { ServerStateProvider, useServerState } from "./state/use-server-state.tsx";

export function Frame() {
  const { session } = useSession();
  const serverId = findServerId(useRoute());
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
  if (serverId === undefined) return <FrameBody name={undefined} isFirst={isFirst} />;
  return <ServerFrame key={serverId} serverId={serverId} isFirst={isFirst} />;
}

function CallerFrame({ isFirst }: { readonly isFirst: RefObject<boolean> }) {
  const name = useServerState().state?.Name;
  useCallAlerts(name);
  return <FrameBody name={name} isFirst={isFirst} />;
}
