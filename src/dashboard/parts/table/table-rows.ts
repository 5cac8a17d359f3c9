// Filters, searches and sorts the rows of a table. Pure.

export type Column<Row> = {
  readonly id: string;
  /** The value to sort and search by; undefined and "" come last in both orders. */
  readonly readValue: (row: Row) => string | number | undefined;
};

export type Filter<Row> = { readonly id: string; readonly readValue: (row: Row) => string | undefined };

export type Sorting = { readonly column: string; readonly isDescending: boolean };

const OPTIONS_MAX = 50;
/** Only the beginning of a longer text is searched. */
const SEARCHED_MAX = 1_000;

/** The rows that have every selected option and, in any column, every word of the search. */
export function filterRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  filters: readonly Filter<Row>[],
  selected: Readonly<Record<string, string>>,
  search: string,
): readonly Row[] {
  const active = filters.filter(({ id }) => (selected[id] ?? "") !== "");
  const matches = createSearch(search);
  return rows.filter(
    (row) =>
      active.every(({ id, readValue }) => readValue(row) === selected[id]) &&
      matches(() => columns.map(({ readValue }) => readValue(row))),
  );
}

/** Ignores the case, width and accents of letters. */
export function createSearch(search: string): (listTexts: () => readonly (string | number | undefined)[]) => boolean {
  const words = simplify(search).split(/\s+/).filter(Boolean);
  if (words.length === 0) return () => true;
  return (listTexts) => {
    const text = simplify(
      listTexts()
        .map((value) => String(value ?? "").slice(0, SEARCHED_MAX))
        .join("\n"),
    );
    return words.every((word) => text.includes(word));
  };
}

function simplify(text: string): string {
  return text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
}

export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sorting: Sorting,
  language: string,
): readonly Row[] {
  const column = columns.find(({ id }) => id === sorting.column);
  if (!column) return rows;
  const collator = new Intl.Collator(language, { numeric: true, sensitivity: "base" });
  const sign = sorting.isDescending ? -1 : 1;
  const valued = rows.map((row) => ({ row, value: blankToUndefined(column.readValue(row)) }));
  valued.sort(({ value: a }, { value: b }) => {
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * collator.compare(String(a), String(b));
  });
  return valued.map(({ row }) => row);
}

function blankToUndefined(value: string | number | undefined): string | number | undefined {
  return value === "" || Number.isNaN(value) ? undefined : value;
}

/** The options of a filter. `current` stays an option even when no row has it any more. */
export function listOptions<Row>(rows: readonly Row[], { readValue }: Filter<Row>, current: string): readonly string[] {
  const options = new Set<string>();
  for (const row of rows) {
    const option = readValue(row);
    if (option !== undefined && option !== "") options.add(option);
  }
  const listed = Array.from(options).sort().slice(0, OPTIONS_MAX);
  return current === "" || listed.includes(current) ? listed : [...listed, current];
}

export type KeyedRow<Row> = { readonly key: string; readonly row: Row };

/** Gives each row a unique React key, also when `keyOf` returns the same text for two rows. */
export function keyRows<Row>(rows: readonly Row[], keyOf: (row: Row) => string): readonly KeyedRow<Row>[] {
  const counts = new Map<string, number>();
  return rows.map((row) => {
    const name = keyOf(row);
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return { key: `${name} ${count}`, row };
  });
}

export type RowGroup<Row> = { readonly key: string; readonly rows: readonly KeyedRow<Row>[] };

/** Rows that follow each other and are in the same group. Without `readGroup` all rows are one group. */
export function groupRows<Row>(
  rows: readonly KeyedRow<Row>[],
  readGroup?: (row: Row) => string,
): readonly RowGroup<Row>[] {
  if (!readGroup) return [{ key: "", rows }];
  const groups: { key: string; rows: KeyedRow<Row>[] }[] = [];
  for (const keyed of rows) {
    const key = readGroup(keyed.row);
    const last = groups.at(-1);
    if (last && last.key === key) last.rows.push(keyed);
    else groups.push({ key, rows: [keyed] });
  }
  return groups;
}
