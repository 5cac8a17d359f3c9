// GET /v2/game/server/events/socket, with and without the community segment: events over a WebSocket. The token comes with
// the request, or in the first frame.
import { networkOf } from "../../core/address.ts";
import { ERRORS, isRefusal, type Refusal, refuse, refuseFor, StoreUnavailable } from "../../core/errors.ts";
import { type StreamEnd, writeBye } from "../../core/events/stream-frames.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { SleepUntilWoken } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import { Slots } from "../../core/slots.ts";
import type { StreamChunk } from "../../gateway/events/event-batch.ts";
import type { EventStream, StreamSink } from "../../gateway/events/event-stream.ts";
import type { EventStreams, OpenedStream } from "../../gateway/events/event-streams.ts";
import { answerRefusal, NOT_CONFIGURED, respond } from "../answers.ts";
import type { Call, Socket, SocketHandler } from "../call.ts";
import type { OpenOperation } from "../operation.ts";
import { queryOf } from "../requests/query-fields.ts";
import { type Caller, type CallerSteps, COUNTED_ERRORS, READING, type StreamCaller } from "../steps/caller-steps.ts";
import { findStreamQuery, STREAM_PARAMETERS, type StreamQuery } from "./event-query.ts";
import { streamEvents } from "./event-stream.ts";
import type { StreamReaders } from "./stream-readers.ts";

/** How long a client may take to send its token. */
export const AUTH_MS = 10_000;
/** Sockets of this instance whose client has not sent its token yet. */
export const GUESTS_MAX = 1_000;
/** Of one client address, so that it cannot shut out the others. */
export const GUESTS_PER_ADDRESS_MAX = 50;
/** How long a socket that ends may take to send what it was given. */
const ENDING_MS = 500;
/** The same for a slow reader, which may come back to reading. */
const SLOW_ENDING_MS = 5_000;

const UPGRADE_REQUIRED = refuse(
  ERRORS.upgradeRequired,
  { details: { Upgrade: "must be websocket" } },
  { Upgrade: "websocket", Connection: "Upgrade" },
);
/** The runtime would answer other versions without a body. */
const WRONG_VERSION = refuse(
  ERRORS.upgradeRequired,
  { details: { "Sec-WebSocket-Version": "must be 13" } },
  { ...UPGRADE_REQUIRED.headers, "Sec-WebSocket-Version": "13" },
);
const TOO_MANY_GUESTS = refuseFor(ERRORS.unavailable, 5);

const CLOSE = { refused: 4001, notAllowed: 1003, restart: 1012, slow: 1013 } as const;

export type EventSocketParts = {
  /** Undefined without an archive. */
  readonly streams: EventStreams | undefined;
  readonly readers: StreamReaders;
  readonly callerSteps: CallerSteps;
  readonly pause: SleepUntilWoken;
  readonly log: Pick<Log, "error">;
  /** Called when a token was sent in a frame, with the client's address and the token's refusal, if there was one. */
  readonly observeToken: (call: Call, address: string, refusal: Refusal | undefined) => void;
};

/** Takes the steps of the caller by itself: the token may come in the first frame. */
export const openEventSocket: OpenOperation<{ readonly eventSocket: EventSocketHandler }> = {
  id: "openEventSocket",
  tag: "Events",
  summary: "Follow what happens, over a WebSocket",
  description:
    'The same as the stream, in JSON text frames: `{"op":"hello","cursor","server_time"}`, `{"op":"event","event"}`, `{"op":"heartbeat","cursor"}`, `{"op":"bye","code"}` or `{"op":"bye","reason"}`. Send the token in the Authorization header, or, where that is not possible, within 10 s as the first and only frame `{"op":"auth","token","after","types"}` (`after` and `types` are optional, and win over the query; `types` may be a list of names too). A refusal is an ordinary answer before the upgrade; after a token in a frame it is `bye` with the code, and close 4001. Close codes: 4001 refused, or the key may not go on; 1012 restart; 1013 too slow; 1003 you sent something else; 1009 a frame over 4 KiB. At most 1,000 sockets of an instance wait for their token, and 50 of one address (of one /64 for IPv6); then 503 with code 5106.',
  security: ["apiKey", "optional"],
  isCounted: true,
  parameters: STREAM_PARAMETERS,
  answers: {
    101: {
      description: "The frames follow. Without a token the request is not counted yet.",
      headers: ["CacheControl", "Upgrade"],
    },
  },
  errors: [...COUNTED_ERRORS, ...(streamEvents.errors ?? []), "upgradeRequired"],
  answer: ({ eventSocket }, call) => eventSocket.answer(call),
};

export class EventSocketHandler {
  readonly #guests = new Set<EventSocket>();
  readonly #guestsOfAddresses = new Slots();
  #isStopped = false;

