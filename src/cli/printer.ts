// Prints on standard output: tables that fit the terminal, and resources field by field. Text from elsewhere is escaped,
// and colours are used only on a terminal.
import { styleText } from "node:util";
import type { Environment } from "./admin-address.ts";
import { escapeUnsafe } from "./safe-text.ts";
import { COLUMN_GAP, type Column, fitColumns, shorten, wrap } from "./table-layout.ts";

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

  /** On a terminal that is too narrow for columns, each row is printed field by field. */
  async printTable(columns: readonly Column[], rows: readonly (readonly Cell[])[]): Promise<void> {
    const texts = rows.map((row) => row.map(textOf));
    const widths = fitColumns(columns, texts, this.#width ?? Number.POSITIVE_INFINITY);
    if (widths === undefined) return this.#printRowsAsFields(columns, rows);
    const body = rows.map((row) =>
      row.map((cell, column) => this.#paint(shorten(textOf(cell), widths[column] ?? 0), colourOf(cell))),
    );
    const head = columns.map(({ title }) => this.#paint(title, "bold"));
    this.#write(await drawTable([head, ...body]));
  }

  #printRowsAsFields(columns: readonly Column[], rows: readonly (readonly Cell[])[]): void {
    for (const [index, row] of rows.entries()) {
      if (index > 0) this.#write("\n");
      this.printFields(columns.map(({ title }, column) => [title.toLowerCase(), row[column] ?? ""]));
    }
  }

  #paint(text: string, colour: Colour | undefined): string {
    return this.#hasColours && colour !== undefined
      ? styleText(colour, text, { validateStream: false })
      : text;
  }
}

export function openStandardPrinter(environment: Environment): Printer {
  const { stdout } = process;
  const isPlain = Boolean(environment.NO_COLOR) || environment.TERM === "dumb";
  return new Printer({
    write: (text) => void stdout.write(text),
    width: stdout.isTTY ? stdout.columns || 80 : undefined,
    hasColours: stdout.isTTY && !isPlain,
  });
}

/** The library is slow to load, so it is loaded only for a command that prints a table. */
async function drawTable(rows: readonly (readonly string[])[]): Promise<string> {
  const { getBorderCharacters, table } = await import("table");
  const drawn = table(rows, {
    border: getBorderCharacters("void"),
    columnDefault: { paddingLeft: 0, paddingRight: COLUMN_GAP },
    drawHorizontalLine: () => false,
  });
  return drawn.replace(/ +$/gm, "");
}

function textOf(cell: Cell): string {
  return escapeUnsafe(typeof cell === "string" ? cell : cell.text);
}

function colourOf(cell: Cell): Colour | undefined {
  return typeof cell === "string" ? undefined : cell.colour;
}
