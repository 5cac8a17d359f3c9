// Bodies and signatures that any receiver of Standard Webhooks accepts.
import { describe, expect, test } from "bun:test";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { writeCursor } from "../events/cursor.ts";
import { toEventKind } from "../events/event-types.ts";
import type { LedgerEvent } from "../ports/archive.ts";
import { signStandardMessage, toStandardMessage, toStandardTest, writeWebhookSecret } from "./standard.ts";

const SECRET = writeWebhookSecret(new Uint8Array(32).fill(7));
const OLD_SECRET = writeWebhookSecret(new Uint8Array(32).fill(8));
const EVENT: LedgerEvent = {
  number: 12,
  mark: 34,
  kind: toEventKind("player.killed"),
  at: 1_704_614_400_000,
  seenAt: 1_704_614_403_217,
  source: "log",
  isBackfill: false,
  data: '{"Killed":"Имя \\"x\\" 🙂:12345678901234567890","Timestamp":1704614400,"Big":12345678901234567890,"Killer":"B:2"}',
  meta: null,
};

/** The package looks at the clock, so messages are signed for the time at which the test runs. */
function verify(secret: string, body: string, headers: Readonly<Record<string, string>>): unknown {
  return new Webhook(secret).verify(body, { ...headers });
}

describe("a delivery in the format standard", () => {
  const message = toStandardMessage("srv_a", EVENT);

  test("is accepted by the package standardwebhooks, and its body is as promised", () => {
    const headers = signStandardMessage(message, [SECRET], Date.now());
    expect(verify(SECRET, message.body, headers)).toMatchObject({
      type: "player.killed",
      timestamp: "2024-01-07T08:00:00.000Z",
      data: { id: writeCursor("srv_a", EVENT), type: "player.killed", at: EVENT.at, source: "log" },
    });
    expect(headers["webhook-id"]).toBe(writeCursor("srv_a", EVENT));
  });

  test("keeps integers that a double cannot hold", () => {
    expect(message.body).toContain('"Big":12345678901234567890');
  });

  test("is accepted with either secret during a rotation, the newest signature first", () => {
    const now = Date.now();
    const headers = signStandardMessage(message, [SECRET, OLD_SECRET], now);
    verify(SECRET, message.body, headers);
    verify(OLD_SECRET, message.body, headers);
    const [newest, oldest] = headers["webhook-signature"].split(" ");
    expect(newest).toBe(signStandardMessage(message, [SECRET], now)["webhook-signature"]);
    expect(oldest).toBe(signStandardMessage(message, [OLD_SECRET], now)["webhook-signature"]);
  });

  test("is refused after the rotation, and when id, time or body were changed", () => {
    const headers = signStandardMessage(message, [SECRET], Date.now());
    const later = String(Number(headers["webhook-timestamp"]) + 1);
    const refused: [string, string, Readonly<Record<string, string>>][] = [
      [OLD_SECRET, message.body, headers],
      [SECRET, message.body.replace("B:2", "B:3"), headers],
      [SECRET, message.body, { ...headers, "webhook-id": "other" }],
      [SECRET, message.body, { ...headers, "webhook-timestamp": later }],
    ];
    for (const [secret, body, sent] of refused)
      expect(() => verify(secret, body, sent)).toThrow(WebhookVerificationError);
  });

  test("has the seconds of the attempt, and keeps its id over retries", () => {
    const [first, second] = [1_000_999, 2_000_000].map((now) => signStandardMessage(message, [SECRET], now));
    expect([first?.["webhook-timestamp"], second?.["webhook-timestamp"]]).toEqual(["1000", "2000"]);
    expect(first?.["webhook-id"]).toBe(second?.["webhook-id"] ?? "");
  });

  test("a test is signed like an event and is none", () => {
    const sent = toStandardTest("test_1", "hook_a", "srv_a", 0);
    expect(verify(SECRET, sent.body, signStandardMessage(sent, [SECRET], Date.now()))).toEqual({
      type: "webhook.test",
      timestamp: "1970-01-01T00:00:00.000Z",
      data: { webhook_id: "hook_a", server_id: "srv_a" },
    });
  });

  test("a damaged secret is an error that does not show it", () => {
    expect(() => signStandardMessage(message, ["whsec_abc"], 0)).toThrow(/^the secret of a webhook is damaged$/);
  });
});
