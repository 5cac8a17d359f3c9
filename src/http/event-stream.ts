// GET /v2/game/server/events/stream, with and without the community segment, and the same for operators: events as
// Server-Sent Events.
import { isRefusal, type Refusal } from "../core/errors.ts";
import type { StreamChunk } from "../gateway/events/event-batch.ts";
import type { EventStream, StreamSink } from "../gateway/events/event-stream.ts";
import { HANDED_BYTES_MAX } from "../gateway/events/event-stream.ts";
import type { EventStreams, OpenedStream } from "../gateway/events/event-streams.ts";
import type { LimitReport } from "../gateway/keys/admit.ts";
import { answerRefusal, NOT_CONFIGURED, respond } from "./answers.ts";
import type { Call } from "./call.ts";
import type { Caller } from "./caller-steps.ts";
import { findStreamQuery, type StreamQuery } from "./event-query.ts";
import { pathIdOf, queryOf } from "./parse-request.ts";
import type { AskedStream, StreamReaders } from "./stream-readers.ts";

/** How long a reader that takes nothing may keep the socket once its stream has ended. */
const ENDING_SECONDS = 5;

export class EventStreamHandler {
  readonly #streams: EventStreams | undefined;
  readonly #readers: StreamReaders;

  /** `streams` is undefined without an archive. */
  constructor(streams: EventStreams | undefined, readers: StreamReaders) {
    this.#streams = streams;
    this.#readers = readers;
  }

  async answer(call: Call, { key, report }: Caller): Promise<Response> {
    if (!this.#streams) return answerRefusal(call, NOT_CONFIGURED, report);
    const caller = this.#readers.describe(call, call.request.headers.get("authorization"));
    return this.#answer(call, this.#streams, this.#readers.open(caller, findQuery(call), key), report);
  }

  /** The same for an operator, who may read everything and has no limit. */
  async answerOperator(call: Call): Promise<Response> {
    if (!this.#streams) return answerRefusal(call, NOT_CONFIGURED);
    return this.#answer(
      call,
      this.#streams,
      this.#readers.openOperator(pathIdOf(call), findQuery(call)),
      null,
    );
  }

  async #answer(
    call: Call,
    streams: EventStreams,
    asked: AskedStream | Refusal,
    report: LimitReport | null,
  ): Promise<Response> {
    if (isRefusal(asked)) return answerRefusal(call, asked, report);
    const { start, reader } = asked;
    if (call.request.method === "HEAD") {
      await streams.probe(start, reader);
      return respondStream(null, report);
    }
    const opened = await streams.open("sse", start, reader);
    if (isRefusal(opened)) return answerRefusal(call, opened, report);
    // Gone while the archive was asked; the runtime would never tell.
    if (call.peerAddress === "") {
      opened.cancel();
      return respondStream(null, report);
    }
    call.disableIdleTimeout();
    return respondStream(new SseSink(call, opened).body, report);
  }
}

function findQuery(call: Call): StreamQuery {
  return findStreamQuery(queryOf(call), call.request.headers.get("last-event-id"));
}

function respondStream(body: ReadableStream | null, report: LimitReport | null): Response {
  const response = respond(body, 200, report);
  response.headers.set("Content-Type", "text/event-stream");
  // nginx would otherwise collect what we send.
  response.headers.set("X-Accel-Buffering", "no");
  return response;
}

/** Writes a stream into the body of an answer. */
export class SseSink implements StreamSink {
  readonly body: ReadableStream<Uint8Array>;
  readonly #call: Call;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #stream: EventStream | undefined;
  #isOver = false;

  constructor(call: Call, opened: OpenedStream) {
    this.#call = call;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          this.#stream = opened.start(this);
        },
        pull: () => this.#stream?.drained(),
        cancel: () => {
          this.#isOver = true;
          this.#stream?.close("reader");
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: HANDED_BYTES_MAX }),
    );
  }

  get waitingBytes(): number {
    return HANDED_BYTES_MAX - (this.#controller?.desiredSize ?? HANDED_BYTES_MAX);
  }

  get isClosed(): boolean {
    return this.#isOver || this.#call.peerAddress === "";
  }

  send(chunk: StreamChunk): void {
    if (this.#isOver) return;
    try {
      this.#controller?.enqueue(chunk.encoded);
    } catch {
      // The runtime has given the body up. Other streams get the same chunk and must not suffer.
      this.#isOver = true;
    }
  }

  end(bye: StreamChunk): void {
    if (this.#isOver) return;
    this.send(bye);
    if (!this.#isOver) this.#controller?.close();
    this.#isOver = true;
    this.#call.connection.timeout(this.#call.request, ENDING_SECONDS);
  }
}
