// An archive as rows, so that it can be moved to another keeper with its numbers, marks and id: cursors stay valid.

export type PortableRow = Readonly<Record<string, string | number | boolean | null>>;
export type ColumnKind = "integer" | "text" | "boolean";

export type PortableTable = {
  readonly name: string;
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** Rows of one step, when the rows are too large for PORTABLE_PAGE. */
  readonly page?: number;
};

/** Rows of one step. */
export const PORTABLE_PAGE = 1_000;

export const PORTABLE_TABLES: readonly PortableTable[] = [
  {
    name: "ledgers",
    key: ["ledger"],
    columns: {
      ledger: "integer",
      server_id: "text",
      version: "integer",
      last_number: "integer",
      last_mark: "integer",
      floor_number: "integer",
      floor_mark: "integer",
      last_day: "integer",
      identity_count: "integer",
    },
  },
  {
    name: "events",
    key: ["ledger", "number"],
    columns: {
      ledger: "integer",
      number: "integer",
      mark: "integer",
      kind: "integer",
      at: "integer",
      seen_at: "integer",
      source: "text",
      is_backfill: "boolean",
      data: "text",
      meta: "text",
    },
  },
  {
    name: "event_players",
    key: ["ledger", "player", "number"],
    columns: { ledger: "integer", player: "text", number: "integer" },
  },
  {
    name: "identities",
    key: ["ledger", "identity"],
    columns: { ledger: "integer", identity: "text", shown_day: "integer" },
  },
  {
    name: "memory",
    key: ["ledger", "part"],
    columns: { ledger: "integer", part: "text", text: "text" },
  },
  {
    name: "forgettings",
    key: ["player"],
    columns: { player: "text", phase: "text", ledger: "integer", number: "integer", names: "text" },
  },
  {
    name: "places",
    key: ["ledger", "kind", "name", "cell_x", "cell_z"],
    columns: {
      ledger: "integer",
      kind: "text",
      name: "text",
      cell_x: "integer",
      cell_z: "integer",
      count: "integer",
      sum_x: "integer",
      sum_z: "integer",
    },
  },
  {
    name: "map_images",
    key: ["ledger"],
    columns: {
      ledger: "integer",
      type: "text",
      width: "integer",
      height: "integer",
      min_x: "integer",
      min_z: "integer",
      max_x: "integer",
      max_z: "integer",
      hash: "text",
      bytes: "integer",
      set_at: "integer",
      content: "text",
    },
    page: 5,
  },
  {
    name: "webhooks",
    key: ["webhook_id"],
    columns: {
      webhook_id: "text",
      ledger: "integer",
      created_at: "integer",
      label: "text",
      format: "text",
      types: "text",
      language: "text",
      show_join_key: "boolean",
      is_enabled: "boolean",
      sealed_url: "text",
      shown_url: "text",
      place_number: "integer",
      place_mark: "integer",
      last_success_at: "integer",
      last_failure_at: "integer",
      first_failure_at: "integer",
      failures: "integer",
      refusals: "integer",
      next_attempt_at: "integer",
      disabled_reason: "text",
      message: "text",
      sealed_secret: "text",
      sealed_old_secret: "text",
      old_secret_until: "integer",
    },
  },
  {
    name: "deliveries",
    key: ["ledger", "webhook_id", "number"],
    columns: {
      ledger: "integer",
      webhook_id: "text",
      number: "integer",
      at: "integer",
      event_ids: "text",
      status: "integer",
      duration_ms: "integer",
      error: "text",
      sealed_answer: "text",
    },
  },
  {
    name: "counts",
    key: ["ledger", "resolution", "at"],
    columns: {
      ledger: "integer",
      resolution: "text",
      at: "integer",
      known_ms: "integer",
      player_ms: "integer",
      min: "integer",
      max: "integer",
      queue_max: "integer",
      staff_max: "integer",
      teams: "text",
    },
  },
  {
    name: "sessions",
    key: ["ledger", "player", "joined_at", "number"],
    columns: {
      ledger: "integer",
      joined_at: "integer",
      number: "integer",
      player: "text",
      left_at: "integer",
      ended: "text",
      was_staff: "boolean",
      stays: "text",
    },
  },
  {
    name: "player_days",
    key: ["ledger", "player", "day"],
    columns: { ledger: "integer", day: "integer", player: "text", ms: "integer", begun: "integer" },
  },
  {
    name: "staff_acts",
    key: ["ledger", "at", "number"],
    columns: {
      ledger: "integer",
      at: "integer",
      number: "integer",
      player: "text",
      low: "integer",
      high: "integer",
    },
  },
  {
    name: "player_names",
    key: ["ledger", "player"],
    columns: { ledger: "integer", player: "text", name: "text" },
  },
];

export interface ArchiveSource {
  readArchiveId(): Promise<string>;
  countRows(table: PortableTable): Promise<number>;
  /** At most a page of rows after one, in the order of the key; from the first when it is undefined. */
  readRows(table: PortableTable, after: PortableRow | undefined): Promise<readonly PortableRow[]>;
}

/** Nothing of a target can be seen before `finish` has resolved. */
export interface ArchiveTarget extends ArchiveSource {
  /** False when there is a ledger already. */
  isEmpty(): Promise<boolean>;
  writeRows(table: PortableTable, rows: readonly PortableRow[]): Promise<void>;
  finish(archiveId: string): Promise<void>;
}

export async function* readTable(source: ArchiveSource, table: PortableTable) {
  let last: PortableRow | undefined;
  do {
    const rows = await source.readRows(table, last);
    if (rows.length === 0) return;
    yield rows;
    last = rows.length === pageOf(table) ? rows.at(-1) : undefined;
  } while (last);
}

/** Rows of one step of this table. */
export function pageOf({ page }: PortableTable): number {
  return page ?? PORTABLE_PAGE;
}

export function keyValuesOf({ key }: PortableTable, row: PortableRow): (string | number)[] {
  return key.map((column) => row[column] as string | number);
}
