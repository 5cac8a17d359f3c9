// The one table component of the page: sorts, filters, searches, and shows a limited number of rows. On a phone every row
// is a card. It knows nothing about the data.
import { Box, Card, Stack, Table, Text, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { useDebouncedValue, useMediaQuery } from "@mantine/hooks";
import { Fragment, type ReactNode, useId, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { EmptyState } from "./states.tsx";
import type { ShownColumn, ShownFilter } from "./table-columns.ts";
import { TableFrame } from "./table-frame.tsx";
import { filterRows, keyRows, type Sorting, sortRows } from "./table-rows.ts";
import {
  CountLine,
  FilterField,
  MoreButton,
  ROWS_AT_ONCE,
  SearchField,
  SortField,
  Toolbar,
} from "./table-toolbar.tsx";

const SEARCH_DELAY_MS = 200;
/** Mantine's breakpoint `sm`: below it the frame hides its navigation behind a burger button. */
const PHONE = "(max-width: 47.99em)";

type DataTableProps<Row> = {
  readonly label: string;
  readonly rows: readonly Row[];
  /** The first column is the header of the row. */
  readonly columns: readonly ShownColumn<Row>[];
  readonly filters?: readonly ShownFilter<Row>[];
  readonly sorting: Sorting;
  readonly keyOf: (row: Row) => string;
  readonly emptyTitle: string;
};

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { t, i18n } = useTranslation("table");
  const { rows, columns, filters = [], keyOf } = props;
  const isPhone = usePhone();
  const [sorting, setSorting] = useState(props.sorting);
  const [typed, setTyped] = useState("");
  const [search] = useDebouncedValue(typed, SEARCH_DELAY_MS);
  const [selected, setSelected] = useState<Readonly<Record<string, string>>>({});
  const [shownMax, setShownMax] = useState(ROWS_AT_ONCE);

  const found = useMemo(
    () => sortRows(filterRows(rows, columns, filters, selected, search), columns, sorting, i18n.language),
    [rows, columns, filters, selected, search, sorting, i18n.language],
  );
  const shown = useMemo(() => keyRows(found.slice(0, shownMax), keyOf), [found, shownMax, keyOf]);
  const isFiltered = search.trim() !== "" || Object.values(selected).some((option) => option !== "");
  const count = isFiltered
    ? t("found", { n: found.length, count: rows.length })
    : t("rows", { count: rows.length });

  if (rows.length === 0) return <EmptyState title={props.emptyTitle} />;
  return (
    <Stack gap="sm">
      <Toolbar>
        <SearchField value={typed} onChange={setTyped} />
        {filters.map((filter) => (
          <FilterField
            key={filter.id}
            filter={filter}
            rows={rows}
            value={selected[filter.id] ?? ""}
            onChange={(option) => setSelected({ ...selected, [filter.id]: option })}
          />
        ))}
        {isPhone && <SortField columns={columns} sorting={sorting} onChange={setSorting} />}
      </Toolbar>
      <CountLine text={count} announceOn={`${search}\n${JSON.stringify(selected)}`} />
      {found.length === 0 ? (
        <EmptyState title={t("noMatch")}>{t("noMatchHint")}</EmptyState>
      ) : isPhone ? (
        <Cards label={props.label} rows={shown} columns={columns} />
      ) : (
        <TableRows label={props.label} rows={shown} columns={columns} sorting={sorting} onSort={setSorting} />
      )}
      <MoreButton left={found.length - shown.length} onClick={() => setShownMax(shownMax + ROWS_AT_ONCE)} />
    </Stack>
  );
}

export function usePhone(): boolean {
  return useMediaQuery(PHONE, false, { getInitialValueInEffect: false });
}

type KeyedRow<Row> = { readonly key: string; readonly row: Row };

function TableRows<Row>(props: {
  readonly label: string;
  readonly rows: readonly KeyedRow<Row>[];
  readonly columns: readonly ShownColumn<Row>[];
  readonly sorting: Sorting;
  readonly onSort: (sorting: Sorting) => void;
}) {
  const { label, rows, columns, sorting, onSort } = props;
  const [first, ...others] = columns;
  return (
    <TableFrame label={label}>
      <Table verticalSpacing={6} horizontalSpacing="sm" highlightOnHover aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <SortableHeader key={column.id} column={column} sorting={sorting} onSort={onSort} />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ key, row }) => (
            <Table.Tr key={key}>
              <Table.Th scope="row" fw={400}>
                <Cell>{first?.cell(row)}</Cell>
              </Table.Th>
              {others.map((column) => (
                <Table.Td key={column.id}>
                  <Cell>{column.cell(row)}</Cell>
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </TableFrame>
  );
}

function SortableHeader<Row>(props: {
  readonly column: ShownColumn<Row>;
  readonly sorting: Sorting;
  readonly onSort: (sorting: Sorting) => void;
}) {
  const { column, sorting, onSort } = props;
  const isSorted = sorting.column === column.id;
  const order = isSorted ? (sorting.isDescending ? "descending" : "ascending") : "none";
  return (
    <Table.Th scope="col" aria-sort={order}>
      <UnstyledButton
        className="sort-button"
        data-order={order}
        onClick={() => onSort({ column: column.id, isDescending: isSorted && !sorting.isDescending })}
      >
        {column.title}
        <span className="sort-mark" aria-hidden>
          {order === "descending" ? "▼" : "▲"}
        </span>
      </UnstyledButton>
    </Table.Th>
  );
}

function Cell({ children }: { readonly children: ReactNode }) {
  const { t } = useTranslation("table");
  if (children !== undefined && children !== null) return children;
  return (
    <Text component="span" size="sm" c="dimmed">
      <span aria-hidden>—</span>
      <VisuallyHidden>{t("nothing")}</VisuallyHidden>
    </Text>
  );
}

function Cards<Row>(props: {
  readonly label: string;
  readonly rows: readonly KeyedRow<Row>[];
  readonly columns: readonly ShownColumn<Row>[];
}) {
  const [first, ...others] = props.columns;
  const id = useId();
  return (
    <ul className="cards" aria-label={props.label}>
      {props.rows.map(({ key, row }, index) => (
        <Card key={key} component="li" withBorder padding="sm" aria-labelledby={`${id}-${index}`}>
          <Box id={`${id}-${index}`} mb={6}>
            <Cell>{first?.cell(row)}</Cell>
          </Box>
          <dl className="card-fields">
            {others.map((column) => {
              const cell = column.cell(row);
              if (cell === undefined || cell === null) return null;
              return (
                <Fragment key={column.id}>
                  <dt>{column.title}</dt>
                  <dd>{cell}</dd>
                </Fragment>
              );
            })}
          </dl>
        </Card>
      ))}
    </ul>
  );
}
