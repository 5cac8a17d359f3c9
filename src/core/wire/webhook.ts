// Webhooks in the admin API. In the schema of a request, a field's description completes the error message for a wrong value.
import Type from "typebox";
import { TYPES_MAX } from "../events/event-types.ts";
import {
  DELIVERIES_MAX,
  WAITING_MAX,
  WEBHOOK_FORMATS,
  WEBHOOK_LANGUAGES,
  WEBHOOK_URL_LENGTH_MAX,
} from "../webhooks/webhook.ts";
import { pageOf } from "./page.ts";
import {
  bodyOf,
  changeOf,
  EpochMs,
  EventCursor,
  GivenServerId,
  orNull,
  ServerId,
  type Static,
  time,
  visibleText,
  YesOrNo,
} from "./values.ts";

/** No name of a type is longer. */
const TYPE_LENGTH_MAX = 64;

export const WebhookId = Type.String({ pattern: "^hook_[0-9A-Za-z]+$", description: "Id of the webhook" });

const Secret = Type.String({
  pattern: "^whsec_[A-Za-z0-9+/]{43}=$",
  description: "What signs the requests of the format `standard`. It is shown here and never again",
});

export const WebhookResource = Type.Object({
  webhook_id: WebhookId,
  server_id: ServerId,
  label: Type.String(),
  url: Type.String({
    description: "The address up to its host and first path segment; the rest is a secret and never shown",
  }),
  format: Type.Enum([...WEBHOOK_FORMATS], {
    description:
      "standard (Standard Webhooks, one event a request), discord (embeds) or discord-status (one message that is edited)",
  }),
  types: orNull(Type.Array(Type.String()), "The types of events that are sent, as they were given; null for all"),
  language: Type.Enum([...WEBHOOK_LANGUAGES], { description: "Of the Discord formats" }),
  show_join_key: Type.Boolean({ description: "Whether the Discord formats tell the server's join key" }),
  enabled: Type.Boolean(),
  disabled_reason: orNull(
    Type.String(),
    "A sentence that says why Gatehouse disabled it; null while it is enabled, or when the operator disabled it",
  ),
  disabled_code: orNull(
    Type.String(),
    "The same in one word, such as `gone`; null also when an older Gatehouse disabled it",
  ),
  created_at: time("When it was created"),
  last_success_at: orNull(EpochMs, "When the receiver last accepted something, in epoch milliseconds"),
  last_failure_at: orNull(EpochMs, "When an attempt last failed, in epoch milliseconds"),
  waiting: Type.Integer({
    minimum: 0,
    maximum: WAITING_MAX,
    description: "Events that it has still to get, counted to 10,000; 0 for discord-status",
  }),
});
export type WebhookResource = Static<typeof WebhookResource>;

export const WebhookWithSecret = Type.Object({ ...WebhookResource.properties, secret: Secret });
export type WebhookWithSecret = Static<typeof WebhookWithSecret>;

export const RotatedWebhook = Type.Object({ webhook_id: WebhookId, secret: Secret });
export type RotatedWebhook = Static<typeof RotatedWebhook>;

const Status = orNull(Type.Integer(), "The status that the receiver answered; null when no answer came");
const DurationMs = Type.Integer({ minimum: 0, description: "How long it took, in milliseconds" });
const Problem = orNull(
  Type.String(),
  "What went wrong: `private_address`, `not_https`, `dns`, `connection`, `tls`, `timeout`, `protocol`, `unreadable_url`, or the beginning of the receiver's answer; null after a success",
);

const ProblemCode = orNull(
  Type.String(),
  "`error` in one word, also `redirect` and `wordless` for an answer without a text; null for the receiver's own words",
);

export const WebhookTestResult = Type.Object({
  status: Status,
  duration_ms: DurationMs,
  error: Problem,
  error_code: ProblemCode,
});
export type WebhookTestResult = Static<typeof WebhookTestResult>;

export const DeliveryResource = Type.Object({
  at: time("When the attempt began"),
  event_ids: Type.Array(EventCursor, { description: "The events that it had; empty for discord-status" }),
  status: Status,
  duration_ms: DurationMs,
  error: Problem,
  error_code: ProblemCode,
});
export type DeliveryResource = Static<typeof DeliveryResource>;

export const DeliveryPage = pageOf(DeliveryResource);
export type DeliveryPage = Static<typeof DeliveryPage>;
export const DELIVERIES_LIMIT_DEFAULT = DELIVERIES_MAX;

const settings = {
  label: visibleText("a label"),
  url: Type.String({
    minLength: 1,
    maxLength: WEBHOOK_URL_LENGTH_MAX,
    description: `must be an https:// address of at most ${WEBHOOK_URL_LENGTH_MAX.toLocaleString("en")} characters`,
  }),
  types: orNull(
    Type.Array(Type.String({ maxLength: TYPE_LENGTH_MAX }), { minItems: 1, maxItems: TYPES_MAX }),
    `must be a list of at most ${TYPES_MAX} types of events, such as player.joined or player.*, each once, or null for all`,
  ),
  language: Type.Enum([...WEBHOOK_LANGUAGES], { description: `must be one of ${WEBHOOK_LANGUAGES.join(", ")}` }),
  show_join_key: YesOrNo,
};

export const NewWebhook = bodyOf({
  server_id: GivenServerId,
  label: settings.label,
  url: settings.url,
  format: Type.Enum([...WEBHOOK_FORMATS], { description: `must be one of ${WEBHOOK_FORMATS.join(", ")}` }),
  types: Type.Optional(settings.types),
  language: Type.Optional(settings.language),
  show_join_key: Type.Optional(settings.show_join_key),
});
export type NewWebhook = Static<typeof NewWebhook>;

export const WebhookUpdate = changeOf({ ...settings, enabled: YesOrNo });
export type WebhookUpdate = Static<typeof WebhookUpdate>;

export const Redelivery = bodyOf({
  after: Type.String({ maxLength: 64, description: "must be a cursor of the webhook's server, earliest or now" }),
});
export type Redelivery = Static<typeof Redelivery>;
