// Changes of servers, keys, people and blocks. Each takes the next version of the directory first, so that all changes, of
// all instances, come one after another.
import type { AuditNote } from "../../core/ports/audit.ts";
import type { Driver, Sql } from "../sql.ts";
import { addAuditEntry } from "./audit.ts";
import type { Directory } from "./directory.ts";

export type ChangesDeps = { readonly driver: Driver; readonly directory: Directory };

export class Changes {
  /** Tells the other instances of a new version, before the change is answered. Must not throw. */
  announce: ((version: number) => Promise<void>) | undefined;

  constructor(private readonly deps: ChangesDeps) {}

  /**
   * One transaction. `change` returns undefined when it has no effect; then no audit entry is written. `ids` are those of the
   * servers and keys that change; `change` may add to them. When this resolves, the change is durable and known here.
   */
  async make<T>(
    ids: readonly string[],
    change: (sql: Sql) => Promise<T | undefined>,
    audit?: { readonly target: string; readonly note: AuditNote | undefined },
  ): Promise<T | undefined> {
    const { driver, directory } = this.deps;
    const made = await driver.transact(async (sql) => {
      // Changes come one after another, also those that turn out to have no effect, which take no version.
      await sql.get(`SELECT version FROM directory WHERE id = 1 ${sql.dialect.forUpdate}`);
      const result = await change(sql);
      if (result === undefined) return undefined;
      const version = await this.#takeVersion(sql);
      if (audit) await addAuditEntry(sql, audit.target, audit.note);
      await sql.runEach(
        "INSERT INTO changes (version, id) VALUES (?1, ?2)",
        ids.map((id) => [version, id]),
      );
      return { result, news: await directory.read(sql, version, ids) };
    });
    if (!made) return undefined;
    directory.applyOwn(made.news);
    await this.announce?.(made.news.version);
    return made.result;
  }

  async #takeVersion(sql: Sql): Promise<number> {
    const row = await sql.get<{ version: number }>(
      "UPDATE directory SET version = version + 1 WHERE id = 1 RETURNING version",
    );
    if (!row) throw new Error("the directory has no version");
    return row.version;
  }
}
