// Reads the answer of a receiver from the bytes of its connection. It takes at most ANSWER_BYTES_MAX of them, interim answers,
// headers and chunk sizes included: what a receiver can cost must not depend on the receiver.
import { ANSWER_BYTES_MAX, INTERIM_ANSWERS_MAX, type PostOutcome } from "../core/ports/post.ts";

/** Headers that say when to send again. */
const KEPT_HEADERS = ["retry-after", "x-ratelimit-remaining", "x-ratelimit-reset-after"] as const;
const VERSION = "HTTP/1.";
const STATUS_LINE = /^HTTP\/1\.[01] ([1-9]\d\d)(?: |$)/;
const LINE_END = "\r\n";
const HEAD_END = "\r\n\r\n";
const SWITCHING_PROTOCOLS = 101;
const NO_BODY: ReadonlySet<number> = new Set([204, 304]);

export type Answer = Pick<PostOutcome, "status" | "headers" | "body">;
/** `invalid`: it is not HTTP, or too much came before the final status. */
export type ReadState = "more" | "done" | "invalid";

type Head = { readonly status: number; readonly headers: ReadonlyMap<string, string> };

export class AnswerReader {
  readonly #bytes = Buffer.alloc(ANSWER_BYTES_MAX);
  #size = 0;
  /** Where the next head, the body or its next chunk begins. */
  #offset = 0;
  #interimAnswers = 0;
  #isInvalid = false;
  #head: Head | undefined;
  readonly #chunks: Buffer[] = [];

  /** How many bytes were taken. */
  get size(): number {
    return this.#size;
  }

  /** Whether what came does not begin like HTTP. */
  get isForeign(): boolean {
    const start = this.#text(this.#offset, Math.min(this.#size, this.#offset + VERSION.length));
    return !this.#head && !VERSION.startsWith(start);
  }

  /** What does not fit any more is left. */
  take(chunk: Uint8Array): ReadState {
    const part = chunk.subarray(0, ANSWER_BYTES_MAX - this.#size);
    this.#bytes.set(part, this.#size);
    this.#size += part.length;
    const state = this.#read();
    this.#isInvalid ||= state === "invalid";
    if (state !== "more" || this.#size < ANSWER_BYTES_MAX) return state;
    return this.find() ? "done" : "invalid";
  }

  /** The answer as far as it came; undefined before its final status. A head or a body that does not end is cut. */
  find(): Answer | undefined {
    if (this.#isInvalid) return undefined;
    const head = this.#head ?? this.#parseHead(this.#bytes.lastIndexOf(LINE_END, this.#size - 1));
    if (!head || head.status < 200) return undefined;
    const { status, headers } = head;
    const kept = Object.fromEntries(KEPT_HEADERS.map((name) => [name, headers.get(name)]));
    return { status, headers: kept, body: this.#head ? this.#readBody(headers) : "" };
  }

  #read(): ReadState {
    while (!this.#head) {
      if (this.isForeign) return "invalid";
      const end = this.#indexOf(HEAD_END);
      if (end < 0) return "more";
      const head = this.#parseHead(end);
      if (!head || head.status === SWITCHING_PROTOCOLS) return "invalid";
      this.#offset = end + HEAD_END.length;
      if (head.status >= 200) this.#head = head;
      else if (++this.#interimAnswers > INTERIM_ANSWERS_MAX) return "invalid";
    }
    return this.#isComplete(this.#head) ? "done" : "more";
  }

  /** `end`: where the last whole line of the head ends. */
  #parseHead(end: number): Head | undefined {
    const [first = "", ...lines] = end < this.#offset ? [] : this.#text(this.#offset, end).split(LINE_END);
    const status = STATUS_LINE.exec(first)?.[1];
    if (status === undefined) return undefined;
    const headers = new Map<string, string>();
    for (const line of lines) {
      const colon = line.indexOf(":");
      const name = line.slice(0, colon).toLowerCase();
      if (!headers.has(name)) headers.set(name, line.slice(colon + 1).trim());
    }
    return { status: Number(status), headers };
  }

  #isComplete({ status, headers }: Head): boolean {
    if (NO_BODY.has(status)) return true;
    return isChunked(headers) ? this.#readChunks() : this.#size - this.#offset >= lengthOf(headers);
  }

  /** Moves past the chunks that are complete. True at the last one: trailers are not read. */
  #readChunks(): boolean {
    for (;;) {
      const chunk = this.#findChunk();
      if (!chunk) return false;
      // A size that is none ends the body too: nothing after it can be understood.
      if (!(chunk.length > 0)) return true;
      const end = chunk.begin + chunk.length + LINE_END.length;
      if (this.#size < end) return false;
      this.#chunks.push(this.#bytes.subarray(chunk.begin, chunk.begin + chunk.length));
      this.#offset = end;
    }
  }

  #findChunk(): { readonly begin: number; readonly length: number } | undefined {
    const end = this.#indexOf(LINE_END);
    if (end < 0) return undefined;
    const length = Number.parseInt(this.#text(this.#offset, end), 16);
    return { begin: end + LINE_END.length, length };
  }

  #readBody(headers: Head["headers"]): string {
    const received = this.#bytes.subarray(0, this.#size);
    if (!isChunked(headers)) return received.subarray(this.#offset, this.#offset + lengthOf(headers)).toString("utf8");
    const { begin = 0, length = 0 } = this.#findChunk() ?? {};
    const cut = length > 0 ? [received.subarray(begin, begin + length)] : [];
    return Buffer.concat([...this.#chunks, ...cut]).toString("utf8");
  }

  #indexOf(text: string): number {
    const index = this.#bytes.indexOf(text, this.#offset);
    return index + text.length <= this.#size ? index : -1;
  }

  #text(begin: number, end: number): string {
    return this.#bytes.toString("latin1", begin, end);
  }
}

function isChunked(headers: Head["headers"]): boolean {
  return /(?:^|,)\s*chunked$/i.test(headers.get("transfer-encoding") ?? "");
}

/** Infinity when the body ends with the connection. */
function lengthOf(headers: Head["headers"]): number {
  const length = headers.get("content-length") ?? "";
  return /^\d+$/.test(length) ? Number(length) : Number.POSITIVE_INFINITY;
}
