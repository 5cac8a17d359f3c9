import { Database } from "bun:sqlite";
import { beforeEach, describe, expect, test } from "bun:test";
import { StoreUnavailable } from "../../core/errors.ts";
import type { Sql } from "../sql.ts";
import { SqliteDriver } from "../sqlite.ts";
import { QueueChanges } from "./queue-changes.ts";

describe("changes of queues", () => {
  let db: Database;
  let transactions: number;
  let changes: QueueChanges;
  let fault: Error | undefined;

  beforeEach(() => {
    db = new Database(":memory:");
    db.exec("CREATE TABLE notes (server_id TEXT, note TEXT)");
    const driver = new SqliteDriver(db, { check() {}, onFailedCommit() {} });
    transactions = 0;
    fault = undefined;
    changes = new QueueChanges({
      query: (work) => driver.query(work),
      snapshot: (work) => driver.snapshot(work),
      transact(work) {
        transactions++;
        return driver.transact(async (sql) => {
          const value = await work(sql);
          if (fault) throw fault;
          return value;
        });
      },
    });
  });

  const add = (serverId: string, note: string) =>
    changes.make(serverId, async (sql: Sql) => {
      await sql.run("INSERT INTO notes VALUES (?1, ?2)", serverId, note);
      return note;
    });
  const fail = (serverId: string) =>
    changes.make(serverId, async (sql: Sql) => {
      await sql.run("INSERT INTO notes VALUES (?1, 'of a bug')", serverId);
      throw new TypeError("a bug");
    });
  const notesOf = (serverId: string) =>
    db
      .query<{ note: string }, [string]>("SELECT note FROM notes WHERE server_id = ? ORDER BY rowid")
      .all(serverId)
      .map(({ note }) => note);

  test("that come together share a transaction, and those of one queue keep their order", async () => {
    const made = ["a", "b", "a", "c", "a"].map((serverId, index) => add(serverId, String(index)));
    expect(await Promise.all(made)).toEqual(["0", "1", "2", "3", "4"]);
    expect(transactions).toBe(1);
    expect(notesOf("a")).toEqual(["0", "2", "4"]);
  });

  test("with a bug are refused alone, and the others are made once", async () => {
    const made = await Promise.allSettled([add("a", "0"), fail("a"), add("a", "1"), add("b", "2"), fail("b")]);
    expect(made.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled", "rejected"]);
    for (const one of made) if (one.status === "rejected") expect(one.reason).toBeInstanceOf(TypeError);
    expect([...notesOf("a"), ...notesOf("b")]).toEqual(["0", "1", "2"]);
  });

  test("are all refused when the database is away, those that wait too, and the next are made", async () => {
    fault = new StoreUnavailable("away");
    const many = Array.from({ length: 600 }, (_, index) => add(`srv_${index}`, "0"));
    const made = await Promise.allSettled(many);
    expect(new Set(made.map((one) => one.status === "rejected" && one.reason))).toEqual(new Set([fault]));
    expect(transactions).toBeLessThanOrEqual(2);
    fault = undefined;
    expect(await add("srv_1", "1")).toBe("1");
    expect(notesOf("srv_1")).toEqual(["1"]);
  });
});
