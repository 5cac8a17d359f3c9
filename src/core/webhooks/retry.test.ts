// What each answer of a receiver does to a webhook.
import { describe, expect, test } from "bun:test";
import {
  type AttemptOutcome,
  type AttemptVerdict,
  DISCORD_WAIT_MAX_MS,
  FAILING_MAX_MS,
  isUnknownMessage,
  judgeDelivery,
  type ProgressChange,
  parseRetryAfter,
  RETRY_AFTER_MAX_MS,
  TOLD_WAIT_MIN_MS,
} from "./retry.ts";
import type { WebhookFormat } from "./webhook.ts";

const NOW = Date.UTC(2026, 10, 16, 12);
const SCHEDULE = [5_000, 30_000, 300_000];
const FRESH: ProgressChange = {
  lastSuccessAt: null,
  lastFailureAt: null,
  firstFailureAt: null,
  failures: 0,
  refusals: 0,
  nextAttemptAt: null,
  disabledReason: null,
};

type Answer = Partial<AttemptOutcome> & {
  readonly format?: WebhookFormat;
  readonly url?: string;
  readonly scheduleMs?: readonly number[];
  readonly now?: number;
  readonly random?: number;
};

function judge(answer: Answer, before: Partial<ProgressChange> = {}): AttemptVerdict {
  const { format = "standard", status = null, headers = {}, body = "", now = NOW, random = 0 } = answer;
  return judgeDelivery({
    format,
    url: answer.url ?? "https://discord.com/api",
    before: { ...FRESH, ...before },
    outcome: { status, headers, body },
    scheduleMs: answer.scheduleMs ?? SCHEDULE,
    now,
    random,
  });
}

function waitOf(answer: Answer, before: Partial<ProgressChange> = {}): number {
  const { kind, progress } = judge(answer, before);
  expect(kind).toBe("retry");
  return (progress.nextAttemptAt ?? 0) - NOW;
}

describe("an attempt", () => {
  test.each([200, 201, 202, 204, 299])("%i is done, and earlier failures are forgotten", (status) => {
    const before = { failures: 3, refusals: 2, firstFailureAt: NOW - 1, lastFailureAt: NOW - 1 };
    const { kind, progress } = judge({ status }, before);
    expect(kind).toBe("done");
    expect(progress).toEqual({ ...FRESH, lastSuccessAt: NOW, lastFailureAt: NOW - 1 });
  });

  test.each([null, 301, 302, 307, 308, 400, 404, 408, 425, 429, 500, 503])("%p is tried again", (status) => {
    const { kind, progress } = judge({ status });
    expect(kind).toBe("retry");
    expect(progress).toMatchObject({ failures: 1, firstFailureAt: NOW, lastFailureAt: NOW });
    expect(progress.nextAttemptAt).toBe(NOW + 5_000);
  });

  test("the waits follow the schedule, and the last one repeats", () => {
    const waits = [0, 1, 2, 3, 50].map((failures) => waitOf({ status: 500 }, { failures }));
    expect(waits).toEqual([5_000, 30_000, 300_000, 300_000, 300_000]);
  });

  test("a wait is longer by up to a tenth, never shorter", () => {
    expect(waitOf({ status: 500, random: 0.5 })).toBe(5_250);
    expect(waitOf({ status: 500, random: 1 })).toBe(5_500);
  });

  test("410 disables at once, in every format", () => {
    for (const format of ["standard", "discord", "discord-status"] as const) {
      const { kind, progress } = judge({ status: 410, format });
      expect(kind).toBe("disable");
      expect(progress.disabledReason).toBe("gone");
    }
  });

  test("five days without a success since the first failure disable, and not a moment less", () => {
    const firstFailureAt = NOW - FAILING_MAX_MS;
    expect(judge({ status: 500 }, { firstFailureAt }).kind).toBe("disable");
    expect(judge({ status: null }, { firstFailureAt }).progress.disabledReason).toBe("exhausted");
    expect(judge({ status: 500 }, { firstFailureAt: firstFailureAt + 1 }).kind).toBe("retry");
    expect(judge({ status: 200 }, { firstFailureAt }).kind).toBe("done");
  });

  test("the last attempt comes when the five days are over, and not a whole wait later", () => {
    const firstFailureAt = NOW - FAILING_MAX_MS + 1_000;
    expect(waitOf({ status: 500 }, { firstFailureAt, failures: 9 })).toBe(1_000);
  });

  test("a first failure that lies ahead, because the clock was set back, does not put the end off", () => {
    expect(judge({ status: 500 }, { firstFailureAt: NOW + 1_000_000 }).progress.firstFailureAt).toBe(NOW);
  });
});

