// One request, with what the edge found out about it.
import type { MaybePromise } from "../core/maybe-promise.ts";
import type { SectionSet } from "../core/sections.ts";
import type { LimitReport } from "../gateway/keys/admit.ts";
import type { CountedKey } from "../gateway/keys/counted-key.ts";

/** What a URL asks for. */
export type RequestTarget = {
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
  /** The variable segments of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The route's pattern, for logs and metrics: never the path itself, which callers can make up. */
  readonly routeName: string;
  /** The sections that the query asks for. */
  readonly sections: SectionSet;
};

/** What the runtime knows about the socket of a request. */
export type Connection = {
  requestIP(request: Request): { readonly address: string; readonly port: number } | null;
  /** How long the socket may be silent from now on. */
  timeout(request: Request, seconds: number): void;
};

/** How long a socket may be silent, unless its caller waits for us. The runtime looks every four seconds. */
export const IDLE_SECONDS = 10;
/** The longest that the runtime can be told to wait on a socket. */
const SOCKET_PATIENCE_MAX_SECONDS = 255;

let callsSeen = 0;
const PROCESS_MARK = Math.floor(Math.random() * 36 ** 6)
  .toString(36)
  .padStart(6, "0");

export class Call {
  /** The code of the error that was answered, 0 for none. For logs and metrics. */
  code = 0;
  /** The key that the request came with, once that is known. Its use is counted with the answer. */
  key: CountedKey | undefined;
  /** What its answer tells about the limit, if it was counted. For answers to faults. */
  report: LimitReport | null = null;
  /** Whether its answer had to be waited for: then the runtime is done with the request's own turn. */
  isLate = false;
  readonly startedAt = performance.now();
  #id: string | undefined;

  constructor(
    readonly request: Request,
    readonly target: RequestTarget,
    readonly connection: Connection,
    readonly now: number,
  ) {}

  /** By which the log speaks of this request. Made up on demand: of most it says nothing. */
  get id(): string {
    this.#id ??= `req_${PROCESS_MARK}${(++callsSeen).toString(36)}`;
    return this.#id;
  }

  get hasId(): boolean {
    return this.#id !== undefined;
  }

  /** The address at the other end of the socket; empty when it is gone already. */
  get peerAddress(): string {
    return this.connection.requestIP(this.request)?.address ?? "";
  }

  /** Keeps the socket from being cut as silent while the caller waits for us this long. */
  waitFor(ms: number): void {
    const seconds = Math.max(Math.ceil(ms / 1000), IDLE_SECONDS);
    this.connection.timeout(this.request, Math.min(seconds, SOCKET_PATIENCE_MAX_SECONDS));
  }

  waitNoLonger(): void {
    this.connection.timeout(this.request, IDLE_SECONDS);
  }
}

export type Handler = (call: Call) => MaybePromise<Response>;
