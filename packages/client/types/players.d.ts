import type { CallOptions, Transport } from "./transport.ts";
import type { ModCallPage, ModCallResource, PlayerPage, PlayerRecord } from "./wire-types.ts";
type PageOptions = CallOptions & {
    /** 1 to 200, 50 by default. */
    readonly limit?: number | undefined;
    /** The `next` of the page before. */
    readonly cursor?: string | undefined;
};
export type PlayerSearchOptions = PageOptions & {
    /** Part of any name that the player had, without case, or the beginning of the id. */
    readonly query?: string | undefined;
    /** Only those who are on the server now, or only the others. */
    readonly here?: boolean | undefined;
};
export type ModCallListOptions = PageOptions & {
    /** Those that wait or are claimed by default. */
    readonly state?: readonly ModCallResource["state"][] | undefined;
};
export declare const player: {
    /** The parts of `Name:id`; `id` is null in a text without one. */
    split(text: string): {
        readonly name: string;
        readonly id: string | null;
    };
};
export declare class Players {
    #private;
    constructor(transport: Transport);
    /** Everybody who was ever seen, latest first. */
    search({ signal, timeoutMs, ...query }?: PlayerSearchOptions): Promise<PlayerPage>;
    /** What is known about a player, by id. Throws GatehouseError 5020 for one who was never seen. */
    get(id: string | number | bigint, options?: CallOptions): Promise<PlayerRecord>;
}
export declare class ModCalls {
    #private;
    constructor(transport: Transport);
    /** Calls for a moderator: callers who are on the server first, then the oldest. */
    list({ state, signal, timeoutMs, ...page }?: ModCallListOptions): Promise<ModCallPage>;
    /** Says "I am on it". Throws GatehouseError with status 409 when somebody else is, unless `take`, or when it is over. */
    claim(id: string, { take, ...options }?: CallOptions & {
        readonly take?: boolean;
    }): Promise<ModCallResource>;
    /** It waits again. */
    release(id: string, options?: CallOptions): Promise<ModCallResource>;
}
export {};
