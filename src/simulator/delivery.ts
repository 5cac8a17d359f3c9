// How an answer reaches the caller: whole and at once, or late, in drips, cut off, or not at all.
import type { ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import type { Fault } from "./armed-faults.ts";
import type { Answer } from "./refusals.ts";

const CHUNK_BYTES = 65_536;
/** Time for the first half to leave before the connection is cut. */
const CUT_DELAY_MS = 20;

/** Hands out timers that end with the response they belong to, or with the simulator. */
export class DeliveryTimers {
  readonly #timers = new Set<ReturnType<typeof setInterval>>();

  after(response: ServerResponse, ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      if (!response.destroyed) act();
    }, ms);
    this.#keep(response, timer);
  }

  every(response: ServerResponse, ms: number, act: () => void): void {
    this.#keep(response, setInterval(act, ms));
  }

  #keep(response: ServerResponse, timer: ReturnType<typeof setInterval>): void {
    this.#timers.add(timer);
    response.once("close", () => {
      clearTimeout(timer);
      this.#timers.delete(timer);
    });
  }

  clear(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}

export function send(response: ServerResponse, answer: Answer): void {
  const body = Buffer.from(answer.body);
  writeHead(response, answer, body.length);
  response.end(body);
}

function writeHead(response: ServerResponse, { status, headers }: Answer, length: number): void {
  response.writeHead(status, { ...headers, "Content-Length": String(length) });
}

/** Sends half of what the head promised, then hangs up. */
export function sendTruncated(response: ServerResponse, answer: Answer, timers: DeliveryTimers): void {
  const body = Buffer.from(answer.body);
  writeHead(response, answer, body.length);
  response.write(body.subarray(0, Math.floor(body.length / 2)));
  timers.after(response, CUT_DELAY_MS, () => response.socket?.destroy());
}

export function sendInDrips(
  response: ServerResponse,
  answer: Answer,
  ms: number,
  timers: DeliveryTimers,
): void {
  const body = Buffer.from(answer.body);
  writeHead(response, answer, body.length);
  response.flushHeaders();
  let sent = 0;
  timers.every(response, ms, () => {
    if (response.destroyed || sent >= body.length) return;
    response.write(body.subarray(sent, ++sent));
    if (sent === body.length) response.end();
  });
}

export function sendLate(response: ServerResponse, answer: Answer, ms: number, timers: DeliveryTimers): void {
  timers.after(response, ms, () => send(response, answer));
}

export function resetConnection(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

/** Streams one JSON object of so many bytes; nothing but one chunk of it is ever held. */
export function sendHuge(response: ServerResponse, fault: Fault): void {
  const body = Readable.from(generateHuge(fault.findNumber("bytes") ?? 0), { objectMode: false });
  const isZipped = fault.isSet("gzip");
  response.writeHead(200, {
    "Content-Type": "application/json",
    ...(isZipped ? { "Content-Encoding": "gzip" } : {}),
  });
  const stages = isZipped ? [body, createGzip(), response] : [body, response];
  // Most callers hang up long before the end; that is what this fault is for.
  pipeline(stages, () => {});
}

function* generateHuge(bytes: number): Generator<Buffer> {
  const head = Buffer.from('{"Name":"');
  const tail = Buffer.from('"}');
  const filler = Buffer.alloc(CHUNK_BYTES, "a");
  yield head;
  for (let left = bytes - head.length - tail.length; left > 0; left -= CHUNK_BYTES) {
    yield left < CHUNK_BYTES ? filler.subarray(0, left) : filler;
  }
  yield tail;
}
