// The menu in which the user chooses the columns of a table.
import { Button, Checkbox, Popover, Stack } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { changeHiddenColumns } from "./hidden-columns.ts";
import { Icon } from "./icon.tsx";
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
