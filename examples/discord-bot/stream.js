// Follows the stream of events of Gatehouse over every end of it: restarts, cut lines, and times when it cannot be reached.
import { setTimeout as sleep } from "node:timers/promises";
import { Refused } from "./gatehouse.js";

const CONNECT_MS = 10_000;
/** A stream has a heartbeat every 15 s; one that is silent for longer has lost its connection. */
const SILENCE_MS = 45_000;
/** Waits before the next connection. Each failure in a row uses the next, the last repeats. */
const BACKOFF_MS = [500, 1_000, 2_000, 5_000, 15_000, 30_000];

/**
 * Every message from `after` on, in order: `{ id, event, data }`. Keep the `id` once you have handled a message; a message
 * that was not asked past comes again with the next connection.
 */
export async function* followStream({ url, key, after, types, signal, onProblem }) {
  let place = after;
  for (let failures = 0; !signal.aborted; failures++) {
    let waitMs = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)];
    try {
      const query = new URLSearchParams({ after: place, types: types.join(",") });
      for await (const message of readOnce(`${url}/v2/game/server/events/stream?${query}`, key, signal)) {
        failures = 0;
        waitMs = BACKOFF_MS[0];
        yield message;
        if (message.id) place = message.id;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refused) waitMs = Math.max(waitMs, error.retryAfter * 1_000);
      onProblem(error);
    }
    await sleep(waitMs, undefined, { signal }).catch(() => {});
  }
}

/** The messages of one connection, until it ends. Throws Refused when Gatehouse refuses it. */
async function* readOnce(address, key, signal) {
  const silent = new AbortController();
  const giveUp = () => silent.abort(new Error("the stream is silent"));
  let timer = setTimeout(giveUp, CONNECT_MS);
  try {
    const response = await fetch(address, {
      headers: { Authorization: `Bearer ${key}` },
      signal: AbortSignal.any([signal, silent.signal]),
    });
    if (!response.ok) {
      throw new Refused(await response.json(), Number(response.headers.get("retry-after") ?? 0));
    }
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      text += decoder.decode(value, { stream: true });
      const messages = text.split("\n\n");
      text = messages.pop();
      for (const message of messages) yield parse(message);
      timer = setTimeout(giveUp, SILENCE_MS);
    }
  } finally {
    clearTimeout(timer);
    silent.abort();
  }
}

function parse(text) {
  const message = { id: "", event: "", data: "" };
  for (const line of text.split("\n")) {
    const colon = line.indexOf(": ");
    const name = line.slice(0, colon);
    if (name in message) message[name] = line.slice(colon + 2);
  }
  return message;
}
