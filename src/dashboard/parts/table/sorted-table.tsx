// The rows of every table of the page: sorted by a header, one line each, with columns that can be hidden. Of a long table only
// the rows in view are in the page. On a phone each row has two lines. It knows nothing about the data.

import { Group, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { memo, type ReactNode, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Note } from "../text/plain-text.tsx";
import { CellTipBox, useCellTip } from "./cell-tip.tsx";
import { ColumnMenu, listShownColumns, useHiddenColumns } from "./column-menu.tsx";
import { isSameRow, RowList } from "./row-list.tsx";
import { useRowSpans } from "./row-spans.ts";
import type { Grouping, ShownColumn } from "./table-columns.ts";
import { groupRows, type KeyedRow, keyRows, type RowGroup, type Sorting, sortRows } from "./table-rows.ts";
import { SortField, usePhone } from "./table-toolbar.tsx";

type Attributes = Readonly<Record<`data-${string}`, string | undefined>>;

export type SortedTableProps<Row> = {
  readonly label: string;
  /** The browser keeps the hidden columns under this name; without it columns cannot be hidden. */
  readonly name?: string;
  readonly rows: readonly Row[];
  /** The first column is the header of the row. */
  readonly columns: readonly ShownColumn<Row>[];
  /** Without it the rows keep their order until a header is used. */
  readonly sorting?: Sorting;
  readonly grouping?: Grouping<Row>;
  readonly keyOf: (row: Row) => string;
  /** Attributes of a row, for its look and for tests. They must follow from the row alone. */
  readonly attributesOf?: (row: Row) => Attributes;
  /** Whether there are more rows that are not loaded, so that only some of them are sorted. */
  readonly isPart?: boolean;
  /** Search and filters, in one row with what follows. */
  readonly toolbar?: ReactNode;
  /** Beside the button for the columns: how many rows there are. */
  readonly children?: ReactNode;
  /** Instead of the rows when there are none. */
  readonly empty?: ReactNode;
};

export function SortedTable<Row>(props: SortedTableProps<Row>) {
  const { t, i18n } = useTranslation("table");
  const { label, name, rows, columns, grouping, keyOf, attributesOf } = props;
  const isPhone = usePhone();
  const hidden = useHiddenColumns();
  const [sorting, setSorting] = useState(props.sorting);
  const isGrouped = grouping !== undefined && grouping.column === sorting?.column;
  const shownColumns = useMemo(
    () => listShownColumns(columns, name === undefined ? undefined : hidden[name]),
    [columns, hidden, name],
  );
  const groups = useMemo(() => {
    const sorted = sorting ? sortRows(rows, columns, sorting, i18n.language) : rows;
    return groupRows(keyRows(sorted, keyOf), isGrouped ? grouping.readGroup : undefined);
  }, [rows, columns, sorting, i18n.language, keyOf, isGrouped, grouping]);
  const isPartlySorted = props.isPart && sorting !== props.sorting;

  return (
    <>
      <Group justify="space-between" gap="xs" mih="1.875rem" className="table-controls">
        {props.toolbar}
        <div className="table-count">
          {props.children}
          {isPartlySorted && <Note>{t("sortsLoaded")}</Note>}
        </div>
        {isPhone ? (
          <SortField columns={columns} sorting={sorting} onChange={setSorting} />
        ) : (
          name !== undefined && <ColumnMenu name={name} columns={columns} shown={shownColumns} />
        )}
      </Group>
      {rows.length === 0 ? (
        props.empty
      ) : isPhone ? (
        <RowList
          label={label}
          columns={columns}
          isGrouped={isGrouped}
          attributesOf={attributesOf}
          parts={groups.map(({ key, rows: ofGroup }) => ({
            key,
            rows: ofGroup,
            heading: isGrouped && ofGroup[0] && grouping.heading(ofGroup[0].row),
          }))}
        />
      ) : (
        <WideTable
          label={label}
          columns={shownColumns}
          groups={groups}
          heading={isGrouped ? grouping.heading : undefined}
          sorting={sorting}
          onSort={setSorting}
          attributesOf={attributesOf}
        />
      )}
    </>
  );
}

/** One line of the table: a row, or the heading of a group. */
type Line<Row> =
  | { readonly kind: "row"; readonly key: string; readonly row: Row }
  | { readonly kind: "heading"; readonly key: string; readonly heading: ReactNode };

function listLines<Row>(
  groups: readonly RowGroup<Row>[],
  heading: ((row: Row) => ReactNode) | undefined,
): readonly Line<Row>[] {
  const toLine = ({ key, row }: KeyedRow<Row>): Line<Row> => ({ kind: "row", key, row });
  if (!heading) return groups.flatMap(({ rows }) => rows.map(toLine));
  return groups.flatMap(({ key, rows }): readonly Line<Row>[] => {
    const first = rows[0];
    if (!first) return [];
    return [{ kind: "heading", key: `group ${key}`, heading: heading(first.row) }, ...rows.map(toLine)];
  });
}

function WideTable<Row>(props: {
  readonly label: string;
  readonly columns: readonly ShownColumn<Row>[];
  readonly groups: readonly RowGroup<Row>[];
  readonly heading: ((row: Row) => ReactNode) | undefined;
  readonly sorting: Sorting | undefined;
  readonly onSort: (sorting: Sorting) => void;
  readonly attributesOf: ((row: Row) => Attributes) | undefined;
}) {
  const { t } = useTranslation("table");
  const { label, columns, groups, heading, sorting, attributesOf } = props;
  const frame = useRef<HTMLElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const { tip, ...tipHandlers } = useCellTip(frame);
  const lines = useMemo(() => listLines(groups, heading), [groups, heading]);
  const [focusedKey, setFocusedKey] = useState<string>();
  // The row with the focus stays in the page, so that scrolling does not take the focus away.
  const kept = useMemo(
    () => (focusedKey === undefined ? undefined : lines.findIndex(({ key }) => key === focusedKey)),
    [lines, focusedKey],
  );
  const { spans, rowHeight } = useRowSpans(body, lines.length, kept);
  const isGrouped = heading !== undefined;
  // Plain elements: most rows have such a cell, and components take longer to render.
  const noValue = useMemo(
    () => (
      <span className="no-value">
        <span aria-hidden>—</span>
        <span className="visually-hidden">{t("nothing")}</span>
      </span>
    ),
    [t],
  );

  const renderLine = (line: Line<Row>, rowIndex: number) =>
    line.kind === "row" ? (
      <TableRow
        key={line.key}
        row={line.row}
        columns={columns}
        isGrouped={isGrouped}
        rowIndex={rowIndex}
        attributes={attributesOf?.(line.row)}
        noValue={noValue}
      />
    ) : (
      <tr key={line.key} aria-rowindex={rowIndex} className="group-row">
        <td colSpan={columns.length}>{line.heading}</td>
      </tr>
    );

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it
    <section className="table-frame framed" ref={frame} aria-label={label} tabIndex={0}>
      <table
        className="data-table"
        aria-label={label}
        aria-rowcount={lines.length + 1}
        style={{ minWidth: `${columns.length * 6.5}rem` }}
        {...tipHandlers}
        onFocus={(event) => {
          tipHandlers.onFocus(event);
          const index = event.target.closest<HTMLElement>("tbody tr")?.ariaRowIndex;
          setFocusedKey(index ? lines[Number(index) - 2]?.key : undefined);
        }}
      >
        <colgroup>
          {columns.map(({ id, width }) => (
            <col key={id} {...(width !== undefined && { style: { width } })} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <ColumnHeader key={column.id} column={column} sorting={sorting} onSort={props.onSort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {/* One flat list: a row keeps its elements, and so the focus, when it leaves the view. */}
          {spans.flatMap(({ from, to }, index) => [
            // biome-ignore lint/suspicious/noArrayIndexKey: gaps are identified by their position
            <Gap key={`\n${index}`} rows={from - (spans[index - 1]?.to ?? 0)} rowHeight={rowHeight} />,
            ...lines.slice(from, to).map((line, offset) => renderLine(line, from + offset + 2)),
          ])}
          <Gap rows={lines.length - (spans.at(-1)?.to ?? 0)} rowHeight={rowHeight} />
        </tbody>
      </table>
      <CellTipBox tip={tip} />
    </section>
  );
}

/** The space of rows that are not in the page. */
function Gap({ rows, rowHeight }: { readonly rows: number; readonly rowHeight: number }) {
  if (rows <= 0) return null;
  return (
    <tr aria-hidden className="gap-row">
      <td style={{ height: rows * rowHeight }} />
    </tr>
  );
}

function ColumnHeader<Row>(props: {
  readonly column: ShownColumn<Row>;
  readonly sorting: Sorting | undefined;
  readonly onSort: (sorting: Sorting) => void;
}) {
  const { column, sorting, onSort } = props;
  const isSorted = sorting?.column === column.id;
  const className = column.isNumber ? "number-cell" : undefined;
  const order = isSorted ? (sorting.isDescending ? "descending" : "ascending") : "none";
  if (column.isButtons) {
    return (
      <th scope="col">
        <VisuallyHidden>{column.title}</VisuallyHidden>
      </th>
    );
  }
  return (
    <th scope="col" aria-sort={order} className={className}>
      <UnstyledButton
        className="sort-button"
        data-order={order}
        title={column.title}
        onClick={() => onSort({ column: column.id, isDescending: isSorted && !sorting.isDescending })}
      >
        <span className="sort-title">{column.title}</span>
        <span className="sort-mark" aria-hidden>
          {order === "descending" ? "▼" : "▲"}
        </span>
      </UnstyledButton>
    </th>
  );
}

type TableRowProps<Row> = {
  readonly row: Row;
  readonly columns: readonly ShownColumn<Row>[];
  readonly isGrouped: boolean;
  readonly rowIndex: number;
  readonly attributes: Attributes | undefined;
  /** What a cell without a value shows. */
  readonly noValue: ReactNode;
};

const TableRow = memo(PlainTableRow, isSameRow) as typeof PlainTableRow;

function PlainTableRow<Row>(props: TableRowProps<Row>) {
  const { row, columns, isGrouped, rowIndex, attributes, noValue } = props;
  return (
    <tr aria-rowindex={rowIndex} {...attributes}>
      {columns.map((column, index) => (
        <Cell key={column.id} isHeader={index === 0} isNumber={column.isNumber}>
          {column.cell(row, isGrouped) ?? (column.isButtons ? null : noValue)}
        </Cell>
      ))}
    </tr>
  );
}

function Cell(props: {
  readonly isHeader: boolean;
  readonly isNumber: boolean | undefined;
  readonly children: ReactNode;
}) {
  const content = <div className="cell one-line">{props.children}</div>;
  if (props.isHeader) return <th scope="row">{content}</th>;
  return <td className={props.isNumber ? "number-cell numbers" : undefined}>{content}</td>;
}
