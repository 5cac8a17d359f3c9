// Tells the user of new calls with a sound and a notification, as far as they have switched that on.
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import type { EventResource } from "../../core/wire/event.ts";
import { parsePlayerRef } from "../player-ref.ts";
import { getAlertSettings } from "../state/alert-settings.ts";
import { type AlertType, findAlertType } from "../state/call-alerts.ts";
import { hrefOf } from "../state/route.ts";
import { useCallerSession } from "../state/session.ts";
import { useLiveStream } from "../state/use-live-stream.tsx";
import { getSeenMarks } from "../state/use-seen-calls.ts";
import { playAlertSoundOnce } from "./alert-sound.ts";
import { showNotification } from "./browser-notification.ts";
import { cutText, markInvisible } from "./game-text.tsx";

/** Several calls at once make one sound. */
const QUIET_MS = 3_000;
const TEXT_MAX = 120;

const TEXTS = {
  "modcall.opened": "type.modcall_opened",
  "call.opened": "type.call_opened",
} as const satisfies Record<AlertType, string>;

/** `serverName` is undefined until the first answer. */
export function useCallAlerts(serverName: string | undefined): void {
  const { t } = useTranslation("alerts");
  const stream = useLiveStream();
  const { serverId } = useCallerSession();
  useEffect(() => {
    if (!stream) return;
    return stream.listen({
      onEvent(event) {
        const type = findAlertType(event, stream.serverNow, getSeenMarks(serverId));
        if (!type) return;
        const settings = getAlertSettings();
        if (settings.sound) playAlertSoundOnce(QUIET_MS);
        if (!settings.notification) return;
        showNotification({
          title: t(TEXTS[type]),
          body: [serverName ?? "", ...describeCall(event)].filter(Boolean).map(writeText).join("\n"),
          tag: `gatehouse ${type} ${serverName ?? ""}`,
          route: hrefOf("calls"),
        });
      },
    });
  }, [stream, serverId, serverName, t]);
}

function describeCall({ type, data }: EventResource): readonly string[] {
  const { Caller, Description, PositionDescriptor } = data;
  if (type === "modcall.opened") return typeof Caller === "string" ? [parsePlayerRef(Caller).name] : [];
  return [Description, PositionDescriptor].filter((text) => typeof text === "string");
}

/** Names and texts are written by players. */
function writeText(text: string): string {
  return markInvisible(cutText(text, TEXT_MAX).text);
}
