// Webhooks and their deliveries in SQLite. Synchronous, like the ledgers.
import type { Database } from "bun:sqlite";
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

type SqliteValue = string | number | null;
type FoundWebhook = ComparedRow & { readonly ledger: number };

export class SqliteWebhooks {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  list(serverId: string | undefined): Webhook[] {
    const ofServer = serverId === undefined ? "" : "WHERE server_id = ?";
    return this.#db
      .query<WebhookRow, string[]>(
        `SELECT server_id, webhooks.* FROM webhooks JOIN ledgers USING (ledger) ${ofServer}
         ORDER BY created_at, webhook_id`,
      )
      .all(...(serverId === undefined ? [] : [serverId]))
      .map(toWebhook);
  }

  find(webhookId: string): Webhook | undefined {
    const row = this.#db
      .query<WebhookRow, [string]>(
        "SELECT server_id, webhooks.* FROM webhooks JOIN ledgers USING (ledger) WHERE webhook_id = ?",
      )
      .get(webhookId);
    return row ? toWebhook(row) : undefined;
  }

  create(ledger: number, place: LedgerPlace, webhook: Omit<Webhook, "place">): WebhookCreation {
    const found = this.#db
      .query<{ webhooks: number }, [number]>("SELECT count(*) AS webhooks FROM webhooks WHERE ledger = ?")
      .get(ledger);
    if ((found?.webhooks ?? 0) >= WEBHOOKS_PER_SERVER_MAX) return "full";
    const columns = {
      webhook_id: webhook.webhookId,
      ledger,
      created_at: webhook.createdAt,
      ...toWebhookColumns({ ...webhook, place }),
    };
    const names = Object.keys(columns);
    this.#db
      .query<unknown, SqliteValue[]>(
        `INSERT INTO webhooks (${names}) VALUES (${names.map(() => "?").join(", ")})`,
      )
      .run(...toValues(columns));
    return "created";
  }

  update(webhookId: string, change: WebhookChange): boolean {
    if (!this.#findRow(webhookId)) return false;
    const columns = toWebhookColumns(change);
    const names = Object.keys(columns);
    if (names.length === 0) return true;
    this.#db
      .query<unknown, SqliteValue[]>(
        `UPDATE webhooks SET ${names.map((name) => `${name} = ?`).join(", ")} WHERE webhook_id = ?`,
      )
      .run(...toValues(columns), webhookId);
    return true;
  }

  delete(webhookId: string): boolean {
    const row = this.#findRow(webhookId);
    if (!row) return false;
    this.#db.query("DELETE FROM deliveries WHERE ledger = ? AND webhook_id = ?").run(row.ledger, webhookId);
    this.#db.query("DELETE FROM webhooks WHERE webhook_id = ?").run(webhookId);
    return true;
  }

  /** The deliveries are deleted by `prune`, with the rest of the ledger. */
  deleteAll(serverId: string): void {
    this.#db
      .query("DELETE FROM webhooks WHERE ledger = (SELECT ledger FROM ledgers WHERE server_id = ?)")
      .run(serverId);
  }

  noteAttempt(
    webhookId: string,
    expected: ExpectedWebhook,
    progress: AttemptProgress,
    delivery: Delivery | undefined,
  ): boolean {
    const row = this.#findRow(webhookId);
    if (!row || !isAsExpected(row, expected)) return false;
    this.update(webhookId, progress);
    if (delivery) this.#addDelivery(row.ledger, webhookId, delivery);
    return true;
  }

  listDeliveries(webhookId: string): Delivery[] {
    return this.#db
      .query<DeliveryRow, [string]>(
        `SELECT at, event_ids, status, duration_ms, error, sealed_answer FROM deliveries
         WHERE ledger = (SELECT ledger FROM webhooks WHERE webhook_id = ?1) AND webhook_id = ?1
         ORDER BY number DESC`,
      )
      .all(webhookId)
      .map(toDelivery);
  }

  countWaiting(ledger: number, after: number, filter: EventFilter): number {
    const row = this.#db
      .query<{ waiting: number }, (number | string)[]>(
        `SELECT count(*) AS waiting FROM
           (SELECT 1 FROM json_each(?1) AS kinds CROSS JOIN events INDEXED BY events_by_kind
            WHERE ledger = ?2 AND kind = kinds.value AND number > ?3 AND is_backfill = 0 LIMIT ?4)`,
      )
      .get(JSON.stringify([...filter]), ledger, after, WAITING_MAX);
    return row?.waiting ?? 0;
  }

  #findRow(webhookId: string): FoundWebhook | null {
    return this.#db
      .query<FoundWebhook, [string]>(`SELECT ledger, ${COMPARED_COLUMNS} FROM webhooks WHERE webhook_id = ?`)
      .get(webhookId);
  }

  #addDelivery(ledger: number, webhookId: string, delivery: Delivery): void {
    const { at, event_ids, status, duration_ms, error, sealed_answer } = toDeliveryRow(delivery);
    const last = this.#db
      .query<{ number: number | null }, [number, string]>(
        "SELECT max(number) AS number FROM deliveries WHERE ledger = ? AND webhook_id = ?",
      )
      .get(ledger, webhookId);
    const number = (last?.number ?? 0) + 1;
    this.#db
      .query("INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .run(ledger, webhookId, number, at, event_ids, status, duration_ms, error, sealed_answer);
    this.#db
      .query("DELETE FROM deliveries WHERE ledger = ? AND webhook_id = ? AND number <= ?")
      .run(ledger, webhookId, number - DELIVERIES_MAX);
  }
}

function toValues(columns: Readonly<Record<string, string | number | boolean | null>>): SqliteValue[] {
  return Object.values(columns).map((value) => (typeof value === "boolean" ? Number(value) : value));
}
