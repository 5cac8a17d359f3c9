// GET /v2/game/server/events/stream, with and without the community segment, and the same for operators: events as
// Server-Sent Events.
import Type from "typebox";
import { isRefusal, type Refusal } from "../../core/errors.ts";
import type { StreamChunk } from "../../gateway/events/event-batch.ts";
import { type EventStream, HANDED_BYTES_MAX, type StreamSink } from "../../gateway/events/event-stream.ts";
import type { EventStreams, OpenedStream } from "../../gateway/events/event-streams.ts";
import type { LimitReport } from "../../gateway/keys/admit.ts";
import { answerRefusal, NOT_CONFIGURED, respond } from "../answers.ts";
import type { Call } from "../call.ts";
import { pathIdOf } from "../requests/parse-request.ts";
import { queryOf } from "../requests/query-fields.ts";
import type { Caller, CallerOperation } from "../steps/caller-steps.ts";
import type { AdminCaller, OperatorOperation } from "../steps/operator-step.ts";
import { findStreamQuery, STREAM_PARAMETERS, type StreamQuery } from "./event-query.ts";
import { EVENT_EXAMPLE } from "./events.ts";
import type { AskedStream, StreamReaders } from "./stream-readers.ts";

type Deps = { readonly eventStream: EventStreamHandler };

/** How long a reader that takes nothing may keep the socket once its stream has ended. */
const ENDING_SECONDS = 5;

const HELLO_ID = "AAAAAAGJh1xuK2m3x5XmQm1c";
const STREAM = [
  "retry: 2000",
  `id: ${HELLO_ID}`,
  "event: hello",
  `data: {"cursor":"${HELLO_ID}","server_time":1794722198002}`,
  "",
  `id: ${EVENT_EXAMPLE.id}`,
  "event: player.joined",
  `data: ${JSON.stringify(EVENT_EXAMPLE)}`,
  "",
  "",
].join("\n");

export const streamEvents: CallerOperation<Deps> = {
  id: "streamEvents",
  tag: "Events",
  summary: "Follow what happens, as Server-Sent Events",
  description:
    "Each message has an `id` (the cursor that you have reached), an `event` (the type) and `data` (the whole event, in one line). First comes `hello` with `cursor` and `server_time`; after 15 s without a message `heartbeat`, whose `id` moves past what the filter left out. Keep the `id` once you have handled a message, and connect again with it: nothing is lost over a restart, a deployment or a slow line. A cursor that is too old is no error here: a `gap` with reason `retention` comes first, then the oldest kept event. `bye` says why the stream ends: `code` is the error that you would get now, `reason` is `restart` or `slow`. Opening it counts as one request; at most 20 streams and waiting reads of a key are open on one instance. A reader that takes nothing for 30 s, or for which 1 MiB waits, is cut. The token comes in the header, never in the query: in a browser use fetch, not EventSource.",
  parameters: STREAM_PARAMETERS,
  answers: {
    200: {
      description: "Messages, without an end.",
      headers: ["CacheControl", "AccelBuffering"],
      schema: Type.String(),
      mediaType: "text/event-stream",
      examples: { stream: { summary: "Somebody joined", value: STREAM } },
    },
  },
  errors: ["sectionForbidden", "invalidRequest", "tooManyStreams", "notConfigured"],
  answer: ({ eventStream }, call, caller) => eventStream.answer(call, caller),
};

export const streamServerEvents: OperatorOperation<Deps> = {
  ...streamEvents,
  id: "streamServerEvents",
  tag: "Game servers",
  summary: "Follow what happens on a game server, as Server-Sent Events",
  description:
    "What a key with all sections gets, with the same parameters and messages. Counts against no key. At most 100 streams and waiting reads of all operators are open on one instance. It ends with `bye` when the server is deleted.",
  errors: ["notFound", "invalidRequest", "tooManyStreams", "notConfigured"],
  answer: ({ eventStream }, call, caller) => eventStream.answerOperator(call, caller),
};

export class EventStreamHandler {
  /** `streams` is undefined without an archive. */
  constructor(
    private readonly streams: EventStreams | undefined,
    private readonly readers: StreamReaders,
  ) {}

  async answer(call: Call, { key, report }: Caller): Promise<Response> {
    if (!this.streams) return answerRefusal(call, NOT_CONFIGURED, report);
    const caller = this.readers.describe(call, call.request.headers.get("authorization"));
    return this.#answer(call, this.streams, this.readers.open(caller, findQuery(call), key), report);
  }

  /** The same for an operator, who may read everything and has no limit. */
  async answerOperator(call: Call, caller: AdminCaller): Promise<Response> {
    if (!this.streams) return answerRefusal(call, NOT_CONFIGURED);
    const asked = this.readers.openOperator(pathIdOf(call), findQuery(call), caller);
    return this.#answer(call, this.streams, asked, null);
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
