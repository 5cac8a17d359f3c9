import { expect, test } from "bun:test";
import { type CsvValue, writeCsv } from "./history-csv.ts";

function writeValue(value: CsvValue): string {
  return writeCsv([], [[value]]).slice(2, -2);
}

test("has a line of titles and ends every line, also the last", () => {
  expect(
    writeCsv(
      ["a", "b"],
      [
        [1, "x"],
        [null, "y"],
      ],
    ),
  ).toBe('"a","b"\r\n1,"x"\r\n,"y"\r\n');
  expect(writeCsv(["a"], [])).toBe('"a"\r\n');
});

test("a text that a spreadsheet would run is a text", () => {
  for (const text of ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", '=HYPERLINK("http://x","y")'])
    expect(writeValue(text)).toStartWith(`"'`);
  expect(writeValue("\r=1")).toBe('"\'\r=1"');
  expect(writeValue("\n=1")).toBe('"\'\n=1"');
  expect(writeValue('=A("x")')).toBe('"\'=A(""x"")"');
  expect(writeValue("a=1")).toBe('"a=1"');
});

test("numbers stay numbers", () => {
  expect([0, -1.5, 12].map(writeValue)).toEqual(["0", "-1.5", "12"]);
});

test("quotes are doubled, and every text is quoted, whatever a spreadsheet splits cells at", () => {
  expect(writeValue('say "hi"')).toBe('"say ""hi"""');
  for (const text of ["a,b", "a;=1+1", "a\t=1+1", "a|=1+1", "two\nlines", "Ёж 🦔", "12", ""])
    expect(writeValue(text)).toBe(`"${text}"`);
});

test("a title can be as hostile as a value", () => {
  expect(writeCsv(["=x"], [])).toBe(`"'=x"\r\n`);
});
