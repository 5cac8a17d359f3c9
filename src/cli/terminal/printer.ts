// Prints on standard output: tables that fit the terminal, and resources field by field. Text from elsewhere is
// escaped, and colours are used only on a terminal.
import { styleText } from "node:util";
import type { Environment } from "../connection/admin-address.ts";
import { escapeUnsafe } from "./safe-text.ts";
import { COLUMN_GAP, type Column, chooseColumns, fitColumns, shorten, wrap } from "./table-layout.ts";

/** On a narrow terminal the last cell of a growing table goes over the edge rather than being unreadable. */
const LAST_CELL_WIDTH_MIN = 20;

/** The widest name beside a remark below a table. */
const REMARK_NAME_WIDTH_MAX = 24;

export type Colour = "green" | "yellow" | "red" | "dim" | "bold";
/** Text from anywhere; it is escaped before it is printed. */
export type Cell = string | { readonly text: string; readonly colour: Colour };
export type Field = readonly [name: string, value: Cell];

export type PrinterOptions = {
  readonly write: (text: string) => void;
  /** Undefined for a file or a pipe, where nothing is shortened. */
  readonly width: number | undefined;
  readonly hasColours: boolean;
};

export class Printer {
  readonly #write: (text: string) => void;
  readonly #width: number | undefined;
  readonly #hasColours: boolean;

  constructor({ write, width, hasColours }: PrinterOptions) {
    this.#write = write;
    this.#width = width;
    this.#hasColours = hasColours;
  }

  printLine(text: string, colour?: Colour): void {
    this.#write(`${this.#paint(escapeUnsafe(text), colour)}\n`);
  }

  printFields(fields: readonly Field[]): void {
    const nameWidth = Math.max(0, ...fields.map(([name]) => name.length)) + COLUMN_GAP;
    for (const [name, cell] of fields) {
      const text = textOf(cell);
      const lines = this.#width === undefined ? [text] : wrap(text, Math.max(1, this.#width - nameWidth));
      const [first = "", ...rest] = lines.map((line) => this.#paint(line, colourOf(cell)));
      this.#write(`${this.#paint(name.padEnd(nameWidth), "dim")}${first}\n`);
      for (const line of rest) this.#write(`${" ".repeat(nameWidth)}${line}\n`);
    }
  }

  /** What there is to say about rows of the table above it: beside the columns there is no room for it. */
  printRemarks(remarks: readonly (readonly string[])[]): void {
    if (remarks.length > 0) this.printLine("");
    this.printFields(
      remarks.map(([name = "", remark = ""]) => [shorten(escapeUnsafe(name), REMARK_NAME_WIDTH_MAX), remark]),
    );
  }

  /** On a terminal that is too narrow for columns, each row is printed field by field. */
  printTable(allColumns: readonly Column[], allRows: readonly (readonly Cell[])[]): void {
    const widthMax = this.#width ?? Number.POSITIVE_INFINITY;
    const places = chooseColumns(
      allColumns,
      allRows.map((row) => row.map(textOf)),
      widthMax,
    );
    const columns = places.map((place) => allColumns[place] ?? { title: "" });
    const rows = allRows.map((row) => places.map((place) => row[place] ?? ""));
    const texts = rows.map((row) => row.map(textOf));
    const widths = fitColumns(columns, texts, widthMax);
    if (widths === undefined) {
      this.#printRowsAsFields(columns, rows);
      return;
    }
    const head = columns.map(({ title }): Cell => ({ text: title, colour: "bold" }));
    for (const row of [head, ...rows]) this.#printRow(row, widths);
  }

  /** A row of a table that grows. The last cell gets what the widths of the others leave of the line. */
  printRow(row: readonly Cell[], widths: readonly number[]): void {
    const taken = widths.reduce((sum, width) => sum + width + COLUMN_GAP, 0);
    const last = Bun.stringWidth(textOf(row.at(-1) ?? ""));
    const rest = this.#width === undefined ? last : Math.max(LAST_CELL_WIDTH_MIN, this.#width - taken);
    this.#printRow(row, [...widths, rest]);
  }

  #printRow(row: readonly Cell[], widths: readonly number[]): void {
    const cells = widths.map((width, column) => {
      const cell = row[column] ?? "";
      const text = shorten(textOf(cell), width);
      // Colours take no room on the screen, so the padding is measured without them.
      return this.#paint(text, colourOf(cell)) + " ".repeat(width - Bun.stringWidth(text) + COLUMN_GAP);
    });
    this.#write(`${cells.join("").replace(/ +$/, "")}\n`);
  }

  #printRowsAsFields(columns: readonly Column[], rows: readonly (readonly Cell[])[]): void {
    for (const [index, row] of rows.entries()) {
      if (index > 0) this.#write("\n");
      this.printFields(columns.map(({ title }, column) => [title.toLowerCase(), row[column] ?? ""]));
    }
  }

  #paint(text: string, colour: Colour | undefined): string {
    return this.#hasColours && colour !== undefined ? styleText(colour, text, { validateStream: false }) : text;
  }
}

export function openStandardPrinter(environment: Environment): Printer {
  const { stdout } = process;
  return new Printer({
    write: (text) => void stdout.write(text),
    width: stdout.isTTY ? stdout.columns || 80 : undefined,
    hasColours: canShowColours(stdout, environment),
  });
}

export function canShowColours(output: { readonly isTTY?: boolean }, environment: Environment): boolean {
  return output.isTTY === true && !environment.NO_COLOR && environment.TERM !== "dumb";
}

function textOf(cell: Cell): string {
  return escapeUnsafe(typeof cell === "string" ? cell : cell.text);
}

function colourOf(cell: Cell): Colour | undefined {
  return typeof cell === "string" ? undefined : cell.colour;
}
