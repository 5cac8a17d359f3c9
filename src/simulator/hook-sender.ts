// Signs events and sends them as the game does: a probe first, then each body once and in order, except where a quirk
// applies. What is refused or lost is not sent again.
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { Quirks } from "./quirks.ts";
import type { HookEvent } from "./town.ts";

/** Events in one body. */
const BODY_EVENTS_MAX = 20;
/** Bodies that wait to be sent; beyond, the oldest are dropped. */
export const WAITING_BODIES_MAX = 500;
const POST_TIMEOUT_MS = 10_000;
const PROBE_RETRY_MS = 2_000;
/** One body in so many is sent twice, and one in so many waits for the next. */
const REPEATED_ONE_IN = 8;
const LATE_ONE_IN = 6;

/** Sends a body and resolves with the status of the answer. */
export type HookPost = (headers: Readonly<Record<string, string>>, body: string) => Promise<number>;

export function postTo(url: string): HookPost {
  return async (headers, body) => {
    const answer = await fetch(url, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json" },
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(POST_TIMEOUT_MS),
    });
    await answer.body?.cancel();
    return answer.status;
  };
}

/** The key pair of a simulator. `publicKey` is base64 of its SPKI form. */
export class HookKeys {
  readonly publicKey: string;
  readonly #privateKey: KeyObject;

  constructor() {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    this.publicKey = publicKey.export({ type: "spki", format: "der" }).toString("base64");
    this.#privateKey = privateKey;
  }

  /** The headers of a body that is sent at this time. */
  sign(body: string, nowMs: number): Record<string, string> {
    const timestamp = String(Math.floor(nowMs / 1000));
    const signature = sign(null, Buffer.from(timestamp + body), this.#privateKey);
    return { "X-Signature-Ed25519": signature.toString("hex"), "X-Signature-Timestamp": timestamp };
  }
}

export type HookSenderDeps = {
  readonly post: HookPost;
  readonly keys: HookKeys;
  readonly quirks: Quirks;
  readonly seed: number;
  readonly clock: () => number;
};

export class HookSender {
  readonly #deps: HookSenderDeps;
  readonly #bodies: string[] = [];
  /** Waits until the next body was sent. */
  #late: string | undefined;
  /** How many bodies were taken from the queue. */
  #taken = 0;
  #isProbed = false;
  #isSending = false;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  constructor(deps: HookSenderDeps) {
    this.#deps = deps;
    void this.#probe();
  }

  send(server: string, events: readonly HookEvent[]): void {
    // As in the game, an address that has not answered the probe gets nothing.
    if (!this.#isProbed) return;
    for (let place = 0; place < events.length; place += BODY_EVENTS_MAX) {
      this.#bodies.push(JSON.stringify({ server, events: events.slice(place, place + BODY_EVENTS_MAX) }));
    }
    this.#bodies.splice(0, this.#bodies.length - WAITING_BODIES_MAX);
    void this.#sendAll();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#retryTimer);
  }

  async #probe(): Promise<void> {
    const timestamp = Math.floor(this.#deps.clock() / 1000);
    const probe = { event: "WebhookProbe", timestamp, origin: "global", data: {} };
    this.#isProbed = await this.#sendOne(JSON.stringify({ server: "global", events: [probe] }));
    if (this.#isProbed || this.#isStopped) return;
    this.#retryTimer = setTimeout(() => void this.#probe(), PROBE_RETRY_MS);
    this.#retryTimer.unref();
  }

  async #sendAll(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    for (let body = this.#bodies.shift(); body !== undefined && !this.#isStopped; body = this.#bodies.shift()) {
      await this.#sendInTurn(body);
    }
    this.#isSending = false;
  }

  /** Sends this body and the late one after it, or keeps this one as the late one. */
  async #sendInTurn(body: string): Promise<void> {
    const { quirks, seed } = this.#deps;
    this.#taken++;
    const late = this.#late;
    if (late === undefined && quirks.affects("webhookUnordered", LATE_ONE_IN, seed, this.#taken)) {
      this.#late = body;
      return;
    }
    this.#late = undefined;
    await this.#sendOne(body, quirks.affects("webhookRepeated", REPEATED_ONE_IN, seed, this.#taken));
    if (late !== undefined) await this.#sendOne(late);
  }

  /** Whether the answer was 2xx. */
  async #sendOne(body: string, isRepeated = false): Promise<boolean> {
    const { post, keys, clock } = this.#deps;
    const headers = keys.sign(body, clock());
    try {
      if (isRepeated) await post(headers, body);
      const status = await post(headers, body);
      return status >= 200 && status < 300;
    } catch {
      return false;
    }
  }
}
