// The rows of webhooks and deliveries that both archives have.
import type { WebhookChange } from "../core/ports/webhooks.ts";
import type { Delivery, Webhook } from "../core/webhooks/webhook.ts";
import { toStorable } from "./storable-text.ts";

/** `json`: a list or an object as JSON text. */
type FieldKind = "text" | "integer" | "boolean" | "json";
type ColumnValue = string | number | boolean | null;

/** The column of every field that may change, but for the place, which has two. */
const COLUMNS: Readonly<
  Record<Exclude<keyof WebhookChange, "place">, readonly [column: string, kind: FieldKind]>
> = {
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

/** PostgreSQL gives int8 as text, SQLite gives booleans as 0 and 1. */
export type WebhookRow = Readonly<Record<string, ColumnValue>>;

export type DeliveryRow = {
  readonly at: number | string;
  readonly event_ids: string;
  readonly status: number | string | null;
  readonly duration_ms: number | string;
  readonly error: string | null;
};

/** The columns of the fields that are given. */
export function toWebhookColumns({ place, ...fields }: WebhookChange): Record<string, ColumnValue> {
  const columns: Record<string, ColumnValue> = place
    ? { place_number: place.number, place_mark: place.mark }
    : {};
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

export function toDeliveryRow({ at, eventIds, status, durationMs, error }: Delivery) {
  return {
    at,
    event_ids: JSON.stringify(eventIds),
    status,
    duration_ms: Math.round(durationMs),
    error: error === null ? null : toStorable(error),
  };
}

export function toDelivery({ at, event_ids, status, duration_ms, error }: DeliveryRow): Delivery {
  return {
    at: Number(at),
    eventIds: JSON.parse(event_ids),
    status: status === null ? null : Number(status),
    durationMs: Number(duration_ms),
    error,
  };
}

function toColumn(value: unknown, kind: FieldKind): ColumnValue {
  if (value === null) return null;
  if (kind === "json") return JSON.stringify(value);
  return kind === "text" ? toStorable(String(value)) : (value as number | boolean);
}

function parseColumn(value: ColumnValue, kind: FieldKind): unknown {
  if (value === null) return null;
  switch (kind) {
    case "text":
      return value;
    case "integer":
      return Number(value);
    case "boolean":
      return Boolean(value);
    case "json":
      return JSON.parse(String(value));
  }
}
