import type { CallOptions, Transport } from "./transport.ts";
import type { PeaksResource, PlayersHistory, PlaytimePage, PresentHistory, SessionPage, StaffPage } from "./wire-types.ts";
/** The last 24 hours by default. A number is epoch milliseconds. */
export type PeriodOptions = CallOptions & {
    readonly from?: Date | number | undefined;
    readonly to?: Date | number | undefined;
};
export type HistoryPageOptions = PeriodOptions & {
    /** 1 to 500, 100 by default. */
    readonly limit?: number | undefined;
    /** The `next` of the page before. */
    readonly cursor?: string | undefined;
};
export declare class History {
    #private;
    constructor(transport: Transport);
    /** How many played, over time. A point without readings has null, not zero. */
    players(options?: PeriodOptions & {
        readonly resolution?: PlayersHistory["resolution"] | undefined;
    }): Promise<PlayersHistory>;
    /** Who was there, from when to when; of one player with `player`, an id. */
    sessions(options?: HistoryPageOptions & {
        readonly player?: string | number | bigint | undefined;
    }): Promise<SessionPage>;
    /** How long each player was there, most first. */
    playtime(options?: HistoryPageOptions): Promise<PlaytimePage>;
    /** What the staff did. */
    staff(options?: HistoryPageOptions): Promise<StaffPage>;
    /** Players on average for each hour of the week; `tz` is a time zone such as `Europe/Berlin`, UTC by default. */
    peaks(options?: PeriodOptions & {
        readonly tz?: string | undefined;
    }): Promise<PeaksResource>;
    /** Who was there at a moment. `known` is false when no reading tells. */
    present({ at, ...options }: CallOptions & {
        readonly at: Date | number;
    }): Promise<PresentHistory>;
}
