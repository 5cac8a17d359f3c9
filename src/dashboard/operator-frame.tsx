// The frame of an operator, or of an operator who looks into one server. It is loaded with the texts of the operator's views.
import "./operator-texts.ts";
import { useRef } from "react";
import { FrameBody } from "./frame-body.tsx";
import { ServerFrame } from "./server-frame.tsx";
import { findServerId, useRoute } from "./state/route.ts";

export function OperatorFrame() {
  const serverId = findServerId(useRoute());
  const isFirst = useRef(true);
  if (serverId === undefined) return <FrameBody name={undefined} isFirst={isFirst} />;
  return <ServerFrame key={serverId} serverId={serverId} isFirst={isFirst} />;
}
