// The players of a server, and their calls for a moderator.
import type { CallOptions, Transport } from "./transport.ts";
import type { ModCallPage, ModCallResource, PlayerPage, PlayerRecord } from "./wire-types.ts";

const PLAYERS = "/v2/game/server/players";
const MOD_CALLS = "/v2/game/server/modcalls";

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

export const player = {
  /** The parts of `Name:id`; `id` is null in a text without one. */
  split(text: string): { readonly name: string; readonly id: string | null } {
    const [, name, id] = /^(.*):(\d+)$/s.exec(text) ?? [];
    return name === undefined || id === undefined ? { name: text, id: null } : { name, id };
  },
};

export class Players {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Everybody who was ever seen, latest first. */
  async search({ signal, timeoutMs, ...query }: PlayerSearchOptions = {}): Promise<PlayerPage> {
    return (await this.#transport.request<PlayerPage>(PLAYERS, { query, signal, timeoutMs })).value;
  }

  /** What is known about a player, by id. Throws GatehouseError 5020 for one who was never seen. */
  async get(id: string | number | bigint, options: CallOptions = {}): Promise<PlayerRecord> {
    const path = `${PLAYERS}/${encodeURIComponent(String(id))}`;
    return (await this.#transport.request<PlayerRecord>(path, options)).value;
  }
}

export class ModCalls {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Calls for a moderator: callers who are on the server first, then the oldest. */
  async list({ state, signal, timeoutMs, ...page }: ModCallListOptions = {}): Promise<ModCallPage> {
    const query = { ...page, state: state?.join(",") };
    return (await this.#transport.request<ModCallPage>(MOD_CALLS, { query, signal, timeoutMs })).value;
  }

  /** Says "I am on it". Throws GatehouseError with status 409 when somebody else is, unless `take`, or when it is over. */
  claim(id: string, { take, ...options }: CallOptions & { readonly take?: boolean } = {}): Promise<ModCallResource> {
    return this.#change(id, { method: "POST", ...(take && { body: { take } }), ...options });
  }

  /** It waits again. */
  release(id: string, options: CallOptions = {}): Promise<ModCallResource> {
    return this.#change(id, { method: "DELETE", ...options });
  }

  async #change(id: string, request: Parameters<Transport["request"]>[1]): Promise<ModCallResource> {
    const path = `${MOD_CALLS}/${encodeURIComponent(id)}/claim`;
    return (await this.#transport.request<ModCallResource>(path, request)).value;
  }
}
