// The one table of the page: sorts by column, filters by choice, searches, and shows so many rows at once. On a phone
// every row is a card. It knows nothing of what it shows.
import {
  Box,
  Button,
  Card,
  Group,
  NativeSelect,
  Stack,
  Table,
  Text,
  TextInput,
  UnstyledButton,
  VisuallyHidden,
} from "@mantine/core";
import { useDebouncedValue, useMediaQuery } from "@mantine/hooks";
import { Fragment, type ReactNode, useEffect, useId, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { cutText } from "./game-text.tsx";
import { Icon } from "./icon.tsx";
import { EmptyState } from "./states.tsx";
import { TableFrame } from "./table-frame.tsx";
import {
  type Choice,
  type Column,
  chooseRows,
  listOptions,
  nameRows,
  type Sorting,
  sortRows,
} from "./table-rows.ts";

const ROWS_AT_ONCE = 100;
const SEARCH_DELAY_MS = 200;
const OPTION_MAX = 40;
/** Mantine's `sm`: where the frame puts its navigation behind a burger. */
const PHONE = "(max-width: 47.99em)";

/** A column as people see it: what it is sorted and searched by is in `Column`. */
export type ShownColumn<Row> = Column<Row> & {
  readonly title: string;
  /** Undefined where a row has nothing to show: a dash in a table, left out of a card. */
  readonly cell: (row: Row) => ReactNode;
};

export type ShownChoice<Row> = Choice<Row> & {
  readonly label: string;
  /** How an option is named; itself, when this is left out. */
  readonly nameOf?: (option: string) => string;
};

type DataTableProps<Row> = {
  readonly label: string;
  readonly rows: readonly Row[];
  /** The first names the row. */
  readonly columns: readonly ShownColumn<Row>[];
  readonly choices?: readonly ShownChoice<Row>[];
  readonly sorting: Sorting;
  readonly keyOf: (row: Row) => string;
  readonly emptyTitle: string;
};

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { t, i18n } = useTranslation("table");
  const { rows, columns, choices = [], keyOf } = props;
  const isPhone = usePhone();
  const [sorting, setSorting] = useState(props.sorting);
  const [typed, setTyped] = useState("");
  const [search] = useDebouncedValue(typed, SEARCH_DELAY_MS);
  const [chosen, setChosen] = useState<Readonly<Record<string, string>>>({});
  const [shownMax, setShownMax] = useState(ROWS_AT_ONCE);

  const found = useMemo(
    () => sortRows(chooseRows(rows, columns, choices, chosen, search), columns, sorting, i18n.language),
    [rows, columns, choices, chosen, search, sorting, i18n.language],
  );
  const shown = useMemo(() => nameRows(found.slice(0, shownMax), keyOf), [found, shownMax, keyOf]);
  const isNarrowed = search.trim() !== "" || Object.values(chosen).some((option) => option !== "");
  const count = isNarrowed
    ? t("found", { n: found.length, count: rows.length })
    : t("rows", { count: rows.length });

  if (rows.length === 0) return <EmptyState title={props.emptyTitle} />;
  return (
    <Stack gap="sm">
      <Toolbar>
        <SearchField value={typed} onChange={setTyped} />
        {choices.map((choice) => (
          <ChoiceField
            key={choice.id}
            choice={choice}
            rows={rows}
            value={chosen[choice.id] ?? ""}
            onChange={(option) => setChosen({ ...chosen, [choice.id]: option })}
          />
        ))}
        {isPhone && <SortField columns={columns} sorting={sorting} onChange={setSorting} />}
      </Toolbar>
      <CountLine text={count} saidAfter={`${search}\n${JSON.stringify(chosen)}`} />
      {found.length === 0 ? (
        <EmptyState title={t("noMatch")}>{t("noMatchHint")}</EmptyState>
      ) : isPhone ? (
        <Cards label={props.label} rows={shown} columns={columns} />
      ) : (
        <Rows label={props.label} rows={shown} columns={columns} sorting={sorting} onSort={setSorting} />
      )}
      <MoreButton left={found.length - shown.length} onClick={() => setShownMax(shownMax + ROWS_AT_ONCE)} />
    </Stack>
  );
}

