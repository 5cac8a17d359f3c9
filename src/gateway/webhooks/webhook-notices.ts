// What /readyz says about webhooks.
import type { Webhook } from "../../core/webhooks/webhook.ts";
import type { NameServers } from "../servers/name-servers.ts";

const LABELS_MAX = 5;

/** About webhooks that were disabled because of their receivers. */
export function listDisabledNotices(
  webhooks: readonly Webhook[],
  nameServers: NameServers | undefined,
): string[] {
  const disabled = webhooks.filter(({ isEnabled, disabledReason }) => !isEnabled && disabledReason !== null);
  if (disabled.length === 0) return [];
  const isOne = disabled.length === 1;
  const which = nameServers ? describeWebhooks(disabled, nameServers) : "";
  const what = isOne ? "1 webhook was" : `${disabled.length} webhooks were`;
  return [
    `${what} disabled because of ${isOne ? "its receiver" : "their receivers"}${which}; enable ${isOne ? "it" : "them"} again when that is solved.`,
  ];
}

/** `pauseMs`: for how long Discord wants nothing from this instance. */
export function listPauseNotices(pauseMs: number): string[] {
  if (pauseMs <= 0) return [];
  return [
    `Discord has limited this instance; its webhooks there send again in ${Math.ceil(pauseMs / 1000)} s.`,
  ];
}

function describeWebhooks(webhooks: readonly Webhook[], nameServers: NameServers): string {
  const named = webhooks
    .slice(0, LABELS_MAX)
    .map(({ label, serverId }) => `"${label}" of ${nameServers([serverId])}`);
  const others = webhooks.length - named.length;
  return ` (${named.join(", ")}${others === 0 ? "" : ` and ${others} more`})`;
}
