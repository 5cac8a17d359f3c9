import { expect, test } from "bun:test";
import { findCommandKind } from "./command-kinds.ts";

test("the kind of a command is that of its first word, in any case and under any of its names", () => {
  expect([":kick Bob spam", ";KICK bob", "  :ban 1", ":jail a,b"].map(findCommandKind)).toEqual([
    "kick",
    "kick",
    "ban",
    "jail",
  ]);
  for (const text of [":h hello", ":Hint x", ":m", ":pm Bob hi"]) expect(findCommandKind(text)).toBe("message");
  for (const text of [":tp a b", ":bring a", ":to a"]) expect(findCommandKind(text)).toBe("teleport");
});

test("every other text has no kind", () => {
  for (const text of [":kicker a", ":unban 1", ":unjail 1", ":log", "", ":", "a:kick b", null, 7, "x".repeat(1e6)])
    expect(findCommandKind(text)).toBeNull();
});
