// /admin/webhooks: where events are sent to.
import { ERRORS, isRefusal, type Refusal, refuse } from "../../core/errors.ts";
import type { Actor } from "../../core/ports/audit.ts";
import type { PageRequest } from "../../core/ports/pages.ts";
import type { Webhook } from "../../core/webhooks/webhook.ts";
import {
  DELIVERIES_LIMIT_DEFAULT,
  NewWebhook,
  Redelivery,
  type RotatedWebhook,
  type WebhookResource,
  WebhookUpdate,
  type WebhookWithSecret,
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
import { answerJson, answerRefusal, NOT_CONFIGURED } from "../answers.ts";
import type { Call } from "../call.ts";
import type { Pages } from "../pages.ts";
import { parseBody, parseId, pathIdOf, queryOf } from "../parse-request.ts";
import { answerDone, answerOutcome } from "./answer-operator.ts";
import type { Mutex } from "./mutex.ts";

/** How many tests of all operators one instance has under way. */
export const TESTS_AT_ONCE_MAX = 10;
const TOO_MANY_TESTS = refuse(ERRORS.unavailable, { retry_after: 1 }, { "Retry-After": "1" });
/** Longer than the deadline of a test, so that the operator gets its result. */
const TEST_MS = 20_000;

export type WebhookHandlersParts = {
  /** Undefined without an archive. */
  readonly webhooks: ManagedWebhooks | undefined;
  readonly changes: Mutex;
  readonly pages: Pages;
};

export class WebhookHandlers {
  readonly #parts: WebhookHandlersParts;
  #tests = 0;

  constructor(parts: WebhookHandlersParts) {
    this.#parts = parts;
  }

  list(call: Call): Promise<Response> {
    return this.#answer(call, async (webhooks) => {
      const serverId = parseId(queryOf(call), "server_id", "srv_");
      if (typeof serverId === "object") return answerRefusal(call, serverId);
      const read = (page: PageRequest) => listWebhooks(webhooks, serverId, page);
      return this.#parts.pages.answer(call, read, (webhook: WebhookResource) => webhook);
    });
  }

  create(call: Call, actor: Actor): Promise<Response> {
    return this.#answer(call, async (webhooks) => {
      const request = await parseBody(call, NewWebhook);
      if (isRefusal(request)) return answerRefusal(call, request);
      const created = await this.#parts.changes.run(call, () =>
        createWebhook(webhooks, request.value, actor, call.now),
      );
      if (isRefusal(created)) return answerRefusal(call, created);
      const resource = await describeWebhook(webhooks.archive, created.webhook);
      return answerJson({ ...resource, secret: created.secret } satisfies WebhookWithSecret, 201);
    });
  }

  show(call: Call): Promise<Response> {
    return this.#answerWebhook(call, (webhooks) => findWebhook(webhooks, pathIdOf(call)));
  }

  change(call: Call, actor: Actor): Promise<Response> {
    return this.#answerWebhook(call, async (webhooks) => {
      const request = await parseBody(call, WebhookUpdate);
      if (isRefusal(request)) return request;
      return this.#parts.changes.run(call, () =>
        changeWebhook(webhooks, pathIdOf(call), request.value, actor, call.now),
      );
    });
  }

  delete(call: Call, actor: Actor): Promise<Response> {
    return this.#answer(call, async (webhooks) => {
      const refusal = await this.#parts.changes.run(call, () =>
        deleteWebhook(webhooks, pathIdOf(call), actor, call.now),
      );
      return answerDone(call, refusal);
    });
  }

  rotate(call: Call, actor: Actor): Promise<Response> {
    return this.#answer(call, async (webhooks) => {
      const rotated = await this.#parts.changes.run(call, () =>
        rotateWebhook(webhooks, pathIdOf(call), actor, call.now),
      );
      return answerOutcome(
        call,
        rotated,
        ({ webhook, secret }): RotatedWebhook => ({ webhook_id: webhook.webhookId, secret }),
      );
    });
  }

  /** Without the mutex: nothing is changed, and a receiver may be slow. */
  test(call: Call): Promise<Response> {
    return this.#answer(call, async (webhooks) => {
      if (this.#tests >= TESTS_AT_ONCE_MAX) return answerRefusal(call, TOO_MANY_TESTS);
      this.#tests++;
      call.extendIdleTimeout(TEST_MS);
      try {
        return answerOutcome(call, await testWebhook(webhooks, pathIdOf(call)), (result) => result);
      } finally {
        this.#tests--;
        call.resetIdleTimeout();
      }
    });
  }

  redeliver(call: Call, actor: Actor): Promise<Response> {
    return this.#answerWebhook(call, async (webhooks) => {
      const request = await parseBody(call, Redelivery);
      if (isRefusal(request)) return request;
      return this.#parts.changes.run(call, () =>
        redeliver(webhooks, pathIdOf(call), request.value, actor, call.now),
      );
    });
  }

  listDeliveries(call: Call): Promise<Response> {
    return this.#answer(call, async (webhooks) => {
      const { pages } = this.#parts;
      // A cursor of one webhook does not fit another.
      const list = `${call.target.routeName} ${pathIdOf(call)}`;
      const request = pages.parse(list, queryOf(call), DELIVERIES_LIMIT_DEFAULT);
      if (isRefusal(request)) return answerRefusal(call, request);
      const page = await listDeliveries(webhooks, pathIdOf(call), request);
      return answerOutcome(call, page, (found) => pages.describe(list, found, (delivery) => delivery));
    });
  }

  async #answer(call: Call, answer: (webhooks: ManagedWebhooks) => Promise<Response>): Promise<Response> {
    const { webhooks } = this.#parts;
    return webhooks ? answer(webhooks) : answerRefusal(call, NOT_CONFIGURED);
  }

  #answerWebhook(
    call: Call,
    obtain: (webhooks: ManagedWebhooks) => Promise<Webhook | Refusal>,
  ): Promise<Response> {
    return this.#answer(call, async (webhooks) => {
      const webhook = await obtain(webhooks);
      if (isRefusal(webhook)) return answerRefusal(call, webhook);
      return answerJson(await describeWebhook(webhooks.archive, webhook));
    });
  }
}