describe("an event that the receiver refuses", () => {
  test("is set aside at the fifth 4xx, and the next is tried at once", () => {
    let progress: Partial<ProgressChange> = {};
    for (const status of [400, 404, 401, 422]) {
      const verdict = judge({ status }, progress);
      expect(verdict.kind).toBe("retry");
      progress = verdict.progress;
    }
    const verdict = judge({ status: 403 }, progress);
    expect(verdict.kind).toBe("set-aside");
    expect(verdict.progress).toMatchObject({ failures: 0, refusals: 0, nextAttemptAt: null });
    // A receiver that refuses everything has had no success, so its five days go on.
    expect(verdict.progress.firstFailureAt).toBe(NOW);
  });

  test.each([null, 302, 408, 425, 429, 500])("%p is no refusal", (status) => {
    const { kind, progress } = judge({ status }, { refusals: 4 });
    expect([kind, progress.refusals]).toEqual(["retry", 4]);
  });
});

describe("Retry-After", () => {
  test("is honoured as seconds and as a date, when it asks for more than the schedule", () => {
    expect(waitOf({ status: 503, headers: { "retry-after": "120" } })).toBe(120_000);
    expect(waitOf({ status: 429, headers: { "retry-after": new Date(NOW + 90_000).toUTCString() } })).toBe(90_000);
    expect(waitOf({ status: 301, headers: { "retry-after": "60" } })).toBe(60_000);
    expect(waitOf({ status: 503, headers: { "retry-after": "1" } })).toBe(5_000);
  });

  test("cannot put us off for more than a day", () => {
    expect(waitOf({ status: 503, headers: { "retry-after": "99999999999999" } })).toBe(RETRY_AFTER_MAX_MS);
    const far = new Date(NOW + 10 * RETRY_AFTER_MAX_MS).toUTCString();
    expect(waitOf({ status: 503, headers: { "retry-after": far } })).toBe(RETRY_AFTER_MAX_MS);
  });

  test.each([undefined, "", "soon", "-5", "1e3", "0x10", "NaN", "2026-11-16", "Sun, 99 Nov 2026 99:99:99 GMT"])(
    "%p means nothing",
    (text) => {
      expect(parseRetryAfter(text, NOW)).toBeUndefined();
    },
  );

  test("a date in the past means at once", () => {
    expect(parseRetryAfter("Wed, 21 Oct 2015 07:28:00 GMT", NOW)).toBe(0);
  });
});

