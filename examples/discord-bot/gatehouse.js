// A small client for Gatehouse: reads the server, sends a command and polls it until its state is final.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

export const FINAL_STATUSES = new Set(["sent", "failed", "unknown", "expired", "cancelled"]);
const SEND_ATTEMPTS = 3;
const POLL_EVERY_MS = 2_000;
const RATE_LIMITED = 5016;

/** An error answer of Gatehouse: its code, and how many seconds to wait, 0 when it did not say. */
export class Refused extends Error {
  constructor(body, retryAfter) {
    super(body.message);
    this.code = body.code;
    this.upstreamCode = body.upstream_code;
    this.retryAfter = retryAfter;
  }
}

export function createGatehouse({ url, key }) {
  async function call(path, init = {}) {
    const response = await fetch(`${url}/v2/game/server${path}`, {
      ...init,
      headers: { Authorization: `Bearer ${key}`, ...init.headers },
      signal: AbortSignal.timeout(10_000),
    });
    const body = await response.json();
    if (response.ok) return { body, age: Number(response.headers.get("age") ?? 0) };
    throw new Refused(body, Number(response.headers.get("retry-after") ?? 0));
  }

  return {
    /** The server with these sections, and the age of the data in seconds. */
    async readServer(...sections) {
      const query = sections.map((name) => `${name}=true`).join("&");
      const { body, age } = await call(query ? `?${query}` : "");
      return { ...body, age };
    },

    /** Every attempt has the same Idempotency-Key, so the command is queued only once. */
    async sendCommand(command) {
      const headers = { "Content-Type": "application/json", "Idempotency-Key": randomUUID() };
      const request = { method: "POST", headers, body: JSON.stringify({ command }) };
      for (let attempt = 1; ; attempt++) {
        try {
          return (await call("/command", request)).body;
        } catch (error) {
          const isPermanent = error instanceof Refused && error.code !== 5106 && error.code !== 5105;
          if (isPermanent || attempt === SEND_ATTEMPTS) throw error;
          await sleep(1_000 * attempt);
        }
      }
    },

    /** Resolves when the state of the command is final, or with its latest state when the time is up. */
    async followCommand(id, timeoutMs = 60_000) {
      const deadline = Date.now() + timeoutMs;
      let command = { status: "queued", position: null };
      for (;;) {
        try {
          command = (await call(`/command/${id}`)).body;
        } catch (error) {
          // Each poll counts toward the limit; waiting does not delay the command.
          if (!(error instanceof Refused && error.code === RATE_LIMITED)) throw error;
          await sleep(error.retryAfter * 1_000);
        }
        if (FINAL_STATUSES.has(command.status) || Date.now() > deadline) return command;
        await sleep(POLL_EVERY_MS);
      }
    },
  };
}
