// Writes tables as CSV (RFC 4180), safe to open in a spreadsheet: no value is taken for a formula.

/** Null is an empty cell. */
export type CsvValue = string | number | null;

/** Spreadsheets take a text that begins so for a formula, and run it. */
const FORMULA = /^[=+\-@\t\r\n]/;

/** With a line of titles, and a line end after every row. */
export function writeCsv(titles: readonly string[], rows: Iterable<readonly CsvValue[]>): string {
  const lines = [titles, ...rows].map((row) => row.map(writeCell).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

/**
 * Numbers are numbers, also negative ones; only a text can be a formula. Every text is quoted: a spreadsheet may split cells at
 * semicolons or tabs too, and what follows one could be a formula.
 */
function writeCell(value: CsvValue): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return `"${text.replaceAll('"', '""')}"`;
}
