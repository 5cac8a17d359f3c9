// A small client for Gatehouse: reads the server, sends a command and follows it to its end.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

const FINAL = new Set(["sent", "failed", "unknown", "expired", "cancelled"]);
const SEND_ATTEMPTS = 3;
const LOOK_EVERY_MS = 2_000;
const RATE_LIMITED = 5016;

/** What Gatehouse refused, with its code and how many seconds to wait, if it said so. */
export class Refused extends Error {
  constructor(body, retryAfter) {
    super(body.message);
    this.code = body.code;
    this.upstreamCode = body.upstream_code;
    this.retryAfter = retryAfter;
  }
}

export function createGatehouse({ url, key }) {
  async function ask(path, init = {}) {
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
    /** The server with these sections, and how many seconds ago that was true. */
    async readServer(...sections) {
      const query = sections.map((name) => `${name}=true`).join("&");
      const { body, age } = await ask(query ? `?${query}` : "");
      return { ...body, age };
    },

    /** The same Idempotency-Key for each attempt: however often it is sent, the command is queued once. */
    async sendCommand(command) {
      const headers = { "Content-Type": "application/json", "Idempotency-Key": randomUUID() };
      const request = { method: "POST", headers, body: JSON.stringify({ command }) };
      for (let attempt = 1; ; attempt++) {
        try {
          return (await ask("/command", request)).body;
        } catch (error) {
          const isLasting = error instanceof Refused && error.code !== 5106 && error.code !== 5105;
          if (isLasting || attempt === SEND_ATTEMPTS) throw error;
          await sleep(1_000 * attempt);
        }
      }
    },

    /** The command in its last state, or in the one it is in when the time is up. */
    async followCommand(id, patienceMs = 60_000) {
      const deadline = Date.now() + patienceMs;
      let command = { status: "queued", position: null };
      for (;;) {
        try {
          command = (await ask(`/command/${id}`)).body;
        } catch (error) {
          // Each look counts toward the limit. The command goes its way meanwhile.
          if (!(error instanceof Refused && error.code === RATE_LIMITED)) throw error;
          await sleep(error.retryAfter * 1_000);
        }
        if (FINAL.has(command.status) || Date.now() > deadline) return command;
        await sleep(LOOK_EVERY_MS);
      }
    },
  };
}
