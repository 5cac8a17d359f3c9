import { describe, expect, test } from "bun:test";
import { parseWebhookUrl } from "../../../../core/webhooks/address.ts";
import { DISABLED_REASONS, type WebhookFormat } from "../../../../core/webhooks/webhook.ts";
import { operatorEn } from "../../../locales/operator-en.ts";
import { judgeWebhook, listPlaces } from "./webhook-types.ts";

const NOW = Date.UTC(2026, 10, 16, 12);

describe("a webhook", () => {
  const fresh = {
    enabled: true,
    disabled_reason: null,
    last_success_at: null,
    last_failure_at: null,
    waiting: 0,
    format: "standard" as WebhookFormat,
  };
  test("is new until something was sent, then delivers", () => {
    expect(judgeWebhook(fresh)).toBe("new");
    expect(judgeWebhook({ ...fresh, last_success_at: NOW })).toBe("delivering");
    expect(judgeWebhook({ ...fresh, last_success_at: NOW, waiting: 3 })).toBe("waiting");
  });

  test("fails while the last attempt failed and its event waits", () => {
    const failed = { ...fresh, last_success_at: NOW - 2, last_failure_at: NOW - 1, waiting: 1 };
    expect(judgeWebhook(failed)).toBe("failing");
    expect(judgeWebhook({ ...failed, last_success_at: null })).toBe("failing");
    expect(judgeWebhook({ ...failed, last_success_at: NOW })).toBe("waiting");
    // The refused event was set aside.
    expect(judgeWebhook({ ...failed, waiting: 0 })).toBe("delivering");
    // The status message has no events that could wait.
    expect(judgeWebhook({ ...failed, waiting: 0, format: "discord-status" })).toBe("failing");
  });

  test("was disabled by the operator, or by Gatehouse with a reason, whatever happened before", () => {
    const off = { ...fresh, enabled: false, last_failure_at: NOW, waiting: 9 };
    expect(judgeWebhook(off)).toBe("off");
    expect(judgeWebhook({ ...off, disabled_reason: "No delivery has succeeded for five days." })).toBe("disabled");
  });
});

test("every reason that Gatehouse gives for disabling a webhook is translated", () => {
  expect(Object.keys(operatorEn.operatorWebhooks.reason).sort()).toEqual(Object.keys(DISABLED_REASONS).sort());
});

test.each([
  ["https", "http://example.com/"],
  ["https", "example.com"],
  ["spaces", "https://example.com/ a"],
  ["user", "https://user@example.com/"],
  ["host", "https://a..b/"],
  ["private", "https://127.0.0.1/"],
  ["long", `https://example.com/${"a".repeat(2_048)}`],
] as const)("the reason `%s` for refusing an address is translated", (name, url) => {
  const parsed = parseWebhookUrl(url, false);
  expect("problem" in parsed && parsed.problem.code).toBe(`url_${name}`);
  expect(operatorEn.operatorReasons).toHaveProperty(`url_${name}`);
});

const delivery = (at: number, status: number | null, ...ids: string[]) => ({
  at,
  event_ids: ids,
  status,
  duration_ms: 1,
  error: null,
  error_code: null,
});

test("a webhook can send again after the last event of each delivery that arrived, each once", () => {
  expect(
    listPlaces([
      delivery(6, 204, "c"),
      delivery(5, 404, "d"),
      delivery(4, null, "c"),
      delivery(3, 200, "b", "c"),
      delivery(2, 200, "a"),
      delivery(1, 200),
    ]),
  ).toEqual([
    { at: 6, after: "c" },
    { at: 2, after: "a" },
  ]);
});
