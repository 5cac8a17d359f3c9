import { type CallOptions, type Transport } from "./transport.ts";
import type { CommandPage, CommandResource, CommandStatus } from "./wire-types.ts";
export type FinalStatus = Exclude<CommandStatus, "queued" | "sending">;
export declare const FINAL_STATUSES: ReadonlySet<CommandStatus>;
export type SettledCommand = CommandResource & {
    readonly status: FinalStatus;
};
export type SendOptions = CallOptions & {
    /** 1 to 255 visible ASCII characters. One is made for the command when it is left out. */
    readonly idempotencyKey?: string | undefined;
};
export type SettledOptions = Pick<CallOptions, "signal"> & {
    /** 15 minutes by default. */
    readonly timeoutMs?: number | undefined;
};
export type ListOptions = CallOptions & {
    readonly status?: CommandStatus | undefined;
    readonly limit?: number | undefined;
    /** The `next` of the page before. */
    readonly cursor?: string | undefined;
};
/** A command that Gatehouse has accepted. */
export declare class CommandHandle {
    #private;
    readonly id: string;
    constructor(commands: Commands, id: string);
    status(options?: CallOptions): Promise<CommandResource>;
    /**
     * Resolves when its status is final, over restarts of Gatehouse too. `sent` says that the game API took it, `unknown` that
     * nobody can tell: it is never sent again by itself. Throws GatehouseError when the time is up.
     */
    settled(options?: SettledOptions): Promise<SettledCommand>;
    /** Takes it out of the queue; throws GatehouseError with status 409 when it no longer waits. */
    cancel(options?: CallOptions): Promise<CommandResource>;
}
export declare class Commands {
    #private;
    constructor(transport: Transport, now?: () => number);
    /**
     * Queues a command. It is tried again while Gatehouse cannot be reached, with the same idempotency key, so that it is
     * queued once. An error that leaves open whether it is queued has its `idempotencyKey`. Throws TypeError for a bad key.
     */
    send(text: string, { idempotencyKey, ...options }?: SendOptions): Promise<CommandHandle>;
    /** The handle of a command that was sent earlier, by its id. */
    handle(id: string): CommandHandle;
    get(id: string, options?: CallOptions): Promise<CommandResource>;
    /** Newest first. */
    list({ signal, timeoutMs, ...query }?: ListOptions): Promise<CommandPage>;
    cancel(id: string, options?: CallOptions): Promise<CommandResource>;
    waitForEnd(id: string, { timeoutMs, signal }?: SettledOptions): Promise<SettledCommand>;
}