  constructor(private readonly parts: EventSocketParts) {}

  /** Sockets whose client has not sent its token yet. */
  get guests(): number {
    return this.#guests.size;
  }

  answer(call: Call): MaybePromise<Response> {
    const { headers, method } = call.request;
    if (method !== "GET" || headers.get("upgrade")?.toLowerCase() !== "websocket")
      return answerRefusal(call, UPGRADE_REQUIRED);
    if (headers.get("sec-websocket-version") !== "13") return answerRefusal(call, WRONG_VERSION);
    if (headers.get("authorization") === null) return this.#openForGuest(call);
    return this.parts.callerSteps.authenticate(call, READING, (_, caller) => this.#openForCaller(call, caller));
  }

  /** Ends the sockets whose client has not sent its token yet, also those that come from now on. */
  stop(): void {
    this.#isStopped = true;
    for (const guest of [...this.#guests]) guest.finish({ reason: "restart" });
  }

  async #openForCaller(call: Call, { key, report }: Caller): Promise<Response> {
    const { streams, readers } = this.parts;
    if (!streams) return answerRefusal(call, NOT_CONFIGURED, report);
    const { headers } = call.request;
    const query = findStreamQuery(queryOf(call), headers.get("last-event-id"));
    const asked = readers.open(readers.describe(call, headers.get("authorization")), query, key);
    if (isRefusal(asked)) return answerRefusal(call, asked, report);
    const opened = await streams.open("socket", asked.start, asked.reader);
    if (isRefusal(opened)) return answerRefusal(call, opened, report);
    const socket = new EventSocket(this.parts.pause, { opened });
    const response = respond(null, 101, report);
    if (this.#upgrade(call, socket, response)) return response;
    opened.cancel();
    return answerRefusal(call, UPGRADE_REQUIRED, report);
  }

  #openForGuest(call: Call): Response {
    const reader = this.parts.readers.describe(call, null);
    const query = findStreamQuery(queryOf(call), call.request.headers.get("last-event-id"));
    const network = networkOf(reader.address);
    const isFull = this.#guests.size >= GUESTS_MAX;
    if (isFull || !this.#guestsOfAddresses.take(network, GUESTS_PER_ADDRESS_MAX)) {
      return answerRefusal(call, TOO_MANY_GUESTS);
    }
    const onLeft = () => {
      if (this.#guests.delete(socket)) this.#guestsOfAddresses.release(network);
    };
    const socket: EventSocket = new EventSocket(this.parts.pause, {
      admit: (text) => this.#admit(call, reader, query, text),
      onLeft,
    });
    this.#guests.add(socket);
    const response = respond(null, 101, null);
    if (!this.#upgrade(call, socket, response)) {
      onLeft();
      return answerRefusal(call, UPGRADE_REQUIRED);
    }
    if (this.#isStopped) socket.finish({ reason: "restart" });
    return response;
  }

  #upgrade(call: Call, data: SocketHandler, { headers }: Response): boolean {
    // The answer to a handshake has no body.
    headers.delete("content-type");
    return call.connection.upgrade?.(call.request, { data, headers }) ?? false;
  }

  /** The stream that the first frame asks for; undefined when the frame is not one that asks. */
  async #admit(
    call: Call,
    reader: StreamCaller,
    query: StreamQuery,
    text: string,
  ): Promise<OpenedStream | Refusal | undefined> {
    const frame = parseAuthFrame(text);
    if (!frame) return undefined;
    const { token, after, types } = frame;
    const caller = { ...reader, authorization: `Bearer ${token}` };
    const wanted: StreamQuery = {
      types: types === undefined ? query.types : [types],
      place: after === undefined ? query.place : { name: "after", text: after },
    };
    const outcome = await this.#open(call, caller, wanted);
    this.parts.observeToken(call, reader.address, isRefusal(outcome) ? outcome : undefined);
    return outcome;
  }

  async #open(call: Call, caller: StreamCaller, query: StreamQuery): Promise<OpenedStream | Refusal> {
    const { streams, readers, callerSteps, log } = this.parts;
    try {
      const admitted = await callerSteps.admitReader(call, caller);
      if (isRefusal(admitted)) return admitted;
      if (!streams) return NOT_CONFIGURED;
      const asked = readers.open(caller, query, admitted.key);
      return isRefusal(asked) ? asked : await streams.open("socket", asked.start, asked.reader);
    } catch (error) {
      if (error instanceof StoreUnavailable) return refuse(ERRORS.unavailable);
      log.error({ err: error }, "unexpected failure while opening a socket");
      return refuse(ERRORS.internal);
    }
  }
}

type AuthFrame = { readonly token: string; readonly after?: string; readonly types?: string };

export function parseAuthFrame(text: string): AuthFrame | undefined {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof frame !== "object" || frame === null || !("op" in frame) || frame.op !== "auth") return undefined;
  const { token, after, types: given } = frame as Record<string, unknown>;
  const types = isTextList(given) ? given.join(",") : given;
  if (typeof token !== "string" || !isTextOrAbsent(after) || !isTextOrAbsent(types)) return undefined;
  return { token, ...(after !== undefined && { after }), ...(types !== undefined && { types }) };
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** A socket whose stream was admitted with the request, or a guest who has still to send a token. */
type Entrance =
  | { readonly opened: OpenedStream }
  | {
      readonly admit: (text: string) => Promise<OpenedStream | Refusal | undefined>;
      /** Called when the guest was admitted or has gone; may be called again. */
      readonly onLeft: () => void;
    };

export class EventSocket implements SocketHandler, StreamSink {
  /** Ends every pause of this socket. */
  readonly #over = new AbortController();
  #socket: Socket | undefined;
  #stream: EventStream | undefined;
  #hasFrame = false;
  #isFinishing = false;
  #onDrained: (() => void) | undefined;

