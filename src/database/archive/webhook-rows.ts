// The rows of webhooks and deliveries.
import type { ExpectedWebhook, WebhookChange } from "../../core/ports/webhooks.ts";
import type { Delivery, Webhook } from "../../core/webhooks/webhook.ts";
import type { Value } from "../sql.ts";
import { toStorable } from "./storable-text.ts";

/** `json`: a list or an object as JSON text. */
type FieldKind = "text" | "integer" | "boolean" | "json";

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

export type WebhookRow = Readonly<Record<string, Value>>;

/** What is compared before an attempt is noted. */
export const COMPARED_COLUMNS = "place_number, place_mark, sealed_url, is_enabled";
export type ComparedRow = {
  readonly place_number: number;
  readonly place_mark: number;
  readonly sealed_url: string;
  readonly is_enabled: number;
};

export type DeliveryRow = {
  readonly at: number;
  readonly event_ids: string;
  readonly status: number | null;
  readonly duration_ms: number;
  readonly error: string | null;
  readonly sealed_answer: string | null;
};

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

export function toDelivery(row: DeliveryRow): Delivery {
  const { at, event_ids, status, duration_ms, error, sealed_answer } = row;
  return {
    at,
    eventIds: JSON.parse(event_ids),
    status,
    durationMs: duration_ms,
    error,
    sealedAnswer: sealed_answer,
  };
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
