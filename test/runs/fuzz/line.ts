// Sends fuzzed requests over a kept connection and reads their answers, those of streams and sockets too.
import { gunzipSync } from "node:zlib";
import { openSocket, type RawAnswer, type RawSocket } from "../../raw-socket.ts";
import { type FuzzedRequest, toBytes } from "./fuzzed-request.ts";

/** No answer may take longer; those that may wait by design do so for less. */
const DEADLINE_MS = 10_000;
const STREAM_MS = 500;
/** A connection that was idle for longer may be closed at any time, so a request over it may be sent again. */
const IDLE_MS = 5_000;

/** A connection that is used again and again, and opened again when it was closed. */
export class Line {
  readonly #port: number;
  #socket: RawSocket | undefined;
  #usedAt = performance.now();

  constructor(port: number) {
    this.#port = port;
  }

  /** Undefined when the connection was closed without an answer. `frame` is sent after an upgrade. */
  async send(request: FuzzedRequest, frame: string | undefined): Promise<RawAnswer | undefined> {
    const mayBeClosed = performance.now() - this.#usedAt > IDLE_MS;
    const answer = await this.#sendOnce(request, frame);
    this.#usedAt = performance.now();
    return answer || !mayBeClosed ? answer : this.#sendOnce(request, frame);
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  async #sendOnce(request: FuzzedRequest, frame: string | undefined): Promise<RawAnswer | undefined> {
    if (this.#socket?.isClosed) this.close();
    const socket = this.#socket ?? (await openSocket({ port: this.#port }));
    this.#socket = socket;
    socket.write(toBytes(request));
    const isHead = request.method === "HEAD";
    const answer = await socket.readAnswer({ isHead, deadlineMs: DEADLINE_MS }).catch((error) => {
      this.close();
      throw error;
    });
    if (!answer) {
      this.close();
      return undefined;
    }
    const { headers, status } = answer;
    if (status === 101) {
      if (frame !== undefined) socket.write(maskFrame(frame));
      const body = await readSome(socket);
      this.close();
      return { ...answer, body: /"op":"(?:hello|event|bye)"/.test(body) || frame !== undefined ? "" : body };
    }
    if (headers.get("content-type") === "text/event-stream" && !isHead) {
      const body = await readSome(socket);
      this.close();
      return { ...answer, body };
    }
    if (headers.get("connection") === "close" || request.method === "CONNECT") this.close();
    return answer;
  }
}

/** What comes next on a stream. */
async function readSome(socket: RawSocket): Promise<string> {
  const until = performance.now() + STREAM_MS;
  while (socket.received === "" && !socket.isClosed && performance.now() < until) await Bun.sleep(2);
  return socket.received;
}

/** A text frame of a client, with a mask of zeros. */
function maskFrame(text: string): Uint8Array {
  const payload = Buffer.from(text);
  const { length } = payload;
  const head = length < 126 ? [0x81, 0x80 | length, 0, 0, 0, 0] : [0x81, 0xfe, length >> 8, length & 0xff, 0, 0, 0, 0];
  return Buffer.concat([Buffer.from(head), payload]);
}

/** The answer with its body unpacked. */
export function unpack(answer: RawAnswer): RawAnswer {
  if (answer.headers.get("content-encoding") !== "gzip" || answer.bytes.length === 0) return answer;
  return { ...answer, body: gunzipSync(answer.bytes).toString("utf8") };
}
