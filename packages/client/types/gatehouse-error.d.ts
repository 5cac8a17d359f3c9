export type ErrorFields = {
    readonly code?: number;
    readonly status?: number;
    readonly retryAfter?: number | undefined;
    readonly body?: Readonly<Record<string, unknown>> | undefined;
    readonly cause?: unknown;
};
export declare class GatehouseError extends Error {
    readonly name = "GatehouseError";
    /** The error code of Gatehouse (docs/errors.md); 0 when the answer had none, or there was no answer. */
    readonly code: number;
    /** The HTTP status; 0 when there was no whole answer. */
    readonly status: number;
    /** Seconds after which asking again makes sense; undefined when Gatehouse did not say. */
    readonly retryAfter: number | undefined;
    /** The whole body of the error, as it came. */
    readonly body: Readonly<Record<string, unknown>>;
    /** Only of a command that may or may not be queued: send it again with this key, and it is queued once. */
    idempotencyKey: string | undefined;
    constructor(message: string, { code, status, retryAfter, body, cause }?: ErrorFields);
    /** What is wrong, field by field, where Gatehouse says so. */
    get details(): Readonly<Record<string, unknown>> | undefined;
    /** The game API's own code, of a 5019. */
    get upstreamCode(): number | undefined;
    /** What the game API said, of a 5019. */
    get upstreamMessage(): string | undefined;
}
/** `body` is the parsed answer, whatever it is. */
export declare function toGatehouseError(status: number, headers: Headers, body: unknown): GatehouseError;
/** The seconds to wait after a 429; undefined for what is not waited for, such as a block. */
export declare function findLimitWait(error: unknown): number | undefined;
/** Whether the same request may succeed soon: no answer came, or Gatehouse or a proxy before it is not ready. */
export declare function isOutage(error: unknown): error is GatehouseError;
/** Whether an earlier request with the same idempotency key is not answered yet. */
export declare function isInFlight(error: unknown): error is GatehouseError;
/** How long to wait before the next try: the backoff, or longer when the error says so. */
export declare function chooseBackoffMs(error: unknown, backoffMs: number): number;
/** Whether Gatehouse may have acted, although it did not say so: no answer came, or one that is not its own. */
export declare function isOpen(error: unknown): error is GatehouseError;
export declare function isObject(value: unknown): value is Readonly<Record<string, unknown>>;
