// The events of a server's ledger, as both APIs give them.

/** Integers that a double cannot hold are strings, see `parseExactJson`. */
export type LedgerEvent = {
  /** Its cursor. */
  readonly id: string;
  readonly type: string;
  /** When it happened, in epoch milliseconds. */
  readonly at: number;
  readonly seen_at: number;
  readonly source: string;
  readonly backfill: boolean;
  readonly data: Readonly<Record<string, unknown>>;
  readonly meta?: Readonly<Record<string, unknown>>;
};

/** `items` are oldest first. */
export type EventPage = {
  readonly items: readonly LedgerEvent[];
  /** The `after` of what comes later. */
  readonly next: string;
  /** The `before` of the page with older events; only when reading backwards. */
  readonly previous?: string;
  /** Whether there are more events in the direction of reading. */
  readonly has_more: boolean;
};

export type EventQuery = {
  readonly after?: string;
  readonly before?: string;
  readonly types?: string;
  readonly player?: string;
  readonly limit?: number;
};

/** No archive is configured, so there is no ledger. */
export const NOT_CONFIGURED = 5110;
/** The cursor is older than what is kept, or of an archive that was replaced. */
export const CURSOR_EXPIRED = 5108;
