import type { GameEvent } from "./game-event.ts";
import { GatehouseError } from "./gatehouse-error.ts";
import type { Transport } from "./transport.ts";
/** `silenceMs`: a stream has a heartbeat every 15 s; one that is silent for longer has lost its connection. */
declare const PACE: {
    silenceMs: number;
    random: () => number;
};
/** What a stream says that is not an event. */
export declare const CONTROL_MESSAGES: ReadonlySet<string>;
export type StreamOptions = {
    /** A cursor, `earliest` or `now`; `now` by default. */
    readonly after?: string | undefined;
    /** Ends the iteration. */
    readonly signal?: AbortSignal | undefined;
    /** Called when a connection failed and another is tried after this time. */
    readonly onOutage?: ((error: GatehouseError, waitMs: number) => void) | undefined;
};
/**
 * Events in order, each once. It goes on over restarts and lost connections, waits out a 429 of at most 60 s, and throws
 * GatehouseError for a refusal that asking again does not change.
 */
export declare class EventStream<E = GameEvent> implements AsyncIterableIterator<E> {
    #private;
    constructor(transport: Transport, types: readonly string[] | undefined, options: StreamOptions, pace?: typeof PACE);
    /**
     * Keep it once you have handled an event, and hand it in as `after` at the next start: nothing is missed or repeated. It
     * moves on with heartbeats too. Undefined before the first connection that began at `now`.
     */
    get cursor(): string | undefined;
    next(): Promise<IteratorResult<E, undefined>>;
    /** Ends the stream, also while an event is waited for. */
    return(): Promise<IteratorResult<E, undefined>>;
    [Symbol.asyncIterator](): this;
}
export {};
