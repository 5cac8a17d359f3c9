// The format `standard`: one event a request, as the Standard Webhooks specification says, signed with HMAC-SHA256.
import { writeCursor } from "../events/cursor.ts";
import { typeOfKind } from "../events/event-types.ts";
import { writeEvent } from "../events/stream-frames.ts";
import type { LedgerEvent } from "../ports/archive.ts";

export const WEBHOOK_SECRET_BYTES = 32;
const SECRET_PREFIX = "whsec_";
const SECRET_SHAPE = /^whsec_([A-Za-z0-9+/]{43}=)$/;

/** `id` is the same over retries; `body` must be sent as exactly this text in UTF-8, because it is signed. */
export type StandardMessage = { readonly id: string; readonly body: string };

export type StandardHeaders = {
  readonly "content-type": "application/json";
  readonly "webhook-id": string;
  readonly "webhook-timestamp": string;
  readonly "webhook-signature": string;
};

/** `random` has WEBHOOK_SECRET_BYTES bytes. */
export function writeWebhookSecret(random: Uint8Array): string {
  if (random.length !== WEBHOOK_SECRET_BYTES) throw new Error("a webhook's secret has 32 bytes");
  return `${SECRET_PREFIX}${Buffer.from(random).toString("base64")}`;
}

export function toStandardMessage(serverId: string, event: LedgerEvent): StandardMessage {
  const type = typeOfKind(event.kind);
  // Put together as text, so that the numbers in the event stay exact.
  const body = `{"type":"${type}","timestamp":"${toIsoTime(event.at)}","data":${writeEvent(serverId, event)}}`;
  return { id: writeCursor(serverId, event), body };
}

/** What an operator's test sends: no event, so its type is none of an event. */
export function toStandardTest(id: string, webhookId: string, serverId: string, now: number): StandardMessage {
  const data = { webhook_id: webhookId, server_id: serverId };
  return { id, body: JSON.stringify({ type: "webhook.test", timestamp: toIsoTime(now), data }) };
}

/** `now` is the time of the attempt. `secrets`: those that sign, newest first. */
export function signStandardMessage(
  { id, body }: StandardMessage,
  secrets: readonly string[],
  now: number,
): StandardHeaders {
  const timestamp = String(Math.floor(now / 1000));
  const signatures = secrets.map((secret) => `v1,${sign(secret, `${id}.${timestamp}.${body}`)}`);
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}

function sign(secret: string, text: string): string {
  const key = SECRET_SHAPE.exec(secret)?.[1];
  // The message has no part of it.
  if (key === undefined) throw new Error("the secret of a webhook is damaged");
  return new Bun.CryptoHasher("sha256", Buffer.from(key, "base64")).update(text).digest("base64");
}

function toIsoTime(ms: number): string {
  return new Date(ms).toISOString();
}
