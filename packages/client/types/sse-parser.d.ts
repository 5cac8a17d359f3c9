export type SseMessage = {
    /** The last id that the stream has given, with this message or before; empty when there was none. */
    readonly id: string;
    readonly event: string;
    readonly data: string;
};
export declare class SseParser {
    #private;
    constructor(charsMax?: number);
    /** Takes the next piece and returns the messages that it completes. Throws RangeError when a message is too long. */
    push(piece: string): SseMessage[];
}
