// Questions about the past of a server.
import type { Query } from "./query.ts";
import type { CallOptions, Transport } from "./transport.ts";
import type {
  PeaksResource,
  PlayersHistory,
  PlaytimePage,
  PresentHistory,
  SessionPage,
  StaffPage,
} from "./wire-types.ts";

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

export class History {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** How many played, over time. A point without readings has null, not zero. */
  players(
    options: PeriodOptions & { readonly resolution?: PlayersHistory["resolution"] | undefined } = {},
  ): Promise<PlayersHistory> {
    return this.#ask("players", options);
  }

  /** Who was there, from when to when; of one player with `player`, an id. */
  sessions(
    options: HistoryPageOptions & { readonly player?: string | number | bigint | undefined } = {},
  ): Promise<SessionPage> {
    return this.#ask("sessions", options);
  }

  /** How long each player was there, most first. */
  playtime(options: HistoryPageOptions = {}): Promise<PlaytimePage> {
    return this.#ask("playtime", options);
  }

  /** What the staff did. */
  staff(options: HistoryPageOptions = {}): Promise<StaffPage> {
    return this.#ask("staff", options);
  }

  /** Players on average for each hour of the week; `tz` is a time zone such as `Europe/Berlin`, UTC by default. */
  peaks(options: PeriodOptions & { readonly tz?: string | undefined } = {}): Promise<PeaksResource> {
    return this.#ask("peaks", options);
  }

  /** Who was there at a moment. `known` is false when no reading tells. */
  present({ at, ...options }: CallOptions & { readonly at: Date | number }): Promise<PresentHistory> {
    return this.#ask("present", { at, ...options });
  }

  async #ask<T>(
    question: string,
    { signal, timeoutMs, ...query }: CallOptions & Readonly<Record<string, unknown>>,
  ): Promise<T> {
    const path = `/v2/game/server/history/${question}`;
    return (await this.#transport.request<T>(path, { query: toQuery(query), signal, timeoutMs })).value;
  }
}

function toQuery(options: Readonly<Record<string, unknown>>): Query {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, String(value instanceof Date ? value.getTime() : value)]),
  );
}
