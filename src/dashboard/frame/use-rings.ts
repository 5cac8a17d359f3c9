// Rings for new calls and alerts, as far as the user has switched that on.
import { useContext, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import type { EventResource } from "../../core/wire/event.ts";
import { cutText, markInvisible } from "../parts/text/game-text.tsx";
import { parsePlayerRef } from "../player-ref.ts";
import { getRingSettings, Rings, rings } from "../state/calls/rings.ts";
import { playSoundOnce, showNotification } from "../state/calls/sound.ts";
import { useLiveStream } from "../state/ledger/use-live-stream.tsx";
import { hrefOf, RouteBaseContext } from "../state/route.ts";
import { SERVER_SUBJECT } from "../views/alerts/alert-list.ts";

/** Several calls at once make one sound. */
const QUIET_MS = 3_000;
const TEXT_MAX = 120;

/** `serverName` is undefined until the first answer. */
export function useRings(serverName: string | undefined): void {
  const { t } = useTranslation("alerts");
  const stream = useLiveStream();
  const base = useContext(RouteBaseContext);
  const [heard] = useState(() => new Rings());
  useEffect(() => {
    if (!stream) return;
    return stream.listen({
      onEvent(event) {
        const kind = heard.take(event, stream.serverNow);
        if (!kind) return;
        const settings = getRingSettings();
        if (rings(settings, "sound", kind)) playSoundOnce(QUIET_MS);
        if (!rings(settings, "notification", kind)) return;
        showNotification({
          title: t(`kind.${kind}`),
          body: [serverName ?? "", ...describe(event)].filter(Boolean).map(writeText).join("\n"),
          tag: `gatehouse ${kind} ${serverName ?? ""}`,
          route: hrefOf(base + (kind === "modcall" || kind === "call" ? "calls" : "live")),
        });
      },
    });
  }, [stream, heard, base, serverName, t]);
}

function describe({ type, data }: EventResource): readonly string[] {
  const { Caller, Description, PositionDescriptor, subject } = data;
  const player = type === "alert.raised" ? subject : Caller;
  if (type !== "call.opened")
    return typeof player === "string" && player !== SERVER_SUBJECT ? [parsePlayerRef(player).name] : [];
  return [Description, PositionDescriptor].filter((text) => typeof text === "string");
}

/** Names and texts are written by players. */
function writeText(text: string): string {
  return markInvisible(cutText(text, TEXT_MAX).text);
}