  constructor(
    private readonly pause: SleepUntilWoken,
    private readonly entrance: Entrance,
  ) {}

  get waitingBytes(): number {
    return this.#socket?.getBufferedAmount() ?? 0;
  }

  get isClosed(): boolean {
    return this.#over.signal.aborted;
  }

  opened(socket: Socket): void {
    this.#socket = socket;
    if ("opened" in this.entrance) this.#stream = this.entrance.opened.start(this);
    else void this.#expectToken();
  }

  received(message: string | Uint8Array): void {
    if (this.#isFinishing) return;
    const isFirst = "admit" in this.entrance && !this.#hasFrame;
    this.#hasFrame = true;
    if (isFirst && typeof message === "string") void this.#admit(message);
    else this.#refuseFrame();
  }

  drained(): void {
    this.#onDrained?.();
    this.#stream?.drained();
  }

  closed(): void {
    this.#over.abort();
    this.#leave();
    this.#stream?.close("reader");
  }

  send({ frames }: StreamChunk): void {
    const socket = this.#socket;
    if (!socket || this.isClosed) return;
    const [first] = frames;
    if (frames.length === 1 && first !== undefined) socket.sendText(first);
    // In one packet instead of one for each frame.
    else
      socket.cork(() => {
        for (const frame of frames) socket.sendText(frame);
      });
  }

  end(_bye: StreamChunk, end: StreamEnd): void {
    this.finish(end);
  }

  /** Says why, and closes. */
  finish(end: StreamEnd): void {
    if (this.#isFinishing || this.isClosed) return;
    this.#isFinishing = true;
    this.#leave();
    void this.#sayBye(end);
  }

  async #sayBye(end: StreamEnd): Promise<void> {
    const socket = this.#socket;
    if (!socket) return;
    const isSlow = "reason" in end && end.reason === "slow";
    // Closing drops what waits, and the frame that says why with it.
    if (this.waitingBytes > 0) await this.#untilDrained(isSlow ? SLOW_ENDING_MS : ENDING_MS);
    if (this.isClosed) return;
    if (this.waitingBytes > 0) {
      socket.terminate();
      return;
    }
    socket.sendText(writeBye("socket", undefined, end));
    socket.close("code" in end ? CLOSE.refused : CLOSE[end.reason]);
  }

  async #untilDrained(ms: number): Promise<void> {
    const enough = new AbortController();
    this.#onDrained = () => enough.abort();
    const stop = () => enough.abort();
    this.#over.signal.addEventListener("abort", stop, { once: true });
    await this.pause(ms, enough.signal);
    this.#onDrained = undefined;
  }

  async #expectToken(): Promise<void> {
    await this.pause(AUTH_MS, this.#over.signal);
    if (!this.#hasFrame) this.finish({ code: ERRORS.missingToken.code });
  }

  async #admit(text: string): Promise<void> {
    if (!("admit" in this.entrance)) return;
    const outcome = await this.entrance.admit(text);
    if (this.isClosed || this.#isFinishing) {
      if (outcome && "cancel" in outcome) outcome.cancel();
    } else if (!outcome) this.#refuseFrame();
    else if (isRefusal(outcome)) this.finish({ code: outcome.refused.code });
    else {
      this.#leave();
      this.#stream = outcome.start(this);
    }
  }

  #refuseFrame(): void {
    this.#isFinishing = true;
    this.#leave();
    this.#stream?.close("misuse");
    this.#socket?.close(CLOSE.notAllowed);
  }

  #leave(): void {
    if ("onLeft" in this.entrance) this.entrance.onLeft();
  }
}
