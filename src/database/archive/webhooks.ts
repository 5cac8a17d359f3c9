// Webhooks and their deliveries. The row of a webhook is locked while an attempt is noted, so that two instances note one after
// the other.
import type { LedgerPosition } from "../../core/events/cursor.ts";
import type { EventFilter } from "../../core/events/event-types.ts";
import type { AttemptProgress, ExpectedWebhook, WebhookChange, WebhookCreation } from "../../core/ports/webhooks.ts";
import {
  DELIVERIES_MAX,
  type Delivery,
  WAITING_MAX,
  WEBHOOKS_PER_SERVER_MAX,
  type Webhook,
} from "../../core/webhooks/webhook.ts";
import { asFields, countRows, insertRow, type Sql, toStorable, updateRow, type Value } from "../sql.ts";
import { countEventsAfter, obtainLedger } from "./ledger.ts";
import { lastOf } from "./ledger-rows.ts";

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
  if ((await countRows(sql, "webhooks", "ledger = ?1", ledger)) >= WEBHOOKS_PER_SERVER_MAX) return "full";
  await insertRow(sql, "webhooks", {
    webhook_id: webhook.webhookId,
    ledger,
    created_at: webhook.createdAt,
    ...toWebhookColumns({ ...webhook, place: lastOf(row) }),
  });
  return "created";
}

export async function updateWebhook(sql: Sql, webhookId: string, change: WebhookChange): Promise<boolean> {
  if (!(await lockWebhook(sql, webhookId))) return false;
  await updateRow(sql, "webhooks", "webhook_id", webhookId, toWebhookColumns(change));
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
  await updateRow(sql, "webhooks", "webhook_id", webhookId, toWebhookColumns(progress));
  if (delivery) await addDelivery(sql, row.ledger, webhookId, delivery);
  return true;
}

export async function listDeliveries(sql: Sql, webhookId: string): Promise<Delivery[]> {
  const rows = await sql.all<StoredDelivery>(
    `SELECT ${DELIVERY_FIELDS} FROM deliveries
     WHERE ledger = (SELECT ledger FROM webhooks WHERE webhook_id = ?1) AND webhook_id = ?1 ORDER BY number DESC`,
    webhookId,
  );
  return rows.map(toDelivery);
}

export function countWaiting(sql: Sql, serverId: string, after: LedgerPosition, filter: EventFilter): Promise<number> {
  return countEventsAfter(sql, serverId, after, filter, WAITING_MAX);
}

function lockWebhook(sql: Sql, webhookId: string): Promise<(ComparedRow & { readonly ledger: number }) | undefined> {
  return sql.get(
    `SELECT ledger, ${COMPARED_COLUMNS} FROM webhooks WHERE webhook_id = ?1 ${sql.dialect.forUpdate}`,
    webhookId,
  );
}

async function addDelivery(sql: Sql, ledger: number, webhookId: string, delivery: Delivery): Promise<void> {
  const last = await sql.get<{ number: number | null }>(
    "SELECT max(number) AS number FROM deliveries WHERE ledger = ?1 AND webhook_id = ?2",
    ...[ledger, webhookId],
  );
  const number = (last?.number ?? 0) + 1;
  await insertRow(sql, "deliveries", { ledger, webhook_id: webhookId, number, ...toDeliveryRow(delivery) });
  await sql.run(
    "DELETE FROM deliveries WHERE ledger = ?1 AND webhook_id = ?2 AND number <= ?3",
    ...[ledger, webhookId, number - DELIVERIES_MAX],
  );
}

/** `json`: a list or an object as JSON text. */
type FieldKind = "text" | "integer" | "boolean" | "json";

/** The column of every field that may change, but for the place, which has two. */
const COLUMNS: Readonly<Record<Exclude<keyof WebhookChange, "place">, readonly [column: string, kind: FieldKind]>> = {
  label: ["label", "text"],
  format: ["format", "text"],
  types: ["types", "json"],
  language: ["language", "text"],
  showJoinKey: ["show_join_key", "boolean"],
  isEnabled: ["is_enabled", "boolean"],
  sealedUrl: ["sealed_url", "text"],
  shownUrl: ["shown_url", "text"],
  lastSuccessAt: ["last_success_at", "integer"],
  lastFailureAt: ["last_failure_at", "integer"],
  firstFailureAt: ["first_failure_at", "integer"],
  failures: ["failures", "integer"],
  refusals: ["refusals", "integer"],
  nextAttemptAt: ["next_attempt_at", "integer"],
  disabledReason: ["disabled_reason", "text"],
  message: ["message", "json"],
  sealedSecret: ["sealed_secret", "text"],
  sealedOldSecret: ["sealed_old_secret", "text"],
  oldSecretUntil: ["old_secret_until", "integer"],
};

export type WebhookRow = Readonly<Record<string, Value>>;

/** What is compared before an attempt is noted. */
export const COMPARED_COLUMNS = "place_number, place_mark, sealed_url, is_enabled";
export type ComparedRow = {
  readonly place_number: number;
  readonly place_mark: number;
  readonly sealed_url: string;
  readonly is_enabled: number;
};

export type StoredDelivery = Omit<Delivery, "eventIds"> & { readonly eventIds: string };
export const DELIVERY_FIELDS = asFields("at, event_ids, status, duration_ms, error, sealed_answer");

/** The columns of the fields that are given. */
export function toWebhookColumns({ place, ...fields }: WebhookChange): Record<string, Value> {
  const columns: Record<string, Value> = place ? { place_number: place.number, place_mark: place.mark } : {};
  for (const [field, [column, kind]] of Object.entries(COLUMNS)) {
    const value = fields[field as keyof typeof fields];
    if (value !== undefined) columns[column] = toColumn(value, kind);
  }
  return columns;
}

export function toWebhook(row: WebhookRow): Webhook {
  const fields = Object.entries(COLUMNS).map(([field, [column, kind]]) => {
    return [field, parseColumn(row[column] ?? null, kind)];
  });
  return {
    webhookId: row.webhook_id,
    serverId: row.server_id,
    createdAt: Number(row.created_at),
    place: { number: Number(row.place_number), mark: Number(row.place_mark) },
    ...Object.fromEntries(fields),
  };
}

export function isAsExpected(
  { place_number, place_mark, sealed_url, is_enabled }: ComparedRow,
  { place, sealedUrl = sealed_url, isEnabled = Boolean(is_enabled) }: ExpectedWebhook,
): boolean {
  return (
    place_number === place.number &&
    place_mark === place.mark &&
    sealed_url === sealedUrl &&
    Boolean(is_enabled) === isEnabled
  );
}

export function toDeliveryRow({ at, eventIds, status, durationMs, error, sealedAnswer }: Delivery) {
  return {
    at,
    event_ids: JSON.stringify(eventIds),
    status,
    duration_ms: Math.round(durationMs),
    error: error === null ? null : toStorable(error),
    sealed_answer: sealedAnswer,
  };
}

export function toDelivery(stored: StoredDelivery): Delivery {
  return { ...stored, eventIds: JSON.parse(stored.eventIds) };
}

function toColumn(value: unknown, kind: FieldKind): Value {
  if (value === null) return null;
  if (kind === "json") return JSON.stringify(value);
  return kind === "text" ? toStorable(String(value)) : Number(value);
}

function parseColumn(value: Value, kind: FieldKind): unknown {
  if (value === null) return null;
  switch (kind) {
    case "text":
    case "integer":
      return value;
    case "boolean":
      return Boolean(value);
    case "json":
      return JSON.parse(String(value));
  }
}
