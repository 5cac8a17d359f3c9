// How the driver of SQLite groups transactions, and what it does with those that fail.
import { Database, SQLiteError } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { StoreUnavailable } from "../core/errors.ts";
import type { Sql } from "./sql.ts";
import { SqliteDriver } from "./sqlite.ts";

let db: Database;
let driver: SqliteDriver;
let commits: number;
let failed: unknown[];
let check: () => void;

beforeEach(() => {
  db = new Database(":memory:", { strict: true });
  db.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
  [commits, failed] = [0, []];
  check = () => {};
  driver = new SqliteDriver(db, {
    check() {
      commits++;
      check();
    },
    onFailedCommit: (error) => failed.push(error),
  });
});
afterEach(() => driver.close());

function add(text: string | null): Promise<string | null> {
  return driver.transact(async (sql) => {
    await sql.run("INSERT INTO notes (text) VALUES (?1)", text);
    return text;
  });
}

const list = (sql: Sql) => sql.all<{ text: string }>("SELECT text FROM notes ORDER BY id");
const listNow = async () => (await driver.query(list)).map(({ text }) => text);

describe("transactions of one turn of the event loop", () => {
  test("share a commit, are applied in their order, and get their own results", async () => {
    expect(await Promise.all(["a", "b", "c"].map(add))).toEqual(["a", "b", "c"]);
    expect([commits, await listNow()]).toEqual([1, ["a", "b", "c"]]);
  });

  test("see each other's changes", async () => {
    const counts = ["a", "b"].map(() =>
      driver.transact(async (sql) => {
        await sql.run("INSERT INTO notes (text) VALUES ('x')");
        return (await list(sql)).length;
      }),
    );
    expect(await Promise.all(counts)).toEqual([1, 2]);
  });

  test("beyond 256 are committed in further groups", async () => {
    await Promise.all(Array.from({ length: 257 }, (_, i) => add(String(i))));
    expect([commits, (await listNow()).length]).toEqual([2, 257]);
  });

  test("are committed without one that throws, of which nothing stays", async () => {
    const broken = driver.transact(async (sql) => {
      await sql.run("INSERT INTO notes (text) VALUES ('half')");
      throw new TypeError("a bug");
    });
    const [first, second, third] = await Promise.allSettled([add("a"), broken, add("b")]);
    expect([first.status, third.status]).toEqual(["fulfilled", "fulfilled"]);
    expect(second).toMatchObject({ status: "rejected", reason: expect.any(TypeError) });
    expect([commits, failed, await listNow()]).toEqual([1, [], ["a", "b"]]);
  });

  test("are committed without one that SQLite refuses, which is told as unavailable", async () => {
    const [first, second] = await Promise.allSettled([add("a"), add(null)]);
    expect(first.status).toBe("fulfilled");
    expect(second).toMatchObject({ status: "rejected", reason: expect.any(StoreUnavailable) });
    expect(await listNow()).toEqual(["a"]);
  });

  test("all fail when the file must not be written", async () => {
    check = () => {
      throw new StoreUnavailable("the file is gone");
    };
    const outcomes = await Promise.allSettled(["a", "b"].map(add));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: expect.any(StoreUnavailable) });
    expect(await listNow()).toEqual([]);
  });
});

test("one transaction that fails leaves nothing, and its commit counts as failed before its caller learns of it", async () => {
  const outcome = await add(null).catch((error: unknown) => [error, failed.length]);
  expect(outcome).toEqual([expect.any(StoreUnavailable), 1]);
  expect(failed[0]).toBeInstanceOf(SQLiteError);
});

test("a synchronous read sees what was committed, and nothing of a transaction that is under way", async () => {
  const count = () => driver.getNow<{ n: number }>("SELECT count(*) AS n FROM notes")?.n;
  const adding = add("a");
  expect(count()).toBe(0);
  await adding;
  expect(count()).toBe(1);
});

test("a synchronous write is durable when it returns, and a refused one is unavailable", () => {
  driver.runNow("INSERT INTO notes (text) VALUES (?1)", "a");
  expect(db.query("SELECT text FROM notes").all()).toEqual([{ text: "a" }]);
  expect(() => driver.runNow("INSERT INTO notes (text) VALUES (?1)", null)).toThrow(StoreUnavailable);
});

test("draining waits for everything that was asked for", async () => {
  const adding = add("a");
  await driver.drain();
  expect(db.query("SELECT text FROM notes").all()).toEqual([{ text: "a" }]);
  await adding;
});
