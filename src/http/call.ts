// One request while it is handled: its target, its caller, and facts for logs and metrics.
import type { Refusal } from "../core/errors.ts";
import type { MaybePromise } from "../core/maybe-promise.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { SectionSet } from "../core/sections.ts";
import type { LimitReport } from "../gateway/keys/admit.ts";
import type { Authenticator } from "../gateway/keys/authenticate.ts";
import type { CountedKey } from "../gateway/keys/counted-key.ts";

/** A parsed URL. */
export type RequestTarget = {
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
  /** The path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The route's pattern, for logs and metrics. Never the path itself, which callers choose freely. */
  readonly routeName: string;
  /** The sections that the query requests. */
  readonly sections: SectionSet;
};

/** The socket of a request, as the runtime gives access to it. */
export type Connection = {
  requestIP(request: Request): { readonly address: string; readonly port: number } | null;
  /** Sets how long the socket may be idle from now on. */
  timeout(request: Request, seconds: number): void;
  /** Makes a WebSocket of the request. False when it does not ask for one. What is answered afterwards is ignored. */
  upgrade?(request: Request, options: { data: SocketHandler; headers?: Headers }): boolean;
};

/** What a WebSocket does; the listener calls it. */
export interface SocketHandler {
  opened(socket: Socket): void;
  /** A text frame as string, any other as bytes. */
  received(message: string | Uint8Array): void;
  /** Everything that was sent is with the kernel. */
  drained(): void;
  closed(): void;
}

/** A WebSocket as the runtime gives it. */
export type Socket = {
  sendText(text: string): number;
  cork(send: () => void): void;
  getBufferedAmount(): number;
  /** Drops what waits. */
  close(code: number, reason?: string): void;
  terminate(): void;
};

/** How long a socket may be idle, except while its caller waits for an answer. The runtime checks every four seconds. */
export const IDLE_SECONDS = 10;
/** The longest idle timeout that the runtime accepts. */
const IDLE_SECONDS_MAX = 255;

let callsSeen = 0;
const PROCESS_MARK = Math.floor(Math.random() * 36 ** 6)
  .toString(36)
  .padStart(6, "0");

export class Call {
  /** The error code of the answer, 0 for none. For logs and metrics. */
  code = 0;
  /** The key of the request, once it is authenticated. Its use is counted with the answer. */
  key: CountedKey | undefined;
  /** Set when the request was counted, so that an answer to an unexpected error has the limit's headers too. */
  report: LimitReport | null = null;
  /** Undefined for our own API. */
  form: ForeignForm | undefined;
  /** Whether the answer comes through a promise, after the runtime's own handling of the request has returned. */
  isAsync = false;
  readonly startedAt = performance.now();
  /** When the request came or, after a wait, when it went on. */
  now: number;
  #id: string | undefined;

  constructor(
    readonly request: Request,
    readonly target: RequestTarget,
    readonly connection: Connection,
    private readonly clock: Clock,
  ) {
    this.now = clock();
  }

  /** After a wait, before a rule judges the request: an old time would look like a clock that was set back. */
  readClock(): void {
    this.now = this.clock();
  }

  /** Names the request in the log. Generated on demand, because most requests are never logged. */
  get id(): string {
    this.#id ??= `req_${PROCESS_MARK}${(++callsSeen).toString(36)}`;
    return this.#id;
  }

  get hasId(): boolean {
    return this.#id !== undefined;
  }

  /** The address of the socket's other end; empty when the socket is already closed. */
  get peerAddress(): string {
    return this.connection.requestIP(this.request)?.address ?? "";
  }

  /** Keeps the socket from being cut as idle while the caller waits for us, for this long at most. */
  extendIdleTimeout(ms: number): void {
    const seconds = Math.max(Math.ceil(ms / 1000), IDLE_SECONDS);
    // Whoever waits longer than the runtime can count has a deadline of its own.
    this.connection.timeout(this.request, seconds > IDLE_SECONDS_MAX ? 0 : seconds);
  }

  /** Keeps the socket however long it is idle: a stream has deadlines of its own. */
  disableIdleTimeout(): void {
    this.connection.timeout(this.request, 0);
  }

  resetIdleTimeout(): void {
    this.connection.timeout(this.request, IDLE_SECONDS);
  }
}

/** How routes that speak the language of another API find the caller's key and answer refusals. */
export interface ForeignForm {
  authenticate(call: Call, authenticator: Authenticator, now: number): MaybePromise<CountedKey | Refusal>;
  answerRefusal(call: Call, refusal: Refusal, report: LimitReport | null): Response;
}
