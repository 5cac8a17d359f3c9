// Reads the state of the game server.
import type { CallOptions, Transport } from "./transport.ts";
import type { GameMapResource, Section, Sections, ServerBase } from "./wire-types.ts";

const PATH = "/v2/game/server";

/** The eight fields that every server has, and exactly the included sections. */
export type ServerInfo<S extends Section = never> = ServerBase & { readonly [Name in S]: Sections[Name] };

export type IncludeOptions<S extends Section> = CallOptions & { readonly include?: readonly S[] | undefined };

/** `ageSeconds`: how old the state was when Gatehouse sent it. */
export type ServerReading<S extends Section = never> = {
  readonly info: ServerInfo<S>;
  readonly ageSeconds: number;
};

export class Server {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** One request, however many sections are included. */
  async get<S extends Section = never>(options: IncludeOptions<S> = {}): Promise<ServerInfo<S>> {
    return (await this.read(options)).info;
  }

  /** Like `get`, with the age of what it says. */
  async read<S extends Section = never>({
    include = [],
    ...options
  }: IncludeOptions<S> = {}): Promise<ServerReading<S>> {
    const query = Object.fromEntries(include.map((section) => [section, true]));
    const { value, headers } = await this.#transport.request<ServerInfo<S>>(PATH, { query, ...options });
    return { info: value, ageSeconds: Number(headers.get("Age") ?? 0) };
  }

  players(options?: CallOptions): Promise<Sections["Players"]> {
    return this.#section("Players", options);
  }

  staff(options?: CallOptions): Promise<Sections["Staff"]> {
    return this.#section("Staff", options);
  }

  joinLogs(options?: CallOptions): Promise<Sections["JoinLogs"]> {
    return this.#section("JoinLogs", options);
  }

  /** The ids of who waits to join, in order. */
  queue(options?: CallOptions): Promise<Sections["Queue"]> {
    return this.#section("Queue", options);
  }

  killLogs(options?: CallOptions): Promise<Sections["KillLogs"]> {
    return this.#section("KillLogs", options);
  }

  commandLogs(options?: CallOptions): Promise<Sections["CommandLogs"]> {
    return this.#section("CommandLogs", options);
  }

  modCalls(options?: CallOptions): Promise<Sections["ModCalls"]> {
    return this.#section("ModCalls", options);
  }

  emergencyCalls(options?: CallOptions): Promise<Sections["EmergencyCalls"]> {
    return this.#section("EmergencyCalls", options);
  }

  vehicles(options?: CallOptions): Promise<Sections["Vehicles"]> {
    return this.#section("Vehicles", options);
  }

  /** Where street names and postal codes were seen. */
  async map(options: CallOptions = {}): Promise<GameMapResource> {
    return (await this.#transport.request<GameMapResource>(`${PATH}/map`, options)).value;
  }

  async #section<S extends Section>(name: S, options: CallOptions = {}): Promise<Sections[S]> {
    const info: { readonly [Name in S]: Sections[Name] } = await this.get({ ...options, include: [name] });
    return info[name];
  }
}
