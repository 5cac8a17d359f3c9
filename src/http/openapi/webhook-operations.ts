// The operations of operators about webhooks.
import Type from "typebox";
import { PAGE_SIZE_MAX } from "../../core/page-size.ts";
import type { ErrorName } from "../../core/wire/error.ts";
import { pageOf } from "../../core/wire/page.ts";
import {
  DELIVERIES_LIMIT_DEFAULT,
  DeliveryPage,
  NewWebhook,
  Redelivery,
  RotatedWebhook,
  WebhookResource,
  WebhookTestResult,
  WebhookUpdate,
  WebhookWithSecret,
} from "../../core/wire/webhook.ts";
import { SERVER } from "./examples.ts";
import type { Answer, Operation, Parameter } from "./operation.ts";
import { OF_SERVER, PAGE_PARAMETERS } from "./parameters.ts";

/** Of the example's own making: it signs nothing. */
const SECRET = `whsec_${"EXAMPLEonly".repeat(4).slice(0, 43)}=`;

const WEBHOOK = {
  webhook_id: "hook_3uGk8sYc2RzNqT5vBw1x",
  server_id: SERVER.server_id,
  label: "#mod-log",
  url: "https://discord.com/api",
  format: "discord",
  types: ["player.killed", "modcall.*"],
  language: "en",
  show_join_key: false,
  enabled: true,
  disabled_reason: null,
  created_at: 1_794_722_000_000,
  last_success_at: 1_794_722_345_000,
  last_failure_at: null,
  waiting: 0,
} as const;

const DISABLED_WEBHOOK = {
  ...WEBHOOK,
  enabled: false,
  disabled_reason: "Discord does not know this webhook: it was deleted there.",
  last_failure_at: 1_794_722_400_000,
  waiting: 12,
} as const;

const EVENT_ID = "AAAAAAGJh1xvK2m3x5XmQm1c";
const DELIVERIES = {
  items: [
    { at: 1_794_722_345_000, event_ids: [EVENT_ID], status: 200, duration_ms: 182, error: null },
    { at: 1_794_722_340_000, event_ids: [EVENT_ID], status: null, duration_ms: 15_000, error: "timeout" },
  ],
  next: null,
} as const;

const NO_ARCHIVE: readonly ErrorName[] = ["notConfigured"];
const FOUND: readonly ErrorName[] = ["notFound", ...NO_ARCHIVE];

const [, CURSOR] = PAGE_PARAMETERS;
const DELIVERY_PARAMETERS: readonly Parameter[] = [
  {
    name: "limit",
    in: "query",
    description: "How many items a page has. All of them fit into one page.",
    schema: Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX, default: DELIVERIES_LIMIT_DEFAULT }),
  },
  ...(CURSOR ? [CURSOR] : []),
];

type Rest = Pick<Operation, "description" | "body" | "parameters" | "answers" | "errors">;
type Describe = (id: string, summary: string, rest: Rest) => Operation;

