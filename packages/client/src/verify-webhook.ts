// Checks that a webhook comes from Gatehouse, as the Standard Webhooks specification says. With WebCrypto, which Node, Bun, Deno
// and browsers have, and which compares signatures in constant time.
import { parseExactJson } from "./exact-json.ts";
import type { GameEvent } from "./game-event.ts";
import { GatehouseError, isObject } from "./gatehouse-error.ts";
import type { EventType } from "./wire-types.ts";

const TOLERANCE_DEFAULT_SECONDS = 300;
/** During a rotation there are two. */
const SIGNATURES_MAX = 10;
const HEADER_CHARS_MAX = 2_000;
const INVALID_SIGNATURE = 5111;

type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

export type WebhookRequest = {
  /** `whsec_…`; several while you change from one to another. */
  readonly secret: string | readonly string[];
  /** Those of the request: a Headers object, or an object with lower-case names as Node has it. */
  readonly headers: { get(name: string): string | null } | HeaderRecord;
  /** The body as it came, not parsed and not changed. */
  readonly body: string | Uint8Array | ArrayBuffer;
  /** How far the time of the message may be from now; 300 by default. */
  readonly toleranceSeconds?: number | undefined;
  /** Epoch milliseconds; the machine's clock by default. */
  readonly now?: number | undefined;
};

/** `type` tells what `data.data` is. `id` is the same when the message is sent again: handle it once. */
export type WebhookMessage =
  | {
      readonly [T in EventType]: {
        readonly id: string;
        readonly type: T;
        readonly timestamp: string;
        readonly data: GameEvent<T>;
      };
    }[EventType]
  | {
      readonly id: string;
      readonly type: "webhook.test";
      readonly timestamp: string;
      readonly data: { readonly webhook_id: string; readonly server_id: string };
    };

/**
 * Throws GatehouseError with code 5111 and status 401 for a message that is not from Gatehouse, or too old, and TypeError for
 * a bad secret or a body that was parsed.
 */
export async function verifyWebhook(request: WebhookRequest): Promise<WebhookMessage> {
  const { secret, headers, body, toleranceSeconds = TOLERANCE_DEFAULT_SECONDS, now = Date.now() } = request;
  const id = readHeader(headers, "webhook-id");
  const timestamp = readHeader(headers, "webhook-timestamp");
  const signatures = parseSignatures(readHeader(headers, "webhook-signature"));
  if (id === "" || !/^\d{1,12}$/.test(timestamp)) throw refuse("a header is missing or damaged");
  // In this form it also refuses when a number of the caller's is NaN.
  if (!(Math.abs(now / 1000 - Number(timestamp)) <= toleranceSeconds)) throw refuse("it is too old or too new");
  const bytes = toBytes(body);
  const signed = concat(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const keys = await Promise.all([secret].flat().map(importKey));
  const checks = keys.flatMap((key) => signatures.map((each) => crypto.subtle.verify("HMAC", key, each, signed)));
  if (!(await Promise.all(checks)).includes(true)) throw refuse("no signature fits");
  const message = parseMessage(new TextDecoder().decode(bytes));
  return { ...message, id } as WebhookMessage;
}

function readHeader(headers: WebhookRequest["headers"], name: string): string {
  const value = isHeaders(headers) ? headers.get(name) : headers[name];
  return typeof value === "string" && value.length <= HEADER_CHARS_MAX ? value : "";
}

function isHeaders(headers: WebhookRequest["headers"]): headers is { get(name: string): string | null } {
  return typeof headers.get === "function";
}

/** Signatures of other versions than v1 are ignored, as the specification says. */
function parseSignatures(header: string): Uint8Array<ArrayBuffer>[] {
  const texts = header.split(" ").filter((text) => text.startsWith("v1,"));
  return texts.slice(0, SIGNATURES_MAX).flatMap((text) => decodeBase64(text.slice(3)) ?? []);
}

function toBytes(body: WebhookRequest["body"]): Uint8Array {
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (body instanceof Uint8Array) return body;
  throw new TypeError("body must be the body as it came, not parsed");
}

function importKey(secret: string): Promise<CryptoKey> {
  const bytes = decodeBase64(String(secret ?? "").replace(/^whsec_/, ""));
  // The message has no part of it.
  if (!bytes || bytes.length === 0) throw new TypeError("secret must be the secret of a webhook, whsec_…");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

function parseMessage(text: string): Readonly<Record<string, unknown>> {
  const message = parseExactJson(text);
  if (!isObject(message)) throw refuse("the body is no message");
  return message;
}

function refuse(reason: string): GatehouseError {
  return new GatehouseError(`invalid_signature: ${reason}`, { code: INVALID_SIGNATURE, status: 401 });
}
