import { expect, test } from "bun:test";
import { CursorSealer } from "./pages.ts";

const sealer = new CursorSealer("a secret");
const CURSORS = ["0", "2n", "zz9", "rkw4t2v1mq.cmd_zRH77T5ZugEUB3g6rBBKsrvX0PpV3mYbL1nKcD7w", "x".repeat(64)];

test.each(CURSORS)("a cursor is opened for its list, by every instance with the same secret: %s", (cursor) => {
  const sealed = sealer.seal("keys", cursor);
  expect(sealed).toMatch(/^[A-Za-z0-9_-]{40,300}$/);
  expect(new CursorSealer("a secret").open("keys", sealed)).toBe(cursor);
});

test("a cursor of another list or another secret is refused", () => {
  const sealed = sealer.seal("keys", "2n");
  expect(sealer.open("servers", sealed)).toBeUndefined();
  expect(new CursorSealer("another secret").open("keys", sealed)).toBeUndefined();
});

test("a cursor in which any character was changed, added or removed is refused", () => {
  const sealed = sealer.seal("keys", "2n");
  for (let i = 0; i < sealed.length; i++) {
    const other = sealed[i] === "A" ? "B" : "A";
    expect(sealer.open("keys", sealed.slice(0, i) + other + sealed.slice(i + 1))).toBeUndefined();
    expect(sealer.open("keys", sealed.slice(0, i) + sealed.slice(i + 1))).toBeUndefined();
    expect(sealer.open("keys", sealed.slice(0, i) + other + sealed.slice(i))).toBeUndefined();
  }
  for (const invented of ["", "2n", "x".repeat(59), "x".repeat(1000)]) {
    expect(sealer.open("keys", invented)).toBeUndefined();
  }
});

test("neither the text nor the length of a cursor tells the position", () => {
  const [near, far] = [sealer.seal("keys", "1"), sealer.seal("keys", "zzzzzzzz")];
  expect(near.length).toBe(far.length);
  expect(sealer.seal("keys", "1")).not.toBe(near);
  expect(Buffer.from(far, "base64url").toString("latin1")).not.toContain("zzzz");
});