/** `describe` adds what every operation of operators has; `bodyErrors` are those of every body. */
export function describeWebhookOperations(
  describe: Describe,
  bodyErrors: readonly ErrorName[],
): Readonly<Record<string, Operation>> {
  return {
    "GET /admin/webhooks": describe("listWebhooks", "List webhooks", {
      description: "Oldest first.",
      parameters: [OF_SERVER, ...PAGE_PARAMETERS],
      answers: {
        200: answer("A page of them.", pageOf(WebhookResource), { items: [WEBHOOK], next: null }),
      },
      errors: ["invalidRequest", ...NO_ARCHIVE],
    }),
    "POST /admin/webhooks": describe("createWebhook", "Create a webhook", {
      description:
        "It begins at now: events that were recorded before are not sent. What is left out gets its default: all types, English, no join key. `url` must be https, without a user or a password, and no private address; names are resolved at every attempt, not here. It is stored encrypted and shown only up to its host and first path segment. A server has at most 20 webhooks; the 21st is 409.",
      body: {
        schema: NewWebhook,
        isRequired: true,
        examples: {
          discord: {
            summary: "Kills and mod calls in a Discord channel",
            value: {
              server_id: SERVER.server_id,
              label: "#mod-log",
              url: "https://discord.com/api/webhooks/1234567890/EXAMPLE-only",
              format: "discord",
              types: ["player.killed", "modcall.*"],
            },
          },
          standard: {
            summary: "Everything to a program of your own",
            value: {
              server_id: SERVER.server_id,
              label: "statistics",
              url: "https://hooks.example.org/gatehouse",
              format: "standard",
            },
          },
        },
      },
      answers: {
        201: answer("The webhook with its secret, which is never shown again.", WebhookWithSecret, {
          ...WEBHOOK,
          last_success_at: null,
          secret: SECRET,
        }),
      },
      errors: [...bodyErrors, "conflict", ...NO_ARCHIVE],
    }),
    "GET /admin/webhooks/:id": describe("showWebhook", "Show a webhook", {
      answers: {
        200: {
          ...answer("The webhook.", WebhookResource, WEBHOOK),
          examples: {
            well: { summary: "All is well", value: WEBHOOK },
            disabled: { summary: "Disabled, because Discord does not know it", value: DISABLED_WEBHOOK },
          },
        },
      },
      errors: FOUND,
    }),
    "PATCH /admin/webhooks/:id": describe("changeWebhook", "Change a webhook", {
      description:
        "Takes effect within seconds. Enabled again, it goes on where it was, and `disabled_reason` is cleared; what has left the ledger meanwhile is told as a `gap`, reason `retention`. A new `url` is tried at once.",
      body: body(WebhookUpdate, { enabled: true }),
      answers: { 200: answer("The webhook as it is now.", WebhookResource, WEBHOOK) },
      errors: [...bodyErrors, ...FOUND],
    }),
    "DELETE /admin/webhooks/:id": describe("deleteWebhook", "Delete a webhook", {
      description: "With its deliveries. A request that is under way may still arrive.",
      answers: { 204: { description: "The webhook is gone.", headers: ["CacheControl"] } },
      errors: FOUND,
    }),
    "POST /admin/webhooks/:id/rotate": describe("rotateWebhook", "Give a webhook a new secret", {
      description:
        "For 24 hours requests carry two signatures, the new one first, so that the receiver can change over without losing any. A second rotation within that time ends the oldest secret. The body is not read.",
      answers: {
        200: answer("The new secret, which is never shown again.", RotatedWebhook, {
          webhook_id: WEBHOOK.webhook_id,
          secret: SECRET,
        }),
      },
      errors: FOUND,
    }),
    "POST /admin/webhooks/:id/test": describe("testWebhook", "Test a webhook", {
      description:
        "Sends one message that is no event: `type` is `webhook.test` in the format `standard`, and an embed that says so in the others. It is sent once, also when the webhook is disabled, and changes nothing of it. The answer comes after 15 s at the latest. At most 10 tests are under way on one instance; one more is 503. The body is not read.",
      answers: {
        200: {
          ...answer("What came of it.", WebhookTestResult, { status: 204, duration_ms: 182, error: null }),
          examples: {
            accepted: {
              summary: "The receiver accepted it",
              value: { status: 204, duration_ms: 182, error: null },
            },
            nothing: {
              summary: "No answer came",
              value: { status: null, duration_ms: 15_000, error: "timeout" },
            },
          },
        },
      },
      errors: FOUND,
    }),
    "POST /admin/webhooks/:id/redeliver": describe("redeliver", "Send events again", {
      description:
        "Moves the webhook to a place in its server's ledger: everything after it that its types let through is sent, in order, again where it was sent before. `after` is the `id` of an event or another cursor of that server, `earliest` for all that is kept, or `now` to leave out what waits. `discord-status` has no place: 409.",
      body: body(Redelivery, { after: EVENT_ID }),
      answers: { 200: answer("The webhook as it is now.", WebhookResource, { ...WEBHOOK, waiting: 31 }) },
      errors: [...bodyErrors, "conflict", "cursorExpired", ...FOUND],
    }),
    "GET /admin/webhooks/:id/deliveries": describe("listDeliveries", "List the last deliveries", {
      description:
        "The last 100 attempts, newest first. An event whose last attempt has a 4xx other than 408, 425 and 429 and that was refused five times is set aside: the next one was tried.",
      parameters: DELIVERY_PARAMETERS,
      answers: { 200: answer("The attempts.", DeliveryPage, DELIVERIES) },
      errors: ["invalidRequest", ...FOUND],
    }),
  };
}

function answer(description: string, schema: Type.TSchema, value: unknown): Answer {
  return {
    description,
    headers: ["CacheControl"],
    schema,
    examples: { example: { summary: description, value } },
  };
}

function body(schema: Type.TSchema, value: unknown): NonNullable<Operation["body"]> {
  return { schema, isRequired: true, examples: { example: { summary: "An example", value } } };
}
