// Writes responses: normally, delayed, byte by byte, truncated, or not at all.
import type { ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import type { Answer } from "./error-answers.ts";

const CHUNK_BYTES = 65_536;
/** The first half of the body needs this long to be sent before the connection is closed. */
const CLOSE_DELAY_MS = 20;

/** Timers that are cleared when their response is closed or the simulator stops. */
export class ResponseTimers {
  readonly #timers = new Set<ReturnType<typeof setInterval>>();

  after(response: ServerResponse, ms: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      if (!response.destroyed) run();
    }, ms);
    this.#track(response, timer);
  }

  every(response: ServerResponse, ms: number, run: () => void): void {
    this.#track(response, setInterval(run, ms));
  }

  #track(response: ServerResponse, timer: ReturnType<typeof setInterval>): void {
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

/** Announces the whole body, sends half of it and closes the connection. */
export function sendTruncated(response: ServerResponse, answer: Answer, timers: ResponseTimers): void {
  const body = Buffer.from(answer.body);
  writeHead(response, answer, body.length);
  response.write(body.subarray(0, Math.floor(body.length / 2)));
  timers.after(response, CLOSE_DELAY_MS, () => response.socket?.destroy());
}

export function sendByteByByte(response: ServerResponse, answer: Answer, ms: number, timers: ResponseTimers): void {
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

export function sendDelayed(response: ServerResponse, answer: Answer, ms: number, timers: ResponseTimers): void {
  timers.after(response, ms, () => send(response, answer));
}

export function resetConnection(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

/** Streams one JSON object of this size. Only one chunk is in memory at a time. */
export function sendHuge(response: ServerResponse, bytes: number, isGzipped: boolean): void {
  const body = Readable.from(generateHuge(bytes), { objectMode: false });
  response.writeHead(200, { "Content-Type": "application/json", ...(isGzipped ? { "Content-Encoding": "gzip" } : {}) });
  const stages = isGzipped ? [body, createGzip(), response] : [body, response];
  // Ignore the error: most clients disconnect long before the end.
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
