import { describe, expect, test } from "bun:test";
import { createPage, type Paper } from "./page.ts";
import type { Column } from "./table-layout.ts";

const COLUMNS: readonly Column[] = [{ title: "ID", isWhole: true }, { title: "LABEL" }];

function openPage(paper: Partial<Paper> = {}) {
  let printed = "";
  const page = createPage({
    write: (text) => {
      printed += text;
    },
    width: undefined,
    hasColours: false,
    ...paper,
  });
  return { page, read: () => printed };
}

describe("a page", () => {
  test("in a terminal no line of a table is wider than the terminal", () => {
    const { page, read } = openPage({ width: 30 });
    page.printTable(COLUMNS, [
      ["key_1234567890", "a label that goes on and on"],
      ["key_2", "我的城市很大我的城市很大"],
    ]);
    expect(read()).toBe(
      "ID              LABEL\n" + "key_1234567890  a label that …\n" + "key_2           我的城市很大…\n",
    );
  });

  test("a column begins at the same place in every line, whatever is before it", () => {
    const { page, read } = openPage({ width: 80 });
    const names = ["plain", "我的城市", "👩‍🚒 fire", "e\u0301te\u0301", "🇩🇪", "\x1b[31mred", ""];
    page.printTable(
      [{ title: "NAME" }, { title: "END" }],
      names.map((name) => [name, "|"]),
    );
    const [head = "", ...lines] = read().trimEnd().split("\n");
    expect(lines).toHaveLength(names.length);
    for (const line of lines) {
      expect([line, Bun.stringWidth(line.slice(0, line.indexOf("|")))]).toEqual([line, head.indexOf("END")]);
    }
  });

  test("empty cells at the end of a row leave no spaces behind", () => {
    const { page, read } = openPage();
    page.printTable(COLUMNS, [["key_1", ""]]);
    expect(read()).toBe("ID     LABEL\nkey_1\n");
  });

  test("in a file nothing is shortened", () => {
    const { page, read } = openPage();
    page.printTable(COLUMNS, [["key_1", "long ".repeat(60)]]);
    expect(read()).toContain("long ".repeat(60).trim());
  });

  test("a terminal too narrow for columns gets one field a line", () => {
    const { page, read } = openPage({ width: 16 });
    page.printTable(COLUMNS, [
      ["key_12345678", "two words"],
      ["key_2", "b"],
    ]);
    expect(read()).toBe("id     key_12345678\nlabel  two words\n\nid     key_2\nlabel  b\n");
  });

  test("hostile names change neither colours nor lines", () => {
    const { page, read } = openPage();
    page.printTable(COLUMNS, [["key_1", "\x1b[2Jx\nkey_9  forged\u202e"]]);
    page.printFields([["label", "\x1b]0;t\x07"]]);
    page.printLine("\x9b31m");
    expect(read()).toBe(
      "ID     LABEL\nkey_1  \\x1b[2Jx\\nkey_9  forged\\u{202e}\nlabel  \\x1b]0;t\\x07\n\\x9b31m\n",
    );
  });

  test("colours come only where they are wanted, and count for nothing in the width", () => {
    const rows = [["key_1", { text: "revoked", colour: "red" }]] as const;
    const plain = openPage({ width: 40 });
    plain.page.printTable(COLUMNS, rows);
    const coloured = openPage({ width: 40, hasColours: true });
    coloured.page.printTable(COLUMNS, rows);
    expect(plain.read()).not.toContain("\x1b");
    expect(coloured.read()).toContain("\x1b[31mrevoked\x1b[39m");
    expect(Bun.stripANSI(coloured.read())).toBe(plain.read());
  });

  test("a long value goes on under its beginning", () => {
    const { page, read } = openPage({ width: 20 });
    page.printFields([["sections", "Players Staff Queue"]]);
    expect(read()).toBe("sections  Players\n          Staff\n          Queue\n");
  });
});
