import type { CallOptions, Transport } from "./transport.ts";
import type { GameMapResource, Section, Sections, ServerBase } from "./wire-types.ts";
/** The eight fields that every server has, and exactly the included sections. */
export type ServerInfo<S extends Section = never> = ServerBase & {
    readonly [Name in S]: Sections[Name];
};
export type IncludeOptions<S extends Section> = CallOptions & {
    readonly include?: readonly S[] | undefined;
};
/** `ageSeconds`: how old the state was when Gatehouse sent it. */
export type ServerReading<S extends Section = never> = {
    readonly info: ServerInfo<S>;
    readonly ageSeconds: number;
};
export declare class Server {
    #private;
    constructor(transport: Transport);
    /** One request, however many sections are included. */
    get<S extends Section = never>(options?: IncludeOptions<S>): Promise<ServerInfo<S>>;
    /** Like `get`, with the age of what it says. */
    read<S extends Section = never>({ include, ...options }?: IncludeOptions<S>): Promise<ServerReading<S>>;
    players(options?: CallOptions): Promise<Sections["Players"]>;
    staff(options?: CallOptions): Promise<Sections["Staff"]>;
    joinLogs(options?: CallOptions): Promise<Sections["JoinLogs"]>;
    /** The ids of who waits to join, in order. */
    queue(options?: CallOptions): Promise<Sections["Queue"]>;
    killLogs(options?: CallOptions): Promise<Sections["KillLogs"]>;
    commandLogs(options?: CallOptions): Promise<Sections["CommandLogs"]>;
    modCalls(options?: CallOptions): Promise<Sections["ModCalls"]>;
    emergencyCalls(options?: CallOptions): Promise<Sections["EmergencyCalls"]>;
    vehicles(options?: CallOptions): Promise<Sections["Vehicles"]>;
    /** Where street names and postal codes were seen. */
    map(options?: CallOptions): Promise<GameMapResource>;
}
