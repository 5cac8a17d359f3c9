// /admin/webhooks: where events are sent to.
import { ERRORS, isRefusal, type Refusal, refuse } from "../../core/errors.ts";
import { PAGE_SIZE_MAX } from "../../core/ports/pages.ts";
import type { Webhook } from "../../core/webhooks/webhook.ts";
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
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  describeWebhook,
  findWebhook,
  listDeliveries,
  listWebhooks,
  type ManagedWebhooks,
  redeliver,
  rotateWebhook,
  testWebhook,
} from "../../gateway/webhooks/manage-webhooks.ts";
import { NOT_CONFIGURED } from "../answers.ts";
import { shows, showsEach, takes } from "../operation.ts";
import { PAGE_FIELDS } from "../requests/pages.ts";
import { OF_SERVER } from "../requests/parameters.ts";
import { wholeNumber } from "../requests/query-fields.ts";
import { AdminSubject } from "./admin-operation.ts";
import { SERVER } from "./servers.ts";

/** How many tests of all operators one instance has under way. */
export const TESTS_AT_ONCE_MAX = 10;
const TOO_MANY_TESTS = refuse(ERRORS.unavailable, { retry_after: 1 }, { "Retry-After": "1" });
/** Longer than the deadline of a test, so that the operator gets its result. */
const TEST_MS = 20_000;

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
  disabled_code: null,
  created_at: 1_794_722_000_000,
  last_success_at: 1_794_722_345_000,
  last_failure_at: null,
  waiting: 0,
};
const DISABLED_WEBHOOK = {
  ...WEBHOOK,
  enabled: false,
  disabled_reason: "Discord does not know this webhook: it was deleted there.",
  disabled_code: "unknown_webhook",
  last_failure_at: 1_794_722_400_000,
  waiting: 12,
};
const EVENT_ID = "AAAAAAGJh1xvK2m3x5XmQm1c";
const ACCEPTED = { status: 204, duration_ms: 182, error: null, error_code: null };
const LATE = { status: null, duration_ms: 15_000, error: "timeout", error_code: "timeout" };
const DELIVERIES = {
  items: [
    { at: 1_794_722_345_000, event_ids: [EVENT_ID], ...ACCEPTED, status: 200 },
    { at: 1_794_722_340_000, event_ids: [EVENT_ID], ...LATE },
  ],
  next: null,
};

const webhooks = new AdminSubject<ManagedWebhooks>({
  tag: "Webhooks",
  find: (parts) => parts.webhooks ?? NOT_CONFIGURED,
  errors: ["notConfigured"],
});

