// Webhooks and their deliveries in PostgreSQL, inside of a transaction. The row of a webhook is locked while an attempt is
// noted, so that two instances note one after the other.
import type { TransactionSQL } from "bun";
import type { LedgerPlace } from "../../core/events/cursor.ts";
import type { EventFilter } from "../../core/events/event-types.ts";
import type {
  AttemptProgress,
  ExpectedWebhook,
  WebhookChange,
  WebhookCreation,
} from "../../core/ports/webhooks.ts";
import {
  DELIVERIES_MAX,
  type Delivery,
  WAITING_MAX,
  WEBHOOKS_PER_SERVER_MAX,
  type Webhook,
} from "../../core/webhooks/webhook.ts";
import {
  COMPARED_COLUMNS,
  type ComparedRow,
  type DeliveryRow,
  isAsExpected,
  toDelivery,
  toDeliveryRow,
  toWebhook,
  toWebhookColumns,
  type WebhookRow,
} from "../webhook-rows.ts";

type LockedWebhook = ComparedRow & { readonly ledger: string };

export async function listWebhooks(tx: TransactionSQL, serverId: string | undefined): Promise<Webhook[]> {
  const rows = await tx<WebhookRow[]>`
    SELECT l.server_id, w.* FROM gatehouse_webhooks w JOIN gatehouse_ledgers l USING (ledger)
    ${serverId === undefined ? tx`` : tx`WHERE l.server_id = ${serverId}`} ORDER BY w.created_at, w.webhook_id`;
  return rows.map(toWebhook);
}

export async function findWebhook(tx: TransactionSQL, webhookId: string): Promise<Webhook | undefined> {
  const [row] = await tx<WebhookRow[]>`
    SELECT l.server_id, w.* FROM gatehouse_webhooks w JOIN gatehouse_ledgers l USING (ledger)
    WHERE w.webhook_id = ${webhookId}`;
  return row && toWebhook(row);
}

/** The row of the ledger is locked, so that the webhooks of a server are counted one after the other. */
export async function createWebhook(
  tx: TransactionSQL,
  ledger: string,
  place: LedgerPlace,
  webhook: Omit<Webhook, "place">,
): Promise<WebhookCreation> {
  const [found] = await tx<{ webhooks: string }[]>`
    SELECT count(*) AS webhooks FROM gatehouse_webhooks WHERE ledger = ${ledger}`;
  if (Number(found?.webhooks) >= WEBHOOKS_PER_SERVER_MAX) return "full";
  const columns = {
    webhook_id: webhook.webhookId,
    ledger,
    created_at: webhook.createdAt,
    ...toWebhookColumns({ ...webhook, place }),
  };
  const names = Object.keys(columns);
  await tx.unsafe(
    `INSERT INTO gatehouse_webhooks (${names}) VALUES (${names.map((_, index) => `$${index + 1}`).join(", ")})`,
    Object.values(columns),
  );
  return "created";
}

export async function updateWebhook(
  tx: TransactionSQL,
  webhookId: string,
  change: WebhookChange,
): Promise<boolean> {
  if (!(await lockWebhook(tx, webhookId))) return false;
  await write(tx, webhookId, change);
  return true;
}

export async function deleteWebhook(tx: TransactionSQL, webhookId: string): Promise<boolean> {
  const [row] = await tx<{ ledger: string }[]>`
    DELETE FROM gatehouse_webhooks WHERE webhook_id = ${webhookId} RETURNING ledger`;
  if (!row) return false;
  await tx`DELETE FROM gatehouse_deliveries WHERE ledger = ${row.ledger} AND webhook_id = ${webhookId}`;
  return true;
}

export async function noteAttempt(
  tx: TransactionSQL,
  webhookId: string,
  expected: ExpectedWebhook,
  progress: AttemptProgress,
  delivery: Delivery | undefined,
): Promise<boolean> {
  const row = await lockWebhook(tx, webhookId);
  if (!row || !isAsExpected(row, expected)) return false;
  await write(tx, webhookId, progress);
  if (delivery) await addDelivery(tx, row.ledger, webhookId, delivery);
  return true;
}

export async function listDeliveries(tx: TransactionSQL, webhookId: string): Promise<Delivery[]> {
  const rows = await tx<DeliveryRow[]>`
    SELECT d.at, d.event_ids, d.status, d.duration_ms, d.error, d.sealed_answer
    FROM gatehouse_webhooks w JOIN gatehouse_deliveries d USING (ledger, webhook_id)
    WHERE w.webhook_id = ${webhookId} ORDER BY d.number DESC`;
  return rows.map(toDelivery);
}

export async function countWaiting(
  tx: TransactionSQL,
  ledger: string,
  after: number,
  filter: EventFilter,
): Promise<number> {
  // One range of the index for each kind; a plan without statistics could read every event instead.
  const [row] = await tx<{ waiting: string }[]>`
    SELECT count(*) AS waiting FROM
      (SELECT 1 FROM unnest(${`{${[...filter].join(",")}}`}::text::integer[]) AS kinds (kind)
         CROSS JOIN LATERAL (SELECT 1 FROM gatehouse_events e
           WHERE e.ledger = ${ledger} AND e.kind = kinds.kind AND e.number > ${after} AND NOT e.is_backfill
           LIMIT ${WAITING_MAX}) AS found
       LIMIT ${WAITING_MAX}) AS bounded`;
  return Number(row?.waiting ?? 0);
}

async function lockWebhook(tx: TransactionSQL, webhookId: string): Promise<LockedWebhook | undefined> {
  const [row] = await tx<LockedWebhook[]>`
    SELECT ledger, ${tx.unsafe(COMPARED_COLUMNS)} FROM gatehouse_webhooks WHERE webhook_id = ${webhookId} FOR UPDATE`;
  return row;
}

async function write(tx: TransactionSQL, webhookId: string, change: WebhookChange): Promise<void> {
  const columns = toWebhookColumns(change);
  const names = Object.keys(columns);
  if (names.length === 0) return;
  const assignments = names.map((name, index) => `${name} = $${index + 2}`);
  await tx.unsafe(`UPDATE gatehouse_webhooks SET ${assignments.join(", ")} WHERE webhook_id = $1`, [
    webhookId,
    ...Object.values(columns),
  ]);
}

async function addDelivery(
  tx: TransactionSQL,
  ledger: string,
  webhookId: string,
  delivery: Delivery,
): Promise<void> {
  const { at, event_ids, status, duration_ms, error, sealed_answer } = toDeliveryRow(delivery);
  const [row] = await tx<{ number: string }[]>`
    INSERT INTO gatehouse_deliveries (ledger, webhook_id, number, at, event_ids, status, duration_ms, error, sealed_answer)
    SELECT ${ledger}, ${webhookId}, coalesce(max(number), 0) + 1, ${at}::bigint, ${event_ids}, ${status}::bigint,
      ${duration_ms}::bigint, ${error}, ${sealed_answer}
    FROM gatehouse_deliveries WHERE ledger = ${ledger} AND webhook_id = ${webhookId} RETURNING number`;
  await tx`DELETE FROM gatehouse_deliveries
    WHERE ledger = ${ledger} AND webhook_id = ${webhookId} AND number <= ${Number(row?.number) - DELIVERIES_MAX}`;
}
