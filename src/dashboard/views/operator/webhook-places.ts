// The places in the ledger from which a webhook can send again: after each delivery that arrived.
import type { DeliveryResource } from "../../../core/wire/webhook.ts";
import { isSuccess } from "./webhook-state.ts";

export type DeliveryPlace = {
  /** When the delivery was made. */
  readonly at: number;
  /** The cursor of its last event. */
  readonly after: string;
};

/** The newest first, each place once. */
export function listPlaces(deliveries: readonly DeliveryResource[]): readonly DeliveryPlace[] {
  const places = new Map<string, DeliveryPlace>();
  for (const { at, status, event_ids: ids } of deliveries) {
    const after = ids.at(-1);
    if (after !== undefined && isSuccess(status) && !places.has(after)) places.set(after, { at, after });
  }
  return [...places.values()];
}
