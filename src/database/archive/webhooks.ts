// Webhooks and their deliveries. The row of a webhook is locked while an attempt is noted, so that two instances note one after
// the other.
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
import type { Sql } from "../sql.ts";
import { countEventsAfter, lastOf, obtainLedger } from "./ledger.ts";
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
} from "./webhook-rows.ts";

const SELECT = "SELECT server_id, webhooks.* FROM webhooks JOIN ledgers USING (ledger)";

export async function listWebhooks(sql: Sql, serverId: string | undefined): Promise<Webhook[]> {
  const rows = await sql.all<WebhookRow>(
    `${SELECT} ${serverId === undefined ? "" : "WHERE server_id = ?1"} ORDER BY created_at, webhook_id`,
    ...(serverId === undefined ? [] : [serverId]),
  );
  return rows.map(toWebhook);
}

export async function findWebhook(sql: Sql, webhookId: string): Promise<Webhook | undefined> {
  const row = await sql.get<WebhookRow>(`${SELECT} WHERE webhook_id = ?1`, webhookId);
  return row && toWebhook(row);
}

/** The row of the ledger is locked, so that the webhooks of a server are counted one after the other. */
export async function createWebhook(sql: Sql, webhook: Omit<Webhook, "place">): Promise<WebhookCreation> {
  const row = await obtainLedger(sql, webhook.serverId);
  const { ledger } = row;
  const found = await sql.get<{ webhooks: number }>(
    "SELECT count(*) AS webhooks FROM webhooks WHERE ledger = ?1",
    ledger,
  );
  if ((found?.webhooks ?? 0) >= WEBHOOKS_PER_SERVER_MAX) return "full";
  const columns = {
    webhook_id: webhook.webhookId,
    ledger,
    created_at: webhook.createdAt,
    ...toWebhookColumns({ ...webhook, place: lastOf(row) }),
  };
  const names = Object.keys(columns);
  const places = names.map((_, index) => `?${index + 1}`);
  await sql.run(`INSERT INTO webhooks (${names}) VALUES (${places})`, ...Object.values(columns));
  return "created";
}

export async function updateWebhook(sql: Sql, webhookId: string, change: WebhookChange): Promise<boolean> {
  if (!(await lockWebhook(sql, webhookId))) return false;
  await write(sql, webhookId, change);
  return true;
}

export async function deleteWebhook(sql: Sql, webhookId: string): Promise<boolean> {
  const row = await lockWebhook(sql, webhookId);
  if (!row) return false;
  await sql.run("DELETE FROM webhooks WHERE webhook_id = ?1", webhookId);
  await sql.run("DELETE FROM deliveries WHERE ledger = ?1 AND webhook_id = ?2", row.ledger, webhookId);
  return true;
}

export async function noteAttempt(
  sql: Sql,
  webhookId: string,
  expected: ExpectedWebhook,
  progress: AttemptProgress,
  delivery: Delivery | undefined,
): Promise<boolean> {
  const row = await lockWebhook(sql, webhookId);
  if (!row || !isAsExpected(row, expected)) return false;
  await write(sql, webhookId, progress);
  if (delivery) await addDelivery(sql, row.ledger, webhookId, delivery);
  return true;
}

export async function listDeliveries(sql: Sql, webhookId: string): Promise<Delivery[]> {
  const rows = await sql.all<DeliveryRow>(
    `SELECT at, event_ids, status, duration_ms, error, sealed_answer FROM deliveries
     WHERE ledger = (SELECT ledger FROM webhooks WHERE webhook_id = ?1) AND webhook_id = ?1 ORDER BY number DESC`,
    webhookId,
  );
  return rows.map(toDelivery);
}

export function countWaiting(
  sql: Sql,
  serverId: string,
  after: LedgerPlace,
  filter: EventFilter,
): Promise<number> {
  return countEventsAfter(sql, serverId, after, filter, WAITING_MAX);
}

function lockWebhook(
  sql: Sql,
  webhookId: string,
): Promise<(ComparedRow & { readonly ledger: number }) | undefined> {
  return sql.get(
    `SELECT ledger, ${COMPARED_COLUMNS} FROM webhooks WHERE webhook_id = ?1 ${sql.dialect.forUpdate}`,
    webhookId,
  );
}

async function write(sql: Sql, webhookId: string, change: WebhookChange): Promise<void> {
  const columns = toWebhookColumns(change);
  const names = Object.keys(columns);
  if (names.length === 0) return;
  const assignments = names.map((name, index) => `${name} = ?${index + 2}`);
  await sql.run(
    `UPDATE webhooks SET ${assignments} WHERE webhook_id = ?1`,
    webhookId,
    ...Object.values(columns),
  );
}

async function addDelivery(sql: Sql, ledger: number, webhookId: string, delivery: Delivery): Promise<void> {
  const { at, event_ids, status, duration_ms, error, sealed_answer } = toDeliveryRow(delivery);
  const last = await sql.get<{ number: number | null }>(
    "SELECT max(number) AS number FROM deliveries WHERE ledger = ?1 AND webhook_id = ?2",
    ledger,
    webhookId,
  );
  const number = (last?.number ?? 0) + 1;
  await sql.run(
    `INSERT INTO deliveries (ledger, webhook_id, number, at, event_ids, status, duration_ms, error, sealed_answer)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`,
    ...[ledger, webhookId, number, at, event_ids, status, duration_ms, error, sealed_answer],
  );
  await sql.run(
    "DELETE FROM deliveries WHERE ledger = ?1 AND webhook_id = ?2 AND number <= ?3",
    ...[ledger, webhookId, number - DELIVERIES_MAX],
  );
}
