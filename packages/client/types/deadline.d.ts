export declare class DeadlineExceeded extends Error {
    name: string;
}
export declare class Deadline {
    #private;
    /** `outer` is the caller's signal. */
    constructor(outer: AbortSignal | undefined);
    get signal(): AbortSignal;
    /** Waits for `work`, one at a time. Throws DeadlineExceeded when it takes longer, and the reason of an abort. */
    within<T>(ms: number, work: Promise<T>): Promise<T>;
    /** Ends whatever is waited for. */
    abort(reason: unknown): void;
    /** Ends the exchange, and lets go of the caller's signal. */
    close(): void;
}