export function usePhone(): boolean {
  return useMediaQuery(PHONE, false, { getInitialValueInEffect: false });
}

/** What narrows a list down; others than tables have one too. */
export function Toolbar({ children }: { readonly children: ReactNode }) {
  return (
    <Group gap="sm" align="flex-end" role="search">
      {children}
    </Group>
  );
}

export function SearchField(props: { readonly value: string; readonly onChange: (text: string) => void }) {
  const { t } = useTranslation("shell");
  return (
    <TextInput
      type="search"
      label={t("search")}
      value={props.value}
      onChange={(event) => props.onChange(event.currentTarget.value)}
      leftSection={<Icon name="search" size={16} />}
      autoComplete="off"
      spellCheck={false}
      maxLength={200}
      className="toolbar-search"
    />
  );
}

/** How many there are, for the eye at any time; for the ear only when the reader has asked for something else. */
export function CountLine({ text, saidAfter }: { readonly text: string; readonly saidAfter: string }) {
  const [said, setSaid] = useState("");
  const [asked, setAsked] = useState(saidAfter);
  useEffect(() => {
    if (asked === saidAfter) return;
    setAsked(saidAfter);
    setSaid(text);
  }, [asked, saidAfter, text]);
  return (
    <>
      <Text size="sm" c="dimmed" className="numbers" data-testid="count">
        {text}
      </Text>
      <VisuallyHidden role="status">{said}</VisuallyHidden>
    </>
  );
}

export function MoreButton({ left, onClick }: { readonly left: number; readonly onClick: () => void }) {
  const { t } = useTranslation("table");
  if (left <= 0) return null;
  return (
    <Group justify="center">
      <Button variant="default" onClick={onClick}>
        {t("more", { n: Math.min(left, ROWS_AT_ONCE), count: left })}
      </Button>
    </Group>
  );
}

function ChoiceField<Row>(props: {
  readonly choice: ShownChoice<Row>;
  readonly rows: readonly Row[];
  readonly value: string;
  readonly onChange: (option: string) => void;
}) {
  const { t, i18n } = useTranslation("table");
  const { choice, rows, value } = props;
  const options = useMemo(() => {
    const named = listOptions(rows, choice, value).map((option) => {
      return { option, name: choice.nameOf?.(option) ?? option };
    });
    // The reader looks for the name, whatever the game calls it.
    const { compare } = new Intl.Collator(i18n.language, { numeric: true });
    return named.sort((a, b) => compare(a.name, b.name));
  }, [rows, choice, value, i18n.language]);
  return (
    <NativeSelect
      label={choice.label}
      value={value}
      onChange={(event) => props.onChange(event.currentTarget.value)}
      className="toolbar-choice"
    >
      <option value="">{t("all")}</option>
      {options.map(({ option, name }) => (
        <option key={option} value={option}>
          {cutText(name, OPTION_MAX).text}
        </option>
      ))}
    </NativeSelect>
  );
}

function SortField<Row>(props: {
  readonly columns: readonly ShownColumn<Row>[];
  readonly sorting: Sorting;
  readonly onChange: (sorting: Sorting) => void;
}) {
  const { t } = useTranslation("table");
  const { columns, sorting, onChange } = props;
  return (
    <NativeSelect
      label={t("sortBy")}
      value={`${sorting.column} ${sorting.isDescending ? "down" : "up"}`}
      onChange={(event) => {
        const [column = "", direction] = event.currentTarget.value.split(" ");
        onChange({ column, isDescending: direction === "down" });
      }}
      className="toolbar-choice"
    >
      {columns.map(({ id, title }) => (
        <Fragment key={id}>
          <option value={`${id} up`}>{t("ascending", { column: title })}</option>
          <option value={`${id} down`}>{t("descending", { column: title })}</option>
        </Fragment>
      ))}
    </NativeSelect>
  );
}

type NamedRow<Row> = { readonly key: string; readonly row: Row };

function Rows<Row>(props: {
  readonly label: string;
  readonly rows: readonly NamedRow<Row>[];
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
  readonly rows: readonly NamedRow<Row>[];
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
