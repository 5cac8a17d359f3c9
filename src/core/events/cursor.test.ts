// Cursors survive the way through a reader, and rubbish is recognised.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { MARK_MAX, parseCursor, writeCursor } from "./cursor.ts";

const place = fc.record({
  number: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
  mark: fc.integer({ min: 0, max: MARK_MAX }),
});

test("a cursor leads back to its place, for its own server only", () => {
  fc.assert(
    fc.property(place, (given) => {
      const cursor = writeCursor("srv_a", given);
      expect(cursor).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(parseCursor(cursor, "srv_a")).toEqual(given);
      expect(parseCursor(cursor, "srv_b")).toBe("foreign");
    }),
  );
});

test("text that is no cursor is invalid, a changed one too", () => {
  const cursor = writeCursor("srv_a", { number: 7, mark: 9 });
  for (const text of ["", "earliest", "0", "x".repeat(24), cursor.slice(1), `${cursor}A`, ` ${cursor}`, "ю"])
    expect(parseCursor(text, "srv_a")).toBe("invalid");
  const changed = `${cursor[0] === "B" ? "C" : "B"}${cursor.slice(1)}`;
  expect(parseCursor(changed, "srv_a")).toBe("invalid");
});
