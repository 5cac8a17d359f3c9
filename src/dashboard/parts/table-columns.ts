// Columns and filters of a table as the user sees them. What they sort, search and filter by is in table-rows.ts.
import type { ReactNode } from "react";
import type { Column, Filter } from "./table-rows.ts";

export type ShownColumn<Row> = Column<Row> & {
  readonly title: string;
  /** Undefined when a row has no value: a table shows a dash, a card leaves the field out. */
  readonly cell: (row: Row) => ReactNode;
};

export type ShownFilter<Row> = Filter<Row> & {
  readonly label: string;
  /** The label of an option; the option itself when this is missing. */
  readonly nameOf?: (option: string) => string;
};
