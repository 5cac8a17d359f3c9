import { type Query } from "./query.ts";
/** Long enough for a restart of Gatehouse. A read changes nothing, so it is safe to send again. */
export declare const RESTART_BACKOFFS_MS: number[];
/** What the client needs of fetch. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;
export type GatehouseOptions = {
    /** The address of Gatehouse, such as `https://gatehouse.example`; a path before `/v2` may follow. */
    readonly baseUrl: string;
    /** The API key, `gth_…`. */
    readonly token: string;
    /** The deadline of each request, its body included; 15,000 by default. */
    readonly timeoutMs?: number | undefined;
    /** Used instead of the global fetch. */
    readonly fetch?: Fetch | undefined;
};
export type Request = {
    readonly method?: "GET" | "POST" | "DELETE";
    readonly query?: Query;
    /** Sent as JSON. */
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal | undefined;
    /** Instead of the deadline of all requests. */
    readonly timeoutMs?: number | undefined;
    /** What Gatehouse may take by itself, in addition to the deadline. */
    readonly extraMs?: number;
    /** The waits after failures, for requests that are safe to send again. Reads have some by default, others none. */
    readonly backoffsMs?: readonly number[];
    /** Is told of each failure, also when another try follows. */
    readonly onFailure?: (error: unknown) => void;
};
/** What every method takes. */
export type CallOptions = {
    readonly signal?: AbortSignal | undefined;
    /** The deadline of this request, its body included, instead of the one for all. */
    readonly timeoutMs?: number | undefined;
};
/** What was left of the key's limit when Gatehouse answered. */
export type LimitState = {
    readonly limit: number;
    readonly remaining: number;
    /** When the next window begins, in epoch milliseconds of the clock of Gatehouse. */
    readonly resetAt: number;
};
export type Answer<T> = {
    readonly value: T;
    readonly headers: Headers;
};
/** An open stream. `read` throws GatehouseError when nothing comes for `silenceMs`, or the connection breaks. */
export type OpenStream = {
    /** Undefined at the end of the stream. */
    read(silenceMs: number): Promise<Uint8Array | undefined>;
    close(): void;
};
/** Resolves after this time, or at once when the signal aborts. Tests hand in one of their own. */
export type Pause = (ms: number, signal?: AbortSignal) => Promise<void>;
export declare class Transport {
    #private;
    readonly pause: Pause;
    /** Of the last answer that had one. */
    limit: LimitState | undefined;
    constructor(options: GatehouseOptions, ownPause?: Pause);
    /** Throws GatehouseError, or the reason of the signal when the caller has aborted. */
    request<T>(path: string, request?: Request): Promise<Answer<T>>;
    /** Opens a stream of Server-Sent Events, once. Throws like `request`. */
    openStream(path: string, query: Query, signal: AbortSignal): Promise<OpenStream>;
}