describe("Discord", () => {
  const limited = (fields: object, headers = {}) => {
    return { format: "discord", status: 429, body: JSON.stringify(fields), headers } as const;
  };

  test("429 waits as told, whatever the schedule says", () => {
    expect(waitOf(limited({ message: "limited", retry_after: 0.332, global: false }))).toBe(332);
    expect(waitOf(limited({ retry_after: 64.57 }, { "retry-after": "65" }), { failures: 9 })).toBe(64_570);
    expect(waitOf(limited({}, { "x-ratelimit-reset-after": "1.5" }))).toBe(1_500);
    expect(waitOf(limited({ retry_after: "soon" }, { "retry-after": "7" }))).toBe(7_000);
    expect(waitOf({ format: "discord", status: 429, body: "<html>" })).toBe(5_000);
  });

  test("no wait that it tells is longer than ten minutes", () => {
    for (const body of [
      '{"retry_after":601}',
      '{"retry_after":86400,"global":true}',
      '{"retry_after":1e308}',
      '{"retry_after":1e999}',
    ]) {
      const { progress, globalPauseUntil } = judge({ format: "discord", status: 429, body });
      expect([body, progress.nextAttemptAt]).toEqual([body, NOW + DISCORD_WAIT_MAX_MS]);
      expect(globalPauseUntil ?? 0).toBeLessThanOrEqual(NOW + DISCORD_WAIT_MAX_MS);
    }
    for (const name of ["x-ratelimit-reset-after", "retry-after"])
      expect(waitOf(limited({}, { [name]: "86400" }))).toBe(DISCORD_WAIT_MAX_MS);
    const usedUp = { "x-ratelimit-remaining": "0", "x-ratelimit-reset-after": "9".repeat(400) };
    const done = judge({ format: "discord", status: 200, headers: usedUp });
    expect(done.progress.nextAttemptAt).toBe(NOW + DISCORD_WAIT_MAX_MS);
    // Told nothing, the webhook goes by the schedule; the others do not wait for that.
    const untold = {
      format: "discord",
      status: 429,
      body: '{"global":true}',
      scheduleMs: [7_200_000],
    } as const;
    const { progress, globalPauseUntil } = judge(untold);
    expect([progress.nextAttemptAt, globalPauseUntil]).toEqual([NOW + 7_200_000, NOW + DISCORD_WAIT_MAX_MS]);
  });

  test.each([-1, "-1", "60", "NaN", null, true, { seconds: 60 }])(
    "retry_after %p tells nothing, so the headers do, or the schedule",
    (retry_after) => {
      expect(waitOf(limited({ retry_after }))).toBe(5_000);
      expect(waitOf(limited({ retry_after }, { "retry-after": "7" }))).toBe(7_000);
    },
  );

  test("a 429 that tells no wait is not tried again at once", () => {
    for (const retry_after of [0, 0.000_1]) expect(waitOf(limited({ retry_after }))).toBe(TOLD_WAIT_MIN_MS);
  });

  test.each<[string, boolean]>([
    ["https://discord.com/api", true],
    ["https://discordapp.com/api", true],
    ["https://canary.discord.com/api", true],
    ["https://ptb.discord.com", true],
    ["https://discord.com./api", true],
    ["http://discord.com/api", false],
    ["https://discord.com:8443/api", false],
    ["https://evil.discord.com.example/api", false],
    ["https://notdiscord.com/api", false],
    ["https://discord.community/api", false],
    ["https://example.com/discord.com", false],
    ["http://127.0.0.1:9000/api", false],
  ])("a global limit from %s pauses all Discord webhooks: %p", (url, isBelieved) => {
    const { progress, globalPauseUntil } = judge({ ...limited({ retry_after: 2, global: true }), url });
    expect([progress.nextAttemptAt, globalPauseUntil]).toEqual([NOW + 2_000, isBelieved ? NOW + 2_000 : null]);
  });

  test("only a global limit pauses all Discord webhooks", () => {
    expect(judge(limited({ retry_after: 2, global: true })).globalPauseUntil).toBe(NOW + 2_000);
    expect(judge(limited({ retry_after: 2, global: false })).globalPauseUntil).toBeNull();
    expect(judge({ status: 429, body: '{"retry_after":2,"global":true}' }).globalPauseUntil).toBeNull();
  });

  test("an unknown webhook and an invalid token disable at once", () => {
    for (const format of ["discord", "discord-status"] as const) {
      const verdict = judge({ format, status: 404, body: '{"message":"Unknown Webhook","code":10015}' });
      expect(verdict.kind).toBe("disable");
      expect(verdict.progress.disabledReason).toBe("unknown_webhook");
      const refused = judge({ format, status: 401, body: '{"code":50027}' });
      expect(refused.kind).toBe("disable");
      expect(refused.progress.disabledReason).toBe("invalid_token");
    }
  });

  test("other 404 and 401 answers, and those of other receivers, are ordinary refusals", () => {
    for (const body of ["", "null", "[]", "<html>", '{"code":10003}', '{"code":"10015"}'])
      expect(judge({ format: "discord", status: 404, body }).kind).toBe("retry");
    expect(judge({ format: "discord", status: 401, body: '{"code":10015}' }).kind).toBe("retry");
    expect(judge({ status: 404, body: '{"code":10015}' }).kind).toBe("retry");
  });

  test("a success that used the last call of the window waits for the next window", () => {
    const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset-after": "0.4" };
    const verdict = judge({ format: "discord", status: 200, headers });
    expect([verdict.kind, verdict.progress.nextAttemptAt]).toEqual(["done", NOW + 400]);
    const others = { ...headers, "x-ratelimit-remaining": "1" };
    expect(judge({ format: "discord", status: 200, headers: others }).progress.nextAttemptAt).toBeNull();
    expect(judge({ status: 200, headers }).progress.nextAttemptAt).toBeNull();
  });

  test("a deleted message is recognised", () => {
    expect(isUnknownMessage({ status: 404, headers: {}, body: '{"code":10008}' })).toBe(true);
    expect(isUnknownMessage({ status: 404, headers: {}, body: '{"code":10015}' })).toBe(false);
    expect(isUnknownMessage({ status: 400, headers: {}, body: '{"code":10008}' })).toBe(false);
  });
});