export const webhookOperations = {
  list: webhooks.list({
    id: "listWebhooks",
    summary: "List webhooks",
    description: "Oldest first.",
    query: { server_id: OF_SERVER },
    item: WebhookResource,
    example: WEBHOOK,
    read: (managed, page, { query, authority }) =>
      listWebhooks(managed, authority.narrow("webhooks", query.server_id), page),
  }),

  create: webhooks.define({
    id: "createWebhook",
    summary: "Create a webhook",
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
      201: shows("The webhook with its secret, which is never shown again.", WebhookWithSecret, {
        ...WEBHOOK,
        last_success_at: null,
        secret: SECRET,
      }),
    },
    errors: ["conflict", "notFound"],
    changes: "archive",
    async handle(managed, request) {
      const created = await createWebhook(managed, request.body, request);
      if (isRefusal(created)) return created;
      const resource = await describeWebhook(managed.archive, created.webhook);
      return { ...resource, secret: created.secret } satisfies WebhookWithSecret;
    },
  }),

  show: webhooks.define({
    id: "showWebhook",
    summary: "Show a webhook",
    answers: {
      200: showsEach("The webhook.", WebhookResource, {
        well: ["All is well", WEBHOOK],
        disabled: ["Disabled, because Discord does not know it", DISABLED_WEBHOOK],
      }),
    },
    errors: ["notFound"],
    handle: async (managed, { id }) => describeFound(managed, await findWebhook(managed, id)),
  }),

  change: webhooks.define({
    id: "changeWebhook",
    summary: "Change a webhook",
    description:
      "Takes effect within seconds. Enabled again, it goes on where it was, and `disabled_reason` is cleared; what has left the ledger meanwhile is told as a `gap`, reason `retention`. A new `url` is tried at once.",
    body: takes(WebhookUpdate, { enabled: true }),
    answers: { 200: shows("The webhook as it is now.", WebhookResource, WEBHOOK) },
    errors: ["notFound"],
    changes: "archive",
    handle: async (managed, request) =>
      describeFound(managed, await changeWebhook(managed, request.id, request.body, request)),
  }),

  delete: webhooks.define({
    id: "deleteWebhook",
    summary: "Delete a webhook",
    description: "With its deliveries. A request that is under way may still arrive.",
    answers: { 204: { description: "The webhook is gone." } },
    errors: ["notFound"],
    changes: "archive",
    handle: (managed, request) => deleteWebhook(managed, request.id, request),
  }),

  rotate: webhooks.define({
    id: "rotateWebhook",
    summary: "Give a webhook a new secret",
    description:
      "For 24 hours requests carry two signatures, the new one first, so that the receiver can change over without losing any. A second rotation within that time ends the oldest secret. The body is not read.",
    answers: {
      200: shows("The new secret, which is never shown again.", RotatedWebhook, {
        webhook_id: WEBHOOK.webhook_id,
        secret: SECRET,
      }),
    },
    errors: ["notFound"],
    changes: "archive",
    async handle(managed, request) {
      const rotated = await rotateWebhook(managed, request.id, request);
      if (isRefusal(rotated)) return rotated;
      return { webhook_id: rotated.webhook.webhookId, secret: rotated.secret } satisfies RotatedWebhook;
    },
  }),

  // Without a turn: nothing is changed, and a receiver may be slow.
  test: webhooks.define({
    id: "testWebhook",
    summary: "Test a webhook",
    description:
      "Sends one message that is no event: `type` is `webhook.test` in the format `standard`, and an embed that says so in the others. It is sent once, also when the webhook is disabled, and changes nothing of it. The answer comes after 15 s at the latest. At most 10 tests are under way on one instance; one more is 503. The body is not read.",
    answers: {
      200: showsEach("What came of it.", WebhookTestResult, {
        accepted: ["The receiver accepted it", ACCEPTED],
        nothing: ["No answer came", LATE],
      }),
    },
    errors: ["notFound"],
    async handle(managed, { call, id, admin }) {
      if (admin.runningTests >= TESTS_AT_ONCE_MAX) return TOO_MANY_TESTS;
      admin.runningTests++;
      call.extendIdleTimeout(TEST_MS);
      try {
        return await testWebhook(managed, id);
      } finally {
        admin.runningTests--;
        call.resetIdleTimeout();
      }
    },
  }),

  redeliver: webhooks.define({
    id: "redeliver",
    summary: "Send events again",
    description:
      "Moves the webhook to a place in its server's ledger: everything after it that its types let through is sent, in order, again where it was sent before. `after` is the `id` of an event or another cursor of that server, `earliest` for all that is kept, or `now` to leave out what waits. `discord-status` has no place: 409.",
    body: takes(Redelivery, { after: EVENT_ID }),
    answers: { 200: shows("The webhook as it is now.", WebhookResource, { ...WEBHOOK, waiting: 31 }) },
    errors: ["conflict", "cursorExpired", "notFound"],
    changes: "archive",
    handle: async (managed, request) =>
      describeFound(managed, await redeliver(managed, request.id, request.body, request)),
  }),

  listDeliveries: webhooks.define({
    id: "listDeliveries",
    summary: "List the last deliveries",
    description:
      "The last 100 attempts, newest first. An event whose last attempt has a 4xx other than 408, 425 and 429 and that was refused five times is set aside: the next one was tried.",
    query: {
      limit: wholeNumber(1, PAGE_SIZE_MAX, {
        description: "How many items a page has. All of them fit into one page.",
        default: DELIVERIES_LIMIT_DEFAULT,
      }),
      cursor: PAGE_FIELDS.cursor,
    },
    answers: { 200: shows("The attempts.", DeliveryPage, DELIVERIES) },
    errors: ["invalidRequest", "notFound"],
    async handle(managed, { call, id, query, authority, admin: { parts } }) {
      // A cursor of one webhook does not fit another.
      const list = `${call.target.routeName} ${id}`;
      const page = parts.pages.open(list, query, DELIVERIES_LIMIT_DEFAULT);
      if (isRefusal(page)) return page;
      const found = await listDeliveries(managed, id, page, authority);
      return isRefusal(found) ? found : parts.pages.seal(list, found);
    },
  }),
};

async function describeFound(
  { archive }: ManagedWebhooks,
  found: Webhook | Refusal,
): Promise<WebhookResource | Refusal> {
  return isRefusal(found) ? found : describeWebhook(archive, found);
}
