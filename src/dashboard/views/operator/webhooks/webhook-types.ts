// How a webhook is doing, from where it can send again, and the types of events that it gets, as the form offers them: in
// groups, and written with wildcards where a whole kind is chosen.
import { EVENT_TYPES, type EventType } from "../../../../core/events/event-types.ts";
import type { DeliveryResource, WebhookResource } from "../../../../core/wire/webhook.ts";
import type { operatorWebhooks as texts } from "../../../locales/en/operator-webhooks.ts";

/** The types that can be chosen. A gap comes by itself with every type that it concerns. */
type ChoosableType = Exclude<EventType, "gap">;

export const TYPE_GROUPS = [
  ["modCalls", ["modcall.opened", "modcall.claimed", "modcall.released", "modcall.answered"]],
  ["emergencies", ["call.opened", "call.changed", "call.closed"]],
  ["kills", ["player.killed"]],
  ["presence", ["player.joined", "player.left"]],
  ["commands", ["command.used", "custom.command", "custom.unknown"]],
  ["alerts", ["alert.raised", "alert.cleared"]],
  ["server", ["server.online", "server.offline", "server.unreachable", "server.changed"]],
  ["staff", ["staff.added", "staff.removed"]],
  ["players", ["player.changed"]],
  ["vehicles", ["vehicle.spawned", "vehicle.removed"]],
  ["queue", ["queue.changed"]],
] as const satisfies readonly (readonly [string, readonly ChoosableType[]])[];

export type TypeGroup = (typeof TYPE_GROUPS)[number][0];

/** What most channels want at first. */
export const USUAL_TYPES: readonly ChoosableType[] = [
  "modcall.opened",
  "modcall.claimed",
  "modcall.released",
  "modcall.answered",
  "call.opened",
  "player.killed",
  "alert.raised",
  "alert.cleared",
];

/** The chosen types; every one for null. */
export function readTypes(types: readonly string[] | null): readonly EventType[] {
  if (types === null) return EVENT_TYPES;
  return EVENT_TYPES.filter((type) => types.includes(type) || types.includes(`${kindOf(type)}.*`));
}

/** In the order of the ledger's types, with `player.*` where every type of a kind is chosen. */
export function writeTypes(chosen: readonly EventType[]): readonly string[] {
  const kinds = Map.groupBy(EVENT_TYPES, kindOf);
  return [...kinds].flatMap(([kind, types]) => {
    const wanted = types.filter((type) => chosen.includes(type));
    return wanted.length > 1 && wanted.length === types.length ? [`${kind}.*`] : wanted;
  });
}

function kindOf(type: EventType): string {
  return type.split(".", 1)[0] ?? type;
}

/** Whether all, some or none of the types are chosen. */
export function judgeGroup(types: readonly EventType[], chosen: readonly EventType[]): "all" | "some" | "none" {
  const count = types.filter((type) => chosen.includes(type)).length;
  return count === 0 ? "none" : count === types.length ? "all" : "some";
}

/** Adds the types to the chosen ones, or takes them away. */
export function toggleTypes(
  types: readonly EventType[],
  chosen: readonly EventType[],
  isWanted: boolean,
): readonly EventType[] {
  const others = chosen.filter((type) => !types.includes(type));
  return isWanted ? [...others, ...types] : others;
}

/** `off`: disabled by the operator; `disabled`: by Gatehouse, because of the receiver. */
type WebhookState = keyof typeof texts.state;

export const STATE_COLOURS: Readonly<Record<WebhookState, string>> = {
  new: "blue",
  delivering: "teal",
  waiting: "blue",
  failing: "orange",
  off: "gray",
  disabled: "red",
};

type Standing = Pick<
  WebhookResource,
  "enabled" | "disabled_reason" | "last_success_at" | "last_failure_at" | "waiting" | "format"
>;

export function judgeWebhook(webhook: Standing): WebhookState {
  const { last_success_at: successAt, last_failure_at: failureAt, waiting } = webhook;
  if (!webhook.enabled) return webhook.disabled_reason === null ? "off" : "disabled";
  const hasFailed = failureAt !== null && failureAt > (successAt ?? 0);
  // A refused event that was set aside waits no more, and there is nothing to try again.
  if (hasFailed && (waiting > 0 || webhook.format === "discord-status")) return "failing";
  if (waiting > 0) return "waiting";
  return successAt === null ? "new" : "delivering";
}

export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status <= 299;
}

/** A position in the ledger from which a webhook can send again: after a delivery that arrived. */
type DeliveryPlace = {
  /** When the delivery was made. */
  readonly at: number;
  /** The cursor of its last event. */
  readonly after: string;
};

/** The newest first, each position once. */
export function listPlaces(deliveries: readonly DeliveryResource[]): readonly DeliveryPlace[] {
  const places = new Map<string, DeliveryPlace>();
  for (const { at, status, event_ids: ids } of deliveries) {
    const after = ids.at(-1);
    if (after !== undefined && isSuccess(status) && !places.has(after)) places.set(after, { at, after });
  }
  return [...places.values()];
}
