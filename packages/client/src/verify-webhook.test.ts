import { describe, expect, test } from "bun:test";
import { signStandardMessage, toStandardTest, writeWebhookSecret } from "../../../src/core/webhooks/standard.ts";
import { GatehouseError } from "./gatehouse-error.ts";
import { verifyWebhook } from "./verify-webhook.ts";

const NOW = 1_800_000_000_000;
const OLD = writeWebhookSecret(new Uint8Array(32).fill(1));
const NEW = writeWebhookSecret(new Uint8Array(32).fill(2));
const message = toStandardTest("msg_1", "hook_a", "srv_a", NOW);

function sign(secrets: readonly string[], signed = message) {
  return { headers: signStandardMessage(signed, secrets, NOW), body: signed.body, now: NOW };
}

async function refusalOf(request: Parameters<typeof verifyWebhook>[0]): Promise<unknown> {
  const error = await verifyWebhook(request).catch((error) => error);
  expect(error).toBeInstanceOf(GatehouseError);
  return (error as GatehouseError).code;
}

describe("a message of Gatehouse", () => {
  test("is accepted as text or bytes, with either kind of headers", async () => {
    const { headers, body } = sign([NEW]);
    const expected = {
      id: "msg_1",
      type: "webhook.test",
      data: { webhook_id: "hook_a", server_id: "srv_a" },
    };
    for (const own of [headers, new Headers(headers)]) {
      const bytes = new TextEncoder().encode(body);
      for (const each of [body, bytes, bytes.buffer]) {
        expect(await verifyWebhook({ secret: NEW, headers: own, body: each, now: NOW })).toMatchObject(expected);
      }
    }
  });

  test("keeps its integers exact", async () => {
    const body = '{"type":"queue.changed","timestamp":"x","data":{"data":{"Queue":[1234567890123456789]}}}';
    const verified: unknown = await verifyWebhook({ secret: NEW, ...sign([NEW], { id: "a", body }) });
    expect(verified).toMatchObject({ id: "a", data: { data: { Queue: [1234567890123456789n] } } });
  });

  test("is accepted during a rotation by who knows either secret, or both", async () => {
    const signed = sign([NEW, OLD]);
    for (const secret of [OLD, NEW, [OLD, NEW]]) {
      expect((await verifyWebhook({ secret, ...signed })).id).toBe("msg_1");
    }
    expect((await verifyWebhook({ secret: [OLD, NEW], ...sign([NEW]) })).id).toBe("msg_1");
  });
});

describe("a message is refused with 5111", () => {
  test("when the secret, the body, the id or the time is another", async () => {
    const { headers, body, now } = sign([NEW]);
    expect(await refusalOf({ secret: OLD, headers, body, now })).toBe(5111);
    expect(await refusalOf({ secret: NEW, headers, body: `${body} `, now })).toBe(5111);
    expect(await refusalOf({ secret: NEW, headers: { ...headers, "webhook-id": "msg_2" }, body, now })).toBe(5111);
    const later = { ...headers, "webhook-timestamp": String(NOW / 1000 + 1) };
    expect(await refusalOf({ secret: NEW, headers: later, body, now })).toBe(5111);
  });

  test("when it is further than the tolerance from now", async () => {
    const signed = sign([NEW]);
    for (const offMs of [301_000, -301_000]) {
      expect(await refusalOf({ secret: NEW, ...signed, now: NOW + offMs })).toBe(5111);
    }
    expect((await verifyWebhook({ secret: NEW, ...signed, now: NOW + 300_000 })).id).toBe("msg_1");
    expect(await refusalOf({ secret: NEW, ...signed, now: NOW + 11_000, toleranceSeconds: 10 })).toBe(5111);
    expect(await refusalOf({ secret: NEW, ...signed, toleranceSeconds: Number.NaN })).toBe(5111);
  });

  test("when a header is missing, given twice, damaged or huge", async () => {
    const { headers, body, now } = sign([NEW]);
    const signature = headers["webhook-signature"];
    for (const changed of [
      { "webhook-id": undefined },
      { "webhook-timestamp": undefined },
      { "webhook-timestamp": "1e9" },
      { "webhook-signature": undefined },
      { "webhook-signature": "" },
      { "webhook-signature": "v1,%%%" },
      { "webhook-signature": "v1," },
      { "webhook-signature": signature.replace("v1,", "v2,") },
      { "webhook-signature": [signature, signature] },
      { "webhook-signature": `${"v1,AAAA ".repeat(10_000)}${signature}` },
    ]) {
      expect(await refusalOf({ secret: NEW, headers: { ...headers, ...changed }, body, now })).toBe(5111);
    }
  });
});

test("a secret that is none is the caller's mistake, and is not repeated in the message", async () => {
  const error = (await verifyWebhook({ secret: "not a secret!", ...sign([NEW]) }).catch((error) => error)) as Error;
  expect(error).toBeInstanceOf(TypeError);
  expect(error.message).not.toContain("not a secret");
});

test.each([
  ["a secret that is not set", { secret: undefined }, /^secret must be/],
  ["a body that was parsed", { body: JSON.parse(message.body) }, /^body must be/],
])("%s is the caller's mistake, and the message says so", async (_, mistake, words) => {
  const request = { secret: NEW, ...sign([NEW]), ...mistake } as Parameters<typeof verifyWebhook>[0];
  const error = (await verifyWebhook(request).catch((error) => error)) as Error;
  expect([error.name, error.message]).toEqual(["TypeError", expect.stringMatching(words)]);
});
