import { Commands } from "./commands.ts";
import { EventStream, type StreamOptions } from "./event-stream.ts";
import type { EventPattern, GameEvent, MatchedType } from "./game-event.ts";
import { History } from "./history.ts";
import { ModCalls, Players } from "./players.ts";
import { Server } from "./server.ts";
import { type CallOptions, type GatehouseOptions, type LimitState, Transport } from "./transport.ts";
import type { EventPage, EventType, OwnKeyResource } from "./wire-types.ts";
export type EventsOptions<P extends EventPattern> = StreamOptions & {
    /** All types by default; `player.*` is all types of players. */
    readonly types?: readonly P[] | undefined;
};
export type EventListOptions<P extends EventPattern> = CallOptions & {
    readonly types?: readonly P[] | undefined;
    /** A cursor, `earliest` or `now`. Without `after` and `before`: the newest events. */
    readonly after?: string | undefined;
    /** A cursor or `now`: the events before it. */
    readonly before?: string | undefined;
    /** The id of a player, whose events alone are wanted. */
    readonly player?: string | number | bigint | undefined;
    /** 1 to 500, 100 by default. */
    readonly limit?: number | undefined;
    /** Seconds that Gatehouse waits for an event when there is none, 0 to 25. */
    readonly wait?: number | undefined;
};
export type ListedEvents<E> = Omit<EventPage, "items"> & {
    readonly items: readonly E[];
};
export declare class Gatehouse {
    #private;
    readonly server: Server;
    readonly commands: Commands;
    readonly history: History;
    readonly players: Players;
    readonly modcalls: ModCalls;
    /** Throws TypeError for a bad option. No request is made. Only tests hand in more than the options. */
    constructor(options: GatehouseOptions, transport?: Transport, now?: () => number);
    /** What was left of the key's limit at the last answer; undefined before the first. */
    get limit(): LimitState | undefined;
    /** Follows the events of the server, over restarts; ends with `break` or the signal. */
    events<P extends EventPattern = EventType>(options?: EventsOptions<P>): EventStream<GameEvent<MatchedType<P>>>;
    /** One page of the ledger, oldest first. Throws GatehouseError 5108 for a cursor that is not kept any more. */
    listEvents<P extends EventPattern = EventType>({ types, player, signal, timeoutMs, ...query }?: EventListOptions<P>): Promise<ListedEvents<GameEvent<MatchedType<P>>>>;
    /** What the API key may do. */
    key(options?: CallOptions): Promise<OwnKeyResource>;
}
