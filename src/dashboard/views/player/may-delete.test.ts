import { expect, test } from "bun:test";
import { mayDelete } from "./player-notes.tsx";

test("a note is deleted by its writer, key or person, and by whoever may send every command", () => {
  const by = (kind: "person" | "key", id: string) => ({ by: { kind, id, name: "x" } });
  expect(mayDelete(by("key", "key_1"), [":pm"], "key_1")).toBe(true);
  expect(mayDelete(by("key", "key_1"), [":pm"], "key_2")).toBe(false);
  expect(mayDelete(by("person", "per_1"), [":pm"], "per_1@srv_a")).toBe(true);
  expect(mayDelete(by("person", "per_1"), [":pm"], "per_2@srv_a")).toBe(false);
  expect(mayDelete(by("person", "per_1"), ["*"], "key_2")).toBe(true);
});
