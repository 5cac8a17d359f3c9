// Compares what a receiver of webhooks has accepted with the ledger: every event at least once, in order, genuine.
import type { ToldEvent } from "../faults/ledger-judge.ts";
import type { WebhookReceiver } from "../webhook-receiver.ts";

export function findWebhookFaults(
  receiver: Pick<WebhookReceiver, "accepted" | "forged">,
  events: readonly ToldEvent[],
): string[] {
  // What the first reading showed is not sent.
  const due = events.filter(({ backfill }) => !backfill);
  const faults = receiver.forged.map((reason) => `a webhook was not genuine: ${reason}`);
  const places = new Map(due.map(({ id }, place) => [id, place]));
  let highest = -1;
  for (const { id, body } of receiver.accepted) {
    const place = places.get(id) ?? -1;
    const event = due[place];
    if (event === undefined) {
      faults.push(`${id} was sent and is not in the ledger`);
      continue;
    }
    if (place > highest + 1) faults.push(`${id} was sent before the ${place - highest - 1} events ahead of it`);
    highest = Math.max(highest, place);
    if (JSON.stringify(JSON.parse(body).data) !== JSON.stringify(event))
      faults.push(`${id} was sent with another content`);
  }
  if (highest < due.length - 1) faults.push(`${due.length - 1 - highest} events were never sent`);
  return faults;
}
