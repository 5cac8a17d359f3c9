// A table with a search field and filters above it. The rows themselves are in sorted-table.tsx.
import { Stack } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { EmptyState } from "../states.tsx";
import { SortedTable, type SortedTableProps } from "./sorted-table.tsx";
import type { ShownFilter } from "./table-columns.ts";
import { filterRows } from "./table-rows.ts";
import { CountLine, FilterField, SearchField, Toolbar } from "./table-toolbar.tsx";

const SEARCH_DELAY_MS = 200;

type DataTableProps<Row> = Omit<SortedTableProps<Row>, "children" | "empty"> & {
  readonly filters?: readonly ShownFilter<Row>[];
  readonly emptyTitle: string;
  /** What follows the table, by what the user searches for. */
  readonly below?: (search: string) => ReactNode;
};

export function DataTable<Row>({ filters = [], emptyTitle, below, ...table }: DataTableProps<Row>) {
  const { t } = useTranslation("table");
  const { rows, columns } = table;
  const [typed, setTyped] = useState("");
  const [search] = useDebouncedValue(typed, SEARCH_DELAY_MS);
  const [selected, setSelected] = useState<Readonly<Record<string, string>>>({});

  const found = useMemo(
    () => filterRows(rows, columns, filters, selected, search),
    [rows, columns, filters, selected, search],
  );
  const isFiltered = search.trim() !== "" || Object.values(selected).some((option) => option !== "");
  const count = isFiltered ? t("found", { n: found.length, count: rows.length }) : t("rows", { count: rows.length });

  const toolbar = (
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
    </Toolbar>
  );
  if (rows.length === 0 && !below) return <EmptyState title={emptyTitle} />;
  return (
    <Stack gap="sm">
      {rows.length === 0 ? (
        <>
          {toolbar}
          <EmptyState title={emptyTitle} />
        </>
      ) : (
        <SortedTable
          {...table}
          rows={found}
          empty={<EmptyState title={t("noMatch")}>{t("noMatchHint")}</EmptyState>}
          toolbar={toolbar}
        >
          <CountLine text={count} announceOn={`${search}\n${JSON.stringify(selected)}`} />
        </SortedTable>
      )}
      {below?.(search.trim())}
    </Stack>
  );
}
