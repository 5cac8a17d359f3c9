// Many changes share one commit, and a group is committed as a whole or not at all.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { StoreUnavailable } from "../../core/errors.ts";
import { Committer } from "./committer.ts";
import { GroupCommit } from "./group-commit.ts";

function openGroup() {
  const db = new Database(":memory:", { strict: true });
  db.exec("CREATE TABLE notes (text TEXT)");
  const group = new GroupCommit(new Committer(db, () => {}, { warn() {} }));
  const note = (text: string) => group.run(() => db.query("INSERT INTO notes VALUES (?)").run(text).changes);
  const count = () => db.query<{ count: number }, []>("SELECT count(*) AS count FROM notes").get()?.count;
  return { db, group, note, count };
}

test("changes of one turn of the event loop are made in their order", async () => {
  const { db, note, count } = openGroup();
  expect(await Promise.all(["a", "b", "c"].map(note))).toEqual([1, 1, 1]);
  expect(count()).toBe(3);
  expect(db.query("SELECT text FROM notes").values().flat()).toEqual(["a", "b", "c"]);
});

test("changes of one turn of the event loop are one transaction: an error of SQLite rejects all of them as unavailable", async () => {
  const { db, group, note, count } = openGroup();
  const beside = note("beside");
  const wrong = group.run(() => db.query("INSERT INTO nowhere VALUES (1)").run());
  for (const outcome of await Promise.allSettled([beside, wrong]))
    expect(outcome.status === "rejected" && outcome.reason).toBeInstanceOf(StoreUnavailable);
  expect(count()).toBe(0);
  expect(await note("after")).toBe(1);
  expect(count()).toBe(1);
});

test("a bug in one change rejects only that change, with its own error, and the group is committed without it", async () => {
  const { db, group, note, count } = openGroup();
  const bug = new TypeError("a bug");
  const before = note("before");
  const wrong = group.run(() => {
    db.query("INSERT INTO notes VALUES ('half')").run();
    throw bug;
  });
  const [first, second, third] = await Promise.allSettled([before, wrong, note("behind")]);
  expect([first, third]).toEqual(Array(2).fill({ status: "fulfilled", value: 1 }));
  expect(second).toEqual({ status: "rejected", reason: bug });
  expect(count()).toBe(2);
});

test("a change that follows the result of another is in a later group", async () => {
  const { note, count } = openGroup();
  await note("first").then(() => note("second"));
  expect(count()).toBe(2);
});

test("flush commits all waiting changes at once, and only once", async () => {
  const { group, note, count } = openGroup();
  const answers = Array.from({ length: 600 }, (_, index) => note(String(index)));
  group.flush();
  expect(count()).toBe(600);
  await Promise.all(answers);
  expect(count()).toBe(600);
});
