// What a command prints on standard output: tables that fit the terminal, single resources field by field, and nothing that
// a hostile name could use. Colours only where a person sees them.
import { styleText } from "node:util";
import type { Environment } from "./admin-address.ts";
import { escapeUnsafe } from "./safe-text.ts";
import { COLUMN_GAP, type Column, fitColumns, shorten, wrap } from "./table-layout.ts";

export type Colour = "green" | "yellow" | "red" | "dim" | "bold";
/** Text from anywhere; it is made harmless before it is printed. */
export type Cell = string | { readonly text: string; readonly colour: Colour };
export type Field = readonly [name: string, value: Cell];

export type Page = {
  printTable(columns: readonly Column[], rows: readonly (readonly Cell[])[]): void;
  printFields(fields: readonly Field[]): void;
  printLine(text: string, colour?: Colour): void;
};

export type Paper = {
  readonly write: (text: string) => void;
  /** Undefined where lines have no end: a file or a pipe. Nothing is shortened there. */
  readonly width: number | undefined;
  readonly hasColours: boolean;
};

export function openStandardPage(environment: Environment): Page {
  const { stdout } = process;
  const isPlain = Boolean(environment.NO_COLOR) || environment.TERM === "dumb";
  return createPage({
    write: (text) => void stdout.write(text),
    width: stdout.isTTY ? stdout.columns || 80 : undefined,
    hasColours: stdout.isTTY && !isPlain,
  });
}

export function createPage({ write, width, hasColours }: Paper): Page {
  function paint(text: string, colour: Colour | undefined): string {
    return hasColours && colour !== undefined ? styleText(colour, text, { validateStream: false }) : text;
  }

  function printFields(fields: readonly Field[]): void {
    const nameWidth = Math.max(0, ...fields.map(([name]) => name.length)) + COLUMN_GAP;
    for (const [name, cell] of fields) {
      const text = textOf(cell);
      const lines = width === undefined ? [text] : wrap(text, Math.max(1, width - nameWidth));
      const [first = "", ...rest] = lines.map((line) => paint(line, colourOf(cell)));
      write(`${paint(name.padEnd(nameWidth), "dim")}${first}\n`);
      for (const line of rest) write(`${" ".repeat(nameWidth)}${line}\n`);
    }
  }

  function printRow(row: readonly Cell[], widths: readonly number[]): void {
    const cells = widths.map((cellWidth, column) => {
      const cell = row[column] ?? "";
      const text = shorten(textOf(cell), cellWidth);
      // Colours take no room on the screen, so the padding is measured without them.
      return paint(text, colourOf(cell)) + " ".repeat(cellWidth - Bun.stringWidth(text) + COLUMN_GAP);
    });
    write(`${cells.join("").replace(/ +$/, "")}\n`);
  }

  return {
    printFields,
    printLine: (text, colour) => write(`${paint(escapeUnsafe(text), colour)}\n`),
    printTable(columns, rows) {
      const texts = rows.map((row) => row.map(textOf));
      const widths = fitColumns(columns, texts, width ?? Number.POSITIVE_INFINITY);
      if (widths === undefined) {
        // Too narrow for columns: one row after the other, field by field.
        for (const [index, row] of rows.entries()) {
          if (index > 0) write("\n");
          printFields(columns.map(({ title }, column) => [title.toLowerCase(), row[column] ?? ""]));
        }
        return;
      }
      const head = columns.map(({ title }): Cell => ({ text: title, colour: "bold" }));
      for (const row of [head, ...rows]) printRow(row, widths);
    },
  };
}

function textOf(cell: Cell): string {
  return escapeUnsafe(typeof cell === "string" ? cell : cell.text);
}

function colourOf(cell: Cell): Colour | undefined {
  return typeof cell === "string" ? undefined : cell.colour;
}
