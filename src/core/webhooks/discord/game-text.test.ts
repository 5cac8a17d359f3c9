// What becomes of names and texts that want to be more than text.
import { describe, expect, test } from "bun:test";
import { findHostileMarkdown } from "../../../../test/discord-limits.ts";
import { cleanText, escapeMarkdown, writeCode, writePlayerLink, writeText, writeTime } from "./game-text.ts";

describe("text from the game", () => {
  test.each([
    ["**bold** _it_ ~~gone~~ ||spoiler||", "\\*\\*bold\\*\\* \\_it\\_ \\~\\~gone\\~\\~ \\|\\|spoiler\\|\\|"],
    ["[free](https://evil.example)", "\\[free\\]\\(https\\://evil.example\\)"],
    ["<@123> <#4> <:a:5> <t:6:R>", "\\<@\u200b123\\> \\<\\#4\\> \\<\\:a\\:5\\> \\<t\\:6\\:R\\>"],
    ["@everyone", "@\u200beveryone"],
    ["# title", "\\# title"],
    ["> quote", "\\> quote"],
    ["1. list", "1\\. list"],
    ["- list", "\\- list"],
    ["back\\*slash", "back\\\\\\*slash"],
    ["`code`", "\\`code\\`"],
    ["plain Name 12", "plain Name 12"],
  ])("%p is shown as it is", (text, written) => {
    expect(escapeMarkdown(text)).toBe(written);
    expect(findHostileMarkdown(written)).toEqual([]);
  });

  test.each([
    ["a\u202eb\u200bc\ufeffd\u2066e", "abcde"],
    ["two\n\n# lines\t", "two # lines"],
    ["\u3164\u2800\u115f", ""],
    ["half \ud83d", "half"],
    ["👨\u200d👩\u200d👧 family", "👨\u200d👩\u200d👧 family"],
    ["hid\u200dden", "hidden"],
    [`z${"\u0301".repeat(50)}`, `z${"\u0301".repeat(3)}`],
  ])("%p has nothing invisible and one line", (text, clean) => {
    expect(cleanText(text, 100)).toBe(clean);
  });

  test("a long text is shortened between whole characters", () => {
    expect(cleanText("a".repeat(10_000), 10)).toBe("aaaaaaaaa…");
    expect(cleanText("🙂".repeat(10_000), 10)).toBe("🙂🙂🙂🙂…");
    expect(cleanText("a".repeat(10), 10)).toBe("aaaaaaaaaa");
  });

  test("text from right to left turns nothing around it", () => {
    expect(writeText("שלום", 100)).toBe("\u2068שלום\u2069");
    expect(writePlayerLink("مرحبا", "5")).toBe("[\u2068مرحبا\u2069](https://www.roblox.com/users/5/profile)");
  });

  test("code cannot be left", () => {
    expect(writeCode("a ` **b** `` @everyone", 100)).toBe("`a ˋ **b** ˋˋ @\u200beveryone`");
    expect(writeCode(" \u200b ", 100)).toBeUndefined();
  });

  test("a name leads to the player's own profile and nowhere else", () => {
    expect(writePlayerLink("x_Name_x", "123")).toBe("[x\\_Name\\_x](https://www.roblox.com/users/123/profile)");
    const hostile = writePlayerLink("a](https://evil.example)[b", "123") ?? "";
    expect(hostile).toBe("[a］\\(https\\://evil.example\\)［b](https://www.roblox.com/users/123/profile)");
    expect(findHostileMarkdown(hostile)).toEqual([]);
    expect(writePlayerLink("Remote Server", undefined)).toBe("Remote Server");
    expect(writePlayerLink("deleted", "0")).toBe("deleted");
    expect(writePlayerLink("\u200b", "123")).toBe("[123](https://www.roblox.com/users/123/profile)");
    expect(writePlayerLink("", undefined)).toBeUndefined();
  });

  test("times are whole seconds, which each reader's own clock shows", () => {
    expect(writeTime(1_704_614_400_999, "R")).toBe("<t:1704614400:R>");
  });
});
