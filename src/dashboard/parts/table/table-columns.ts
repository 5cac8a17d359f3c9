// Columns and filters of a table as the user sees them. What they sort, search and filter by is in table-rows.ts.
import type { ReactNode } from "react";
import type { Column, Filter } from "./table-rows.ts";

/** Where the row of a phone shows a column: its first line, its second line, its right side, or only after a tap. */
export type PhonePosition = "main" | "line" | "side" | "tap";

export type ShownColumn<Row> = Column<Row> & {
  readonly title: string;
  /** Undefined when a row has no value: a table shows a dash, a phone leaves it out. */
  readonly cell: (row: Row, isGrouped: boolean) => ReactNode;
  /** The width on a laptop, as CSS; a share of what is left by default. */
  readonly width?: string;
  /** By default the first column is the first line, the last one the right side, and the others are the second line. */
  readonly phone?: PhonePosition;
  /** Whether the column is hidden until the user wants it. */
  readonly isHiddenAtFirst?: boolean;
  /** Whether its values are numbers or durations, which are compared more easily at the right side. */
  readonly isNumber?: boolean;
  /** Whether it holds the buttons of the row; such a column is neither sorted nor hidden. */
  readonly isButtons?: boolean;
};

type ValueCell<Row, V> = Omit<ShownColumn<Row>, "id" | "title" | "readValue" | "cell"> & {
  readonly value: (row: Row) => V | null | undefined;
  readonly show: (value: V, row: Row) => ReactNode;
};

/** A column whose cell shows what the table is sorted and searched by. A row without the value has no cell. */
export function valueColumn<Row, V extends string | number>(
  id: string,
  title: string,
  { value: read, show, ...layout }: ValueCell<Row, V>,
): ShownColumn<Row> {
  const readValue = (row: Row) => read(row) ?? undefined;
  const cell = (row: Row) => {
    const value = readValue(row);
    return value === undefined || value === "" ? undefined : show(value, row);
  };
  return { id, title, readValue, cell, ...layout };
}

export type ShownFilter<Row> = Filter<Row> & {
  readonly label: string;
  /** The label of an option; the option itself when this is missing. */
  readonly nameOf?: (option: string) => string;
};

/** Puts rows under headings while they are sorted by one column: log entries under their day. */
export type Grouping<Row> = {
  readonly column: string;
  readonly readGroup: (row: Row) => string;
  /** The heading of a group, from its first row. */
  readonly heading: (row: Row) => ReactNode;
};

export function positionOnPhone<Row>(columns: readonly ShownColumn<Row>[], column: ShownColumn<Row>): PhonePosition {
  if (column.phone) return column.phone;
  if (column.isButtons) return "tap";
  if (column === columns[0]) return "main";
  return column === columns.at(-1) ? "side" : "line";
}
