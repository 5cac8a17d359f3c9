// Columns and filters of a table as the user sees them. What they sort, search and filter by is in table-rows.ts.
import type { ReactNode } from "react";
import type { Column, Filter } from "./table-rows.ts";

/** Where the row of a phone shows a column: its first line, its second line, its right side, or only after a tap. */
export type PhonePlace = "main" | "line" | "side" | "tap";

export type ShownColumn<Row> = Column<Row> & {
  readonly title: string;
  /** Undefined when a row has no value: a table shows a dash, a phone leaves it out. */
  readonly cell: (row: Row, isGrouped: boolean) => ReactNode;
  /** The width on a laptop, as CSS; a share of what is left by default. */
  readonly width?: string;
  /** By default the first column is the first line, the last one the right side, and the others are the second line. */
  readonly phone?: PhonePlace;
  /** Whether the column is hidden until the user wants it. */
  readonly isHiddenAtFirst?: boolean;
  /** Whether it holds the buttons of the row; such a column is neither sorted nor hidden. */
  readonly isButtons?: boolean;
};

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

export function placeOnPhone<Row>(
  columns: readonly ShownColumn<Row>[],
  column: ShownColumn<Row>,
): PhonePlace {
  if (column.phone) return column.phone;
  if (column.isButtons) return "tap";
  if (column === columns[0]) return "main";
  return column === columns.at(-1) ? "side" : "line";
}
