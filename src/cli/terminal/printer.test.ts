import { describe, expect, test } from "bun:test";
import { canShowColours, Printer, type PrinterOptions } from "./printer.ts";
import type { Column } from "./table-layout.ts";

const COLUMNS: readonly Column[] = [{ title: "ID", isWhole: true }, { title: "LABEL" }];

function openPrinter(options: Partial<PrinterOptions> = {}) {
  let printed = "";
  const printer = new Printer({
    write: (text) => {
      printed += text;
    },
    width: undefined,
    hasColours: false,
    ...options,
  });
  return { printer, read: () => printed };
}

test.each([
  [true, {}, true],
  [true, { NO_COLOR: "1" }, false],
  [true, { NO_COLOR: "" }, true],
  [true, { TERM: "dumb" }, false],
  [false, {}, false],
])("on a terminal: %j, with the environment %j, colours are shown: %j", (isTTY, environment, expected) => {
  expect(canShowColours({ isTTY }, environment)).toBe(expected);
});

describe("the printer", () => {
  test("in a terminal no line of a table is wider than the terminal", () => {
    const { printer, read } = openPrinter({ width: 30 });
    printer.printTable(COLUMNS, [
      ["key_1234567890", "a label that goes on and on"],
      ["key_2", "我的城市很大我的城市很大"],
    ]);
    expect(read()).toBe(
      "ID              LABEL\n" + "key_1234567890  a label that …\n" + "key_2           我的城市很大…\n",
    );
  });

  test("a column begins at the same place in every line, whatever is before it", () => {
    const { printer, read } = openPrinter({ width: 80 });
    const names = ["plain", "我的城市", "👩‍🚒 fire", "e\u0301te\u0301", "🇩🇪", "\x1b[31mred", ""];
    printer.printTable(
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
    const { printer, read } = openPrinter();
    printer.printTable(COLUMNS, [["key_1", ""]]);
    expect(read()).toBe("ID     LABEL\nkey_1\n");
  });

  test("in a file nothing is shortened", () => {
    const { printer, read } = openPrinter();
    printer.printTable(COLUMNS, [["key_1", "long ".repeat(60)]]);
    expect(read()).toContain("long ".repeat(60).trim());
  });

  test("a terminal too narrow for columns gets one field a line", () => {
    const { printer, read } = openPrinter({ width: 16 });
    printer.printTable(COLUMNS, [
      ["key_12345678", "two words"],
      ["key_2", "b"],
    ]);
    expect(read()).toBe("id     key_12345678\nlabel  two words\n\nid     key_2\nlabel  b\n");
  });

  test("hostile names change neither colours nor lines", () => {
    const { printer, read } = openPrinter();
    printer.printTable(COLUMNS, [["key_1", "\x1b[2Jx\nkey_9  forged\u202e"]]);
    printer.printFields([["label", "\x1b]0;t\x07"]]);
    printer.printLine("\x9b31m");
    expect(read()).toBe("ID     LABEL\nkey_1  \\x1b[2Jx\\nkey_9  forged\\u{202e}\nlabel  \\x1b]0;t\\x07\n\\x9b31m\n");
  });

  test("colours are used only where they are wanted, and do not change the width", () => {
    const rows = [["key_1", { text: "revoked", colour: "red" }]] as const;
    const plain = openPrinter({ width: 40 });
    plain.printer.printTable(COLUMNS, rows);
    const coloured = openPrinter({ width: 40, hasColours: true });
    coloured.printer.printTable(COLUMNS, rows);
    expect(plain.read()).not.toContain("\x1b");
    expect(coloured.read()).toContain("\x1b[31mrevoked\x1b[39m");
    expect(Bun.stripANSI(coloured.read())).toBe(plain.read());
  });

  test("a long value continues below its first line", () => {
    const { printer, read } = openPrinter({ width: 20 });
    printer.printFields([["sections", "Players Staff Queue"]]);
    expect(read()).toBe("sections  Players\n          Staff\n          Queue\n");
  });
});
