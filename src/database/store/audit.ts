// The audit log. Entries are added in the transaction of the change they describe, and never changed.
import {
  type Actor,
  type AuditDetails,
  type AuditEntry,
  type AuditFilter,
  type AuditNote,
  type AuditStore,
  GATEHOUSE,
  isMatchingEntry,
  parseAuditId,
  toMasterActor,
} from "../../core/ports/audit.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import { type Driver, insertRow, type Sql, toStorable, type Value } from "../sql.ts";
import { toCursor, toSeq } from "./rows.ts";

/** A page with a filter looks through entries with so many numbers, and reads so many at once. */
const SCAN_MAX = 20_000;
const READ_AT_ONCE = 500;

type AuditRow = Pick<AuditEntry, "at" | "action" | "target"> & {
  readonly seq: number;
  readonly actor: string;
  readonly details: string;
  readonly server_id: string | null;
};

/** Within the transaction of the change. */
export async function addAuditEntry(sql: Sql, target: string, note: AuditNote | undefined): Promise<void> {
  if (!note) return;
  const { at, action, actor, details, serverId } = note;
  const texts = { actor: JSON.stringify(actor), target, details: JSON.stringify(details) };
  await insertRow(sql, "audit", { at, action, ...texts, server_id: serverId ?? null });
}

export class AuditTable implements AuditStore {
  constructor(private readonly driver: Driver) {}

  add(target: string, note: AuditNote): Promise<void> {
    return this.driver.transact((sql) => addAuditEntry(sql, target, note));
  }

  async list({ limit, cursor, ...filter }: PageRequest & AuditFilter): Promise<Page<AuditEntry>> {
    const ends = await this.driver.query((sql) => sql.get<{ oldest: number | null; newest: number | null }>(ENDS));
    const oldest = ends?.oldest ?? 0;
    const newest = ends?.newest ?? 0;
    let before = Math.min(cursor === undefined ? newest + 1 : toSeq(cursor), newest + 1);
    const isFiltered = Object.values(filter).some((value) => value !== undefined);
    const scanEnd = isFiltered ? Math.max(before - SCAN_MAX, oldest) : oldest;
    const isReadThrough = filter.actor !== undefined || filter.query !== undefined;
    const readMax = isReadThrough ? READ_AT_ONCE : limit + 1;
    const found: { readonly seq: number; readonly entry: AuditEntry }[] = [];
    for (;;) {
      const rows = await this.driver.query((sql) => readRows(sql, filter, before, scanEnd, readMax));
      for (const row of rows) {
        const entry = toEntry(row);
        if (!isMatchingEntry(filter, entry)) continue;
        const last = found.at(limit - 1);
        if (last) return { items: found.map((one) => one.entry), next: toCursor(last.seq) };
        found.push({ seq: row.seq, entry });
      }
      const next = rows.at(readMax - 1);
      if (!next) break;
      before = next.seq;
      // Other requests get their turn between two batches.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return { items: found.map((one) => one.entry), next: scanEnd > oldest ? toCursor(scanEnd) : null };
  }

  find(id: string): Promise<AuditEntry | undefined> {
    const seq = parseAuditId(id);
    if (seq === undefined) return Promise.resolve(undefined);
    return this.driver.query(async (sql) => {
      const row = await sql.get<AuditRow>("SELECT * FROM audit WHERE seq = ?1", seq);
      return row && toEntry(row);
    });
  }
}

/** Apart from each other, because SQLite finds only one of them at once. */
const ENDS = "SELECT (SELECT min(seq) FROM audit) AS oldest, (SELECT max(seq) FROM audit) AS newest";

/** The newest first, with what the database can compare. */
function readRows(
  sql: Sql,
  { action, target, from, to, serverIds }: AuditFilter,
  before: number,
  scanEnd: number,
  max: number,
): Promise<AuditRow[]> {
  const values: Value[] = [before, scanEnd, max];
  const conditions = ["seq < ?1", "seq >= ?2"];
  const compare = (comparison: string, value: Value | undefined) => {
    if (value !== undefined)
      conditions.push(`${comparison} ?${values.push(typeof value === "string" ? toStorable(value) : value)}`);
  };
  compare("action =", action);
  compare("target =", target);
  compare("at >=", from);
  compare("at <", to);
  if (serverIds)
    conditions.push(sql.dialect.isAmong("server_id", `?${values.push(JSON.stringify(serverIds))}`, "text"));
  return sql.all<AuditRow>(
    `SELECT * FROM audit WHERE ${conditions.join(" AND ")} ORDER BY seq DESC LIMIT ?3`,
    ...values,
  );
}

/** Of entries before people had names. */
type OldActor = { readonly fingerprint: string; readonly address: string };

function toActor(actor: Actor | OldActor): Actor {
  if ("kind" in actor) return actor;
  const { fingerprint, address } = actor;
  if (fingerprint === GATEHOUSE.id) return GATEHOUSE;
  if (fingerprint.startsWith("key_")) return { kind: "key", id: fingerprint, name: "", address };
  return toMasterActor(fingerprint, address);
}

function toEntry({ seq, actor, details, server_id, ...row }: AuditRow): AuditEntry {
  return {
    ...row,
    id: `aud_${seq.toString(36)}`,
    actor: toActor(JSON.parse(actor) as Actor | OldActor),
    details: JSON.parse(details) as AuditDetails,
    ...(server_id !== null && { serverId: server_id }),
  };
}
