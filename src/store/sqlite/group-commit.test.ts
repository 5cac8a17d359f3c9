// One wait for the disk for many changes, and no half of a group.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { StoreUnavailable } from "../../core/errors.ts";
import { GroupCommit } from "./group-commit.ts";

function openGroup() {
  const db = new Database(":memory:", { strict: true });
  db.exec("CREATE TABLE notes (text TEXT)");
  const group = new GroupCommit(db, () => {});
  const note = (text: string) => group.run(() => db.query("INSERT INTO notes VALUES (?)").run(text).changes);
  const count = () => db.query<{ count: number }, []>("SELECT count(*) AS count FROM notes").get()?.count;
  return { db, group, note, count };
}

test("what is asked within one turn happens in the order in which it was asked", async () => {
  const { db, note, count } = openGroup();
  expect(await Promise.all(["a", "b", "c"].map(note))).toEqual([1, 1, 1]);
  expect(count()).toBe(3);
  expect(db.query("SELECT text FROM notes").values().flat()).toEqual(["a", "b", "c"]);
});

test("what is asked within one turn is one transaction: a change that throws takes all with it, and the next are well", async () => {
  const { group, note, count } = openGroup();
  const before = note("before");
  const wrong = group.run(() => {
    throw new Error("broken");
  });
  const after = note("after");
  for (const one of await Promise.allSettled([before, wrong, after])) {
    expect(one.status === "rejected" && one.reason).toBeInstanceOf(StoreUnavailable);
  }
  expect(count()).toBe(0);
  expect(await note("later")).toBe(1);
  expect(count()).toBe(1);
});

test("a change that is asked for by another's answer comes in a later group", async () => {
  const { note, count } = openGroup();
  await note("first").then(() => note("second"));
  expect(count()).toBe(2);
});

test("flush commits what waits, now and once", async () => {
  const { group, note, count } = openGroup();
  const answers = Array.from({ length: 600 }, (_, index) => note(String(index)));
  group.flush();
  expect(count()).toBe(600);
  await Promise.all(answers);
  expect(count()).toBe(600);
});
