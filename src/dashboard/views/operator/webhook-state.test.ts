import { describe, expect, test } from "bun:test";
import { parseWebhookUrl } from "../../../core/webhooks/address.ts";
import { judgeLoss } from "../../../core/webhooks/discord/status-message.ts";
import { FAILING_MAX_MS, judgeDelivery } from "../../../core/webhooks/retry.ts";
import type { WebhookFormat } from "../../../core/webhooks/webhook.ts";
import { NewWebhook } from "../../../core/wire/webhook.ts";
import { findAddressProblem, findDisabledReason, findErrorName, judgeWebhook } from "./webhook-state.ts";

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
    expect(judgeWebhook({ ...off, disabled_reason: "No delivery has succeeded for five days." })).toBe(
      "disabled",
    );
  });
});

function findReason(format: WebhookFormat, status: number, body: string, firstFailureAt = NOW) {
  const { progress } = judgeDelivery({
    url: "https://hooks.example",
    format,
    before: {
      lastSuccessAt: null,
      lastFailureAt: null,
      firstFailureAt,
      failures: 1,
      refusals: 0,
      nextAttemptAt: null,
      disabledReason: null,
    },
    outcome: { status, headers: {}, body },
    scheduleMs: [5_000],
    now: NOW,
    random: 0,
  });
  return findDisabledReason(progress.disabledReason ?? "");
}

test("every reason that Gatehouse gives for disabling a webhook is translated", () => {
  expect(findReason("standard", 410, "")).toBe("gone");
  expect(findReason("discord", 404, '{"code":10015}')).toBe("unknownWebhook");
  expect(findReason("discord", 401, '{"code":50027}')).toBe("invalidToken");
  expect(findReason("standard", 500, "", NOW - FAILING_MAX_MS)).toBe("exhausted");
  const lost = judgeLoss({ messageId: "1", editedAt: NOW, fingerprint: "", lostAt: NOW - 1 }, NOW);
  expect("disabledReason" in lost && findDisabledReason(lost.disabledReason)).toBe("lostMessage");
  expect(findDisabledReason("Something new.")).toBeUndefined();
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
  expect("problem" in parsed && findAddressProblem(parsed.problem)).toBe(name);
});

test("the reason of the schema for refusing an address is translated", () => {
  const { url }: Record<string, unknown> = NewWebhook.properties;
  expect(findAddressProblem((url as { description: string }).description)).toBe("longOrEmpty");
});

test("what a receiver said is not taken for an error of ours", () => {
  expect(findErrorName("timeout")).toBe("timeout");
  expect(findErrorName("timeout of the upstream")).toBeUndefined();
  expect(findErrorName("status 404 on page 7")).toBeUndefined();
});

test("an answer without a text is told in words", () => {
  expect(findErrorName("status 308")).toBe("redirect");
  expect(findErrorName("status 500")).toBe("wordless");
  expect(findErrorName("no_message_id")).toBe("no_message_id");
});
