// The menu in which the user chooses the columns of a table, and which of them each table hides.
import { Button, Checkbox, Popover, Stack } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { StoredSetting, useStoredSetting } from "../../state/stored-setting.ts";
import { Icon } from "../icon.tsx";
import type { ShownColumn } from "./table-columns.ts";

export function ColumnMenu<Row>(props: {
  /** The name of the table. */
  readonly name: string;
  readonly columns: readonly ShownColumn<Row>[];
  readonly shown: readonly ShownColumn<Row>[];
}) {
  const { t } = useTranslation("table");
  const { name, columns, shown } = props;
  // The first column names the row.
  const hideable = columns.slice(1).filter(({ isButtons }) => !isButtons);
  if (hideable.length === 0) return null;

  function toggle(column: ShownColumn<Row>): void {
    const hidden = hideable.filter((other) => shown.includes(other) === (other === column));
    changeHiddenColumns(
      name,
      hidden.map(({ id }) => id),
    );
  }

  return (
    <Popover position="bottom-end" shadow="md" trapFocus withinPortal>
      <Popover.Target>
        <Button variant="default" size="xs" leftSection={<Icon name="columns" size={16} />}>
          {t("columns")}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t("columns")}>
        <Stack gap="xs">
          {hideable.map((column) => (
            <Checkbox
              key={column.id}
              label={column.title}
              checked={shown.includes(column)}
              onChange={() => toggle(column)}
            />
          ))}
          <Button variant="subtle" size="xs" onClick={() => changeHiddenColumns(name, undefined)}>
            {t("columnsReset")}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

/** The ids of the hidden columns by the name of the table; a table that is not in it was never changed. */
export type HiddenColumns = Readonly<Record<string, readonly string[]>>;

const NONE: HiddenColumns = {};
/** More is not what this page has written. */
const TABLES_MAX = 50;
const COLUMNS_MAX = 50;
const NAME_SHAPE = /^[a-zA-Z-]{1,40}$/;

const setting = new StoredSetting<HiddenColumns>({
  name: "gatehouse.columns",
  parse: parseHiddenColumns,
  write: (hidden) => JSON.stringify(hidden),
});

export function useHiddenColumns(): HiddenColumns {
  return useStoredSetting(setting);
}

/** `undefined` restores what the table shows at first. */
export function changeHiddenColumns(table: string, columns: readonly string[] | undefined): void {
  setting.change(({ [table]: _, ...others }) => (columns ? { ...others, [table]: columns } : others));
}

type HideableColumn = { readonly id: string; readonly isHiddenAtFirst?: boolean; readonly isButtons?: boolean };

/** The columns to show. The first one and the buttons of a row cannot be hidden. */
export function listShownColumns<Column extends HideableColumn>(
  columns: readonly Column[],
  chosen: readonly string[] | undefined,
): readonly Column[] {
  return columns.filter((column, index) => {
    if (index === 0 || column.isButtons) return true;
    return chosen ? !chosen.includes(column.id) : !column.isHiddenAtFirst;
  });
}

/** `text` may be anything: another page of this host, or the user, may have written it. */
export function parseHiddenColumns(text: string | null): HiddenColumns {
  try {
    const stored: unknown = JSON.parse(text ?? "null");
    if (typeof stored !== "object" || stored === null || Array.isArray(stored)) return NONE;
    const tables = Object.entries(stored).slice(0, TABLES_MAX);
    return Object.fromEntries(
      tables.flatMap(([table, columns]) =>
        NAME_SHAPE.test(table) && Array.isArray(columns) ? [[table, columns.slice(0, COLUMNS_MAX).filter(isName)]] : [],
      ),
    );
  } catch {
    return NONE;
  }
}

function isName(value: unknown): value is string {
  return typeof value === "string" && NAME_SHAPE.test(value);
}
